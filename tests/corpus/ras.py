#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Diagnoses recorded RAS answers whose truth is known, and compares.

    tests/corpus/ras.py --unhang build/release/unhang ../shared/corpus/ras [--only lag] [-v]

A folder holds expected.json ({scenarios: {NAME: {categories, culprits or culprits_within, categories_2.24}}}) and one folder
for each release (v2.30.7-1) with NAME.json, NAME.txt, NAME.verbose.txt. The JSON must give just the culprits; text gives them
as far as it names ranks, and never others. One answer alone gives at most low confidence for a lag.
"""

import argparse
import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "schema"))
import validate  # noqa: E402

VALIDATOR = validate.Validator(validate.read(str(validate.DEFAULT_SCHEMA)))
ENDINGS = (".verbose.txt", ".txt", ".json")
NOBODY = ("healthy", "inconclusive")


def diagnose(unhang, path):
    done = subprocess.run([unhang, "diagnose", "--json", str(path)], capture_output=True, timeout=60,
                          stdin=subprocess.DEVNULL, check=False)
    if done.returncode > 3:
        raise ValueError(f"exit {done.returncode}: {done.stderr.decode('utf-8', 'replace').strip()}")
    document = json.loads(done.stdout)
    errors = list(VALIDATOR.errors(document)) or list(validate.verdict_errors(document))
    if errors:
        raise ValueError(f"not as the schema says: {errors[0][0]}: {errors[0][1]}")
    return document


def judge(expected, release, is_text, document):
    """None when the verdict is right, else what is wrong with it."""
    verdict = document["verdict"]
    category, confidence = verdict["category"], verdict["confidence"]
    culprits = {c["rank"] for c in document["culprits"] if c["rank"] is not None}
    unplaced = [c for c in document["culprits"] if c["rank"] is None]
    categories = expected["categories"]
    if release.startswith(("v2.24", "v2.25")):
        categories = expected.get("categories_2.24", categories)
    if category in NOBODY and document["culprits"]:
        return f"{category} must not have culprits"
    allowed = set(expected.get("culprits", expected.get("culprits_within", [])))
    if category not in categories:
        # A text answer may leave the names, and with them the whole finding, out.
        if not (is_text and category in NOBODY):
            return "another category was expected"
        return None
    if culprits - allowed:
        return "blames ranks that did nothing"
    if category == "collective_desync" and confidence != "low":
        return "one answer proves no lag: at most low confidence"
    if category in NOBODY or is_text:
        return None
    if "culprits" in expected and culprits != allowed:
        return f"culprits {sorted(allowed)} were expected"
    if unplaced:
        return "a culprit without its rank"
    return None


def cases(folder, only):
    expected = json.loads((folder / "expected.json").read_text())["scenarios"]
    for release in sorted(p for p in folder.iterdir() if p.is_dir()):
        for path in sorted(release.iterdir()):
            name = next((path.name.removesuffix(e) for e in ENDINGS if path.name.endswith(e)), None)
            if name in expected and only in path.name:
                yield expected[name], release.name, path


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--unhang", required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("-v", "--verbose", action="store_true")
    parser.add_argument("folder", type=pathlib.Path)
    options = parser.parse_args()
    total = right = 0
    for expected, release, path in cases(options.folder, options.only):
        total += 1
        try:
            document = diagnose(options.unhang, path)
            fault = judge(expected, release, not path.name.endswith(".json"), document)
            said = (f"{document['verdict']['category']}/{document['verdict']['cause']} {document['verdict']['confidence']} "
                    f"{[c['rank'] for c in document['culprits']]}: {document['verdict']['headline']}")
        except (ValueError, subprocess.TimeoutExpired) as error:
            fault, said = "no verdict", str(error)
        right += fault is None
        if fault or options.verbose:
            print(f"{'WRONG' if fault else 'ok   '} {release}/{path.name}: {fault or ''}\n      {said}")
    print(f"ras corpus: {right} of {total} right")
    if total == 0:
        print("no case found")
    return 0 if total and right == total else 1


if __name__ == "__main__":
    sys.exit(main())
