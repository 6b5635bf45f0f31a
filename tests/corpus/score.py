#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Runs `unhang diagnose --json` over recorded incidents and holds the verdicts against the truth beside them.

usage: score.py UNHANG FOLDER...     each FOLDER holds one folder a case, with a truth.json

A case passes when category and cause are among the truth's `acceptable`, and the named ranks are exactly `culprits`
(or lie within `culprits_within`). `may_be_inconclusive` also accepts an inconclusive verdict without culprits; the truth's
`native` word accepts what gloo's own dumps cannot show. `pair` cases are about `collectives`, not about the verdict.
Exit status 1 when a case fails, 2 when no case was found. No truth is ever edited to fit the program.
"""
import json
import os
import subprocess
import sys

FORMS = ("dumps", "pkl", "json")


def dump_folders(case):
    for path, _, files in sorted(os.walk(case)):
        if os.path.basename(path) in FORMS and files:
            yield path


def named_ranks(verdict):
    ranks = set()
    for culprit in verdict["culprits"]:
        ranks.add(culprit["rank"])
        if culprit.get("peer") is not None:
            ranks.add(culprit["peer"])
    return ranks


def culprits_right(truth, ranks):
    if "culprits" in truth:
        return ranks == set(truth["culprits"])
    return ranks <= set(truth.get("culprits_within", []))


def judge(truth, verdict, native):
    category, cause = verdict["verdict"]["category"], verdict["verdict"]["cause"]
    ranks = named_ranks(verdict)
    for accepted in truth["acceptable"]:
        if category != accepted["category"]:
            continue
        if category == "healthy":
            return not ranks
        if cause in accepted.get("causes", [cause]) and culprits_right(truth, ranks):
            return True
    if truth.get("may_be_inconclusive") and category == "inconclusive" and not ranks:
        return True
    if native and "native" in truth:
        if category in ("healthy", "inconclusive") and not ranks:
            return True
        return cause == "rank_not_entered" and culprits_right(truth, ranks)
    return False


def main():
    unhang, folders = sys.argv[1], sys.argv[2:]
    passed = failed = skipped = 0
    for folder in folders:
        for name in sorted(os.listdir(folder)):
            case = os.path.join(folder, name)
            truth_file = os.path.join(case, "truth.json")
            if not os.path.isfile(truth_file):
                continue
            with open(truth_file, encoding="utf-8") as stream:
                truth = json.load(stream)
            for dumps in dump_folders(case):
                label = os.path.relpath(dumps, folder)
                if "pair" in truth:
                    skipped += 1
                    continue
                run = subprocess.run([unhang, "diagnose", "--json", dumps], capture_output=True, text=True, timeout=60, check=False)
                try:
                    verdict = json.loads(run.stdout)
                    good = judge(truth, verdict, "/native/" in dumps)
                    got = "{category}/{cause} {confidence}".format(**verdict["verdict"]) + " culprits " + str(sorted(named_ranks(verdict)))
                    headline = verdict["verdict"]["headline"]
                except ValueError:
                    good, got, headline = False, "exit %d, no JSON" % run.returncode, run.stderr.strip()
                passed, failed = passed + good, failed + (not good)
                if not good or os.environ.get("VERBOSE"):
                    wanted = truth.get("culprits", truth.get("culprits_within"))
                    print("%s %s\n    got    %s\n           %s\n    wanted %s %s" % (
                        "ok  " if good else "FAIL", label, got, headline,
                        "|".join(a["category"] + ":" + ",".join(a.get("causes", [])) for a in truth["acceptable"]), wanted))
    print("%d passed, %d failed, %d skipped" % (passed, failed, skipped))
    return 2 if passed + failed == 0 else 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
