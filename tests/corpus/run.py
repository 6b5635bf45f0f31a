#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Diagnoses recorded and hand-made incidents whose truth is known, and compares.

    tests/corpus/run.py --unhang build/release/unhang ../shared/corpus/fr*      all of it
    tests/corpus/run.py --unhang … ../shared/corpus/fr* --only straggler -v     scenarios with that in the name

A scenario is a folder with a truth.json:

    acceptable          [{category, causes?}]: one of these must come out
    culprits            exactly these ranks (not asked where an acceptable answer names nobody by its nature)
    culprits_within     no rank but these
    may_be_inconclusive then the verdict may also be inconclusive, without culprits
    native              the dumps below native/ (gloo) cannot show it: healthy and inconclusive without culprits are right as
                        well there, and for point-to-point scenarios rank_not_entered
    pair                two single entries: what `unhang collectives` must mark between them

Its dumps are in one or more folders below it; each such folder is one case. Each case is also run with its files named in
the opposite order and on one thread: the bytes must be the same.
"""

import argparse
import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "schema"))
import validate  # noqa: E402

VALIDATOR = validate.Validator(validate.read(str(validate.DEFAULT_SCHEMA)))
SECONDS = 60
# How the relation of two entries in truth.json shows in `unhang collectives --json`: the mark of their row.
PAIR_MARKS = {
    "FULLY_MATCHED": set(),
    "COLLECTIVE_TYPE_MISMATCH": {"op_mismatch"},
    "COLLECTIVE_DTYPE_MISMATCH": {"dtype_mismatch"},
    "SIZE_OR_SYNTAX_MISMATCH": {"size_mismatch"},
    "COLLECTIVE_STATE_MISMATCH": {"state_mismatch"},
    "UNDECIDED": {"undecided"},
}


def run(*command):
    done = subprocess.run(command, capture_output=True, timeout=SECONDS, stdin=subprocess.DEVNULL, check=False)
    return done.returncode, done.stdout, done.stderr.decode("utf-8", "replace")


def case_folders(scenario):
    """The folders below a scenario that hold files themselves."""
    folders = {path.parent for path in scenario.rglob("*") if path.is_file() and path.name not in ("truth.json", "README.md")}
    return sorted(folders)


def expected_words(truth):
    answers = ["/".join([a["category"], *a.get("causes", [])]) for a in truth["acceptable"]]
    ranks = truth.get("culprits", truth.get("culprits_within"))
    return f"{' or '.join(answers)}, culprits {'' if 'culprits' in truth else 'within '}{ranks}"


def judge(truth, native, scenario_name, verdict, culprits):
    """None when the verdict is right, else what is wrong with it."""
    category, cause = verdict["category"], verdict["cause"]
    names_nobody = category in ("healthy", "inconclusive")
    if names_nobody and culprits:
        return f"{category} must not have culprits"
    if category == "inconclusive" and truth.get("may_be_inconclusive"):
        return None
    if native and "native" in truth:
        if names_nobody:
            return None
        if cause == "rank_not_entered" and scenario_name.startswith(("p2p", "pipeline")):
            return None
    fitting = [a for a in truth["acceptable"] if a["category"] == category and ("causes" not in a or cause in a["causes"])]
    if not fitting:
        return "another answer was expected"
    if category == "healthy":
        return None
    if "culprits" in truth and culprits != set(truth["culprits"]):
        return "other culprits were expected"
    if not culprits <= set(truth.get("culprits_within", culprits)):
        return "an innocent rank is named"
    return None


def schema_errors(document):
    """What is wrong with a verdict by docs/schema/verdict-1.json and beyond what a schema can say."""
    found = list(VALIDATOR.errors(document)) or list(validate.verdict_errors(document))
    return [f"{at}: {message}" for at, message in found]


def culprits_of(document):
    return {item["rank"] for item in document["culprits"]}


def check_verdict(unhang, scenario, folder, truth, with_schema):
    """(what was answered, fault or None)"""
    status, output, errors = run(unhang, "diagnose", "--json", str(folder))
    if status not in (0, 1, 2, 3):
        return "nothing", f"exit status {status}: {errors.strip()[-300:]}"
    document = json.loads(output)
    errors = schema_errors(document) if with_schema else []
    if errors:
        return "JSON against the schema", errors[0]
    verdict = document["verdict"]
    culprits = culprits_of(document)
    answer = f"{verdict['category']}/{verdict['cause']} {verdict['confidence']} {sorted(culprits)}"
    native = "native" in folder.relative_to(scenario).parts
    fault = judge(truth, native, scenario.name, verdict, culprits)
    if fault:
        return answer, fault

    files = sorted(str(file) for file in folder.iterdir())
    forward = run(unhang, "diagnose", "--json", *files)
    backward = run(unhang, "diagnose", "--json", "-j", "1", *reversed(files))
    if forward[:2] != backward[:2]:
        return answer, "the answer depends on the order of the files or the number of threads"
    return answer, None


def check_pair(unhang, folder, truth):
    if truth["pair"] not in PAIR_MARKS:
        return "not compared", None
    status, output, errors = run(unhang, "collectives", "--json", str(folder))
    if status not in (0, 2):  # 2: something is wrong in them
        return "nothing", f"exit status {status}: {errors.strip()[-300:]}"
    marks = {mark for row in json.loads(output)["rows"] for mark in row["marks"]}
    answer = ", ".join(sorted(marks)) or "no mark"
    return answer, None if PAIR_MARKS[truth["pair"]] == marks else f"{truth['pair']} was expected"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--unhang", required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--no-schema", action="store_true", help="judge the answers only, not the whole document")
    parser.add_argument("-v", "--verbose", action="store_true")
    parser.add_argument("corpus", nargs="+", type=pathlib.Path)
    options = parser.parse_args()

    scenarios = sorted(path.parent for root in options.corpus for path in root.rglob("truth.json"))
    passed = failed = 0
    for scenario in scenarios:
        if options.only not in scenario.name:
            continue
        truth = json.loads((scenario / "truth.json").read_text(encoding="utf-8"))
        if "pair" not in truth and "acceptable" not in truth:
            continue  # of another kind of evidence
        for folder in case_folders(scenario):
            name = f"{scenario.parent.name}/{scenario.name}/{folder.relative_to(scenario)}"
            try:
                if "pair" in truth:
                    answer, fault = check_pair(options.unhang, folder, truth)
                else:
                    answer, fault = check_verdict(options.unhang, scenario, folder, truth, not options.no_schema)
            except subprocess.TimeoutExpired:
                answer, fault = "nothing", f"still running after {SECONDS} s"
            passed += fault is None
            failed += fault is not None
            if fault:
                print(f"FAILED {name}: {fault}\n  answer   {answer}")
                if "acceptable" in truth:
                    print(f"  expected {expected_words(truth)}")
            elif options.verbose:
                print(f"ok     {name}: {answer}")
    print(f"corpus: {passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
