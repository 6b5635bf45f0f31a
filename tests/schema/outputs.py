#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds what the commands print as JSON against the schemas of docs/schema: over whole corpora, not over samples.

    outputs.py --unhang BINARY [--logs FOLDER]… [--dumps FOLDER]…

Each folder below a --logs folder is a case for `logs init` and `logs warnings`, with and without a zone; each folder of
dumps or stacks below a --dumps folder one for `collectives`, `slow` and `stacks`. Jobs made to order with every kind of fault are added. Verdicts, RAS
states, events, watches and bundles are held against theirs where they are made: tests/corpus, tests/net.
Also: the schemas that `unhang version` names, those that stand in src and the files of docs/schema are the same.
Exit: 0 all valid, 1 something is not, 2 there was nothing to look at.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "schema"))
import validate  # noqa: E402

SECONDS = 120
NO_SUCH_EVIDENCE = 65  # the folder has none that this command could use


def validator_of(name):
    return validate.Validator(validate.read(str(ROOT / "docs" / "schema" / f"{name}-1.json")))


class Outputs:
    def __init__(self, unhang):
        self.unhang = unhang
        self.validators = {name: validator_of(name) for name in ("logs_init", "log_warnings", "collectives", "slow", "stacks", "ranks")}
        self.counts = dict.fromkeys(self.validators, 0)

    def fault_of(self, schema, words):
        """What is wrong with one call, or None. A call that finds no evidence is not counted."""
        done = subprocess.run([self.unhang, *words], capture_output=True, timeout=SECONDS, stdin=subprocess.DEVNULL, check=False)
        if done.returncode == NO_SUCH_EVIDENCE:
            return None
        if done.returncode not in (0, 1, 2, 3):
            return f"exit status {done.returncode}: {done.stderr.decode('utf-8', 'replace').strip()[-300:]}"
        try:
            document = json.loads(done.stdout.decode("utf-8"), object_pairs_hook=validate.unique_keys)
        except ValueError as error:
            return f"no JSON: {error}"
        self.counts[schema] += 1
        for at, message in self.validators[schema].errors(document):
            return f"not as docs/schema/{schema}-1.json says: {at}: {message}"
        return None


def calls_of_logs(folder):
    zone = ("--tz", "+02:00", "--year", "2026")
    yield "logs_init", ["logs", "init", "--json", str(folder)]
    yield "logs_init", ["logs", "init", "--json", *zone, str(folder)]
    yield "log_warnings", ["logs", "warnings", "--json", "--all", str(folder)]
    yield "log_warnings", ["logs", "warnings", "--json", *zone, str(folder)]
    yield "ranks", ["diagnose", "--show", "ranks", "--json", str(folder)]


def calls_of_dumps(folder):
    yield "collectives", ["collectives", "--json", str(folder)]
    yield "collectives", ["collectives", "--json", "--limit", "3", str(folder)]
    yield "stacks", ["stacks", "--json", "--all-threads", str(folder)]
    yield "slow", ["slow", "--json", str(folder)]
    yield "ranks", ["diagnose", "--show", "ranks", "--json", str(folder)]


def folders_of_dumps(top):
    return sorted({file.parent for file in pathlib.Path(top).rglob("*") if re.search(r"rank_?[0-9]+(\.|$)", file.name)})


def made_to_order(unhang, folder):
    kinds = subprocess.run([unhang, "simulate", "--list-faults"], capture_output=True, text=True, timeout=SECONDS, check=True)
    for kind in (line.split()[0] for line in kinds.stdout.splitlines() if line.strip()):
        target = pathlib.Path(folder) / kind
        done = subprocess.run([unhang, "simulate", "--fault", kind, "--entries", "60", "--groups", "tp=2,pp=2,dp", "-o", str(target)],
                              capture_output=True, timeout=SECONDS, check=False)
        if done.returncode == 0:
            yield target


def names_differ(unhang):
    """The schemas that the program names, prints and describes, where these are not the same."""
    version = subprocess.run([unhang, "version", "--json"], capture_output=True, timeout=SECONDS, check=True)
    named = set(json.loads(version.stdout)["schemas"])
    described = {validate.read(str(file))["title"] for file in (ROOT / "docs" / "schema").glob("*.json")}
    printed = set()
    for file in (ROOT / "src").rglob("*.cc"):
        if not file.name.endswith("_test.cc"):
            printed |= set(re.findall(r"\bunhang\.[a-z_]+/[0-9]+", file.read_text(encoding="utf-8")))
    for what, names in (("docs/schema", described), ("src", printed)):
        for name in sorted(named ^ names):
            yield f"{name}: in {what if name in names else '`unhang version`'} only"


def main():
    parser = argparse.ArgumentParser(description="Hold what commands print as JSON against docs/schema.")
    parser.add_argument("--unhang", required=True)
    parser.add_argument("--logs", action="append", default=[], metavar="FOLDER")
    parser.add_argument("--dumps", action="append", default=[], metavar="FOLDER")
    options = parser.parse_args()
    outputs = Outputs(str(pathlib.Path(options.unhang).resolve()))
    faults = list(names_differ(outputs.unhang))
    with tempfile.TemporaryDirectory() as scratch:
        calls = []
        for top in options.logs:
            for folder in sorted(path for path in pathlib.Path(top).iterdir() if path.is_dir()):
                calls += calls_of_logs(folder)
        for folder in [f for top in options.dumps for f in folders_of_dumps(top)] + list(made_to_order(outputs.unhang, scratch)):
            calls += calls_of_dumps(folder)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for (schema, words), fault in zip(calls, pool.map(lambda call: outputs.fault_of(*call), calls)):
                if fault:
                    faults.append(f"unhang {' '.join(words)}: {fault}")
    for fault in faults:
        print(fault)
    print("outputs: " + ", ".join(f"{count} of {schema}" for schema, count in outputs.counts.items()) + f"; {len(faults)} faults")
    if faults:
        return 1
    return 0 if all(outputs.counts.values()) else 2


if __name__ == "__main__":
    sys.exit(main())
