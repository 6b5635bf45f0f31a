#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How good the verdicts are: diagnoses folders of cases whose truth is known, and counts.

    bench/accuracy.py --unhang build/release/unhang tests/corpus ../shared/corpus
    bench/accuracy.py --unhang … tests/corpus --floor right-or-acceptable=95 --floor confident-wrong=0 --json

All forms of truth are read: incidents and pairs of dumps (tests/corpus/run.py, what `unhang simulate` writes), posted logs
(tests/corpus/logs.py), answers of RAS (tests/corpus/ras.py). Each is judged by the rules of its own test; here an answer is

    right        the first acceptable category (and cause)
    acceptable   another one that is allowed
    honest       inconclusive, or something else with low confidence, without blaming an innocent
    wrong        everything else

and the culprits of those cases in which somebody is to be named are exact, part of them, none, or wrong.

--floor NAME=VALUE (exit status 1 below it): right-or-acceptable, culprit-exact, high-right, in percent; wrong and
confident-wrong, at most so many. Exit status 2 when a case could not be judged or there is none.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "corpus"))
import incident  # noqa: E402
import logs  # noqa: E402
import ras  # noqa: E402
import run as dumps  # noqa: E402

ANSWERS = ("right", "acceptable", "honest", "wrong")
PERCENT_FLOORS = ("right-or-acceptable", "culprit-exact", "high-right")
COUNT_FLOORS = ("wrong", "confident-wrong")
SECONDS = 60


def diagnose(unhang, path):
    done = subprocess.run([unhang, "diagnose", "--json", str(path)], capture_output=True, timeout=SECONDS,
                          stdin=subprocess.DEVNULL, check=False)
    if done.returncode not in (0, 1, 2, 3):
        raise ValueError(f"exit status {done.returncode}: {done.stderr.decode('utf-8', 'replace').strip()[-300:]}")
    return json.loads(done.stdout)


def not_fitting(document, innocent):
    """honest or wrong, for a verdict that is none of the acceptable ones."""
    verdict = document["verdict"]
    if innocent or verdict["category"] == "healthy":
        return "wrong"
    return "honest" if verdict["category"] == "inconclusive" or verdict["confidence"] == "low" else "wrong"


def fits(acceptable, verdict):
    return acceptable["category"] == verdict["category"] and verdict["cause"] in acceptable.get("causes", [verdict["cause"]])


class IncidentCase:
    """A folder of dumps, or of everything, with the truth of run.py."""

    def __init__(self, scenario, folder, truth):
        self.name = f"{scenario.parent.name}/{scenario.name}/{folder.relative_to(scenario)}"
        self.path, self.truth = folder, truth
        self.native = "native" in folder.relative_to(scenario).parts
        self.scenario = scenario.name
        self.expected = truth["acceptable"][0]["category"]

    def judge(self, document):
        verdict = document["verdict"]
        naming = incident.naming(self.truth, document["culprits"])
        fitting = [fits(each, verdict) for each in self.truth["acceptable"]]
        if naming == "innocent":
            answer = "wrong"
        elif any(fitting):
            answer = "right" if fitting[0] else "acceptable"
        elif "hosts" not in self.truth and dumps.judge(self.truth, self.native, self.scenario, verdict,
                                                       dumps.culprits_of(document)) is None:
            answer = "honest" if verdict["category"] in ("inconclusive", "healthy") else "acceptable"
        else:
            answer = not_fitting(document, False)
        somebody = self.truth.get("culprits") or self.truth.get("host_suffices")
        asked = somebody and verdict["category"] not in ("healthy", "inconclusive")
        return answer, {"innocent": "wrong"}.get(naming, naming) if asked else None


class LogCase:
    """A posted log."""

    def __init__(self, folder, truth):
        self.name, self.path, self.truth = f"{folder.parent.name}/{folder.name}", folder / "input.log", truth
        self.expected = truth["acceptable_categories"][0]

    def judge(self, document):
        found = logs.judge(self.truth, document)
        if found["confident_wrong"]:
            answer = "wrong"
        elif found["acceptable"]:
            answer = "right" if document["verdict"]["category"] == self.expected else "acceptable"
        else:
            answer = not_fitting(document, found["culprit"] == "wrong")
        culprit = {"right": "exact", "none": "none", "wrong": "wrong", None: None}[found["culprit"]]
        return answer, culprit if logs.is_established(self.truth) else None


class RasCase:
    """One answer of RAS."""

    def __init__(self, expected, release, path):
        self.name, self.path, self.truth, self.release = f"{release}/{path.name}", path, expected, release
        self.expected = expected["categories"][0]

    def judge(self, document):
        is_text = not self.path.name.endswith(".json")
        verdict = document["verdict"]
        named = {item["rank"] for item in document["culprits"]}
        guilty = set(self.truth.get("culprits", self.truth.get("culprits_within", [])))
        if ras.judge(self.truth, self.release, is_text, document) is not None:
            return not_fitting(document, bool(named - guilty)), "wrong" if named - guilty else None
        if verdict["category"] not in self.truth["categories"]:
            return "honest", None
        asked = self.truth.get("culprits") and not is_text
        answer = "right" if verdict["category"] == self.expected else "acceptable"
        return answer, ("exact" if named == guilty else "part" if named else "none") if asked else None


class PairCase:
    """Two single entries, and what `unhang collectives` marks between them."""

    expected = "(pairs of entries)"

    def __init__(self, scenario, folder, truth):
        self.name, self.path, self.truth = f"{scenario.parent.name}/{scenario.name}", folder, truth

    def check(self, unhang):
        answer, fault = dumps.check_pair(unhang, self.path, self.truth)
        return {"case": self.name, "expected": self.expected, "answer": "wrong" if fault else "right", "culprit": None,
                "confidence": None, "said": answer}


def cases_below(root):
    if (root / "expected.json").is_file():
        for expected, release, path in ras.cases(root, ""):
            yield RasCase(expected, release, path)
    elif (root / "truth.json").is_file():
        truth = json.loads((root / "truth.json").read_text(encoding="utf-8"))
        if "acceptable_categories" in truth:
            yield LogCase(root, truth)
        elif "hosts" in truth:
            yield IncidentCase(root, root, truth)
        elif "pair" in truth or "acceptable" in truth:
            kind = PairCase if "pair" in truth else IncidentCase
            for folder in dumps.case_folders(root):
                yield kind(root, folder, truth)
    else:
        for folder in sorted(path for path in root.iterdir() if path.is_dir()):
            yield from cases_below(folder)


def check(unhang, case):
    try:
        if isinstance(case, PairCase):
            return case.check(unhang)
        document = diagnose(unhang, case.path)
        answer, culprit = case.judge(document)
        return {"case": case.name, "expected": case.expected, "answer": answer, "culprit": culprit,
                "confidence": document["verdict"]["confidence"], "said": logs.said(document)}
    except (OSError, ValueError, KeyError, subprocess.TimeoutExpired) as error:
        return {"case": case.name, "broken": f"{type(error).__name__}: {error}"}


def is_confident_wrong(result):
    return result["answer"] == "wrong" and result["confidence"] in logs.CONFIDENT


def percent(part, whole):
    return 100.0 * part / whole if whole else 100.0


def totals(results):
    judged = [result for result in results if "broken" not in result]
    categories = {}
    for name in sorted({result["expected"] for result in judged}):
        mine = [result for result in judged if result["expected"] == name]
        answers = collections.Counter(result["answer"] for result in mine)
        categories[name] = {"cases": len(mine), **{answer: answers[answer] for answer in ANSWERS},
                            "confident_wrong": sum(map(is_confident_wrong, mine))}
    confidence = {}
    for name in ("high", "medium", "low"):
        mine = [result for result in judged if result["confidence"] == name]
        right = sum(result["answer"] in ("right", "acceptable") for result in mine)
        confidence[name] = {"cases": len(mine), "right_percent": round(percent(right, len(mine)), 2)}
    culprits = collections.Counter(result["culprit"] for result in judged if result["culprit"])
    right = sum(result["answer"] in ("right", "acceptable") for result in judged)
    return {"cases": len(results), "broken": len(results) - len(judged), "categories": categories,
            "confidence": confidence, "culprits": dict(sorted(culprits.items())),
            "floors": {"right-or-acceptable": round(percent(right, len(judged)), 2),
                       "culprit-exact": round(percent(culprits["exact"], sum(culprits.values())), 2),
                       "high-right": confidence["high"]["right_percent"],
                       "wrong": sum(result["answer"] == "wrong" for result in judged),
                       "confident-wrong": sum(map(is_confident_wrong, judged))}}


def tell(results, figures, verbose):
    for result in results:
        if "broken" in result:
            print(f"BROKEN {result['case']}: {result['broken']}")
        elif result["answer"] == "wrong" or (verbose and (result["answer"] != "right" or result["culprit"] in ("part", "none", "wrong"))):
            culprit = f", culprits {result['culprit']}" if result["culprit"] else ""
            print(f"{result['answer']:<10} {result['case']}{culprit}: {result['said']}")
    print(f"{'expected category':<32}{'cases':>7}{'right':>7}{'accept':>8}{'honest':>8}{'wrong':>7}{'confident':>11}")
    for name, row in figures["categories"].items():
        print(f"{name:<32}{row['cases']:>7}{row['right']:>7}{row['acceptable']:>8}{row['honest']:>8}{row['wrong']:>7}"
              f"{row['confident_wrong']:>11}")
    culprits = figures["culprits"]
    print("culprits, where somebody is to be named: " + ", ".join(
        f"{culprits.get(name, 0)} {name}" for name in ("exact", "part", "none", "wrong")))
    for name, row in figures["confidence"].items():
        print(f"confidence {name:<7}{row['cases']:>6} cases, {row['right_percent']:6.2f} % right or acceptable")


def floor(text):
    name, equals, value = text.partition("=")
    if not equals or name not in PERCENT_FLOORS + COUNT_FLOORS:
        raise argparse.ArgumentTypeError(f"{text}: NAME=VALUE with one of {', '.join(PERCENT_FLOORS + COUNT_FLOORS)}")
    return name, float(value)


def below(figures, floors):
    """Words for each floor that is not held."""
    out = []
    for name, asked in floors:
        value = figures["floors"][name]
        if (value > asked) if name in COUNT_FLOORS else (value < asked):
            out.append(f"{name} is {value}, asked is {asked:g}")
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--unhang", required=True)
    parser.add_argument("--floor", action="append", default=[], type=floor, metavar="NAME=VALUE")
    parser.add_argument("--json", action="store_true", help="the figures and every case as JSON")
    parser.add_argument("-v", "--verbose", action="store_true", help="also what is only acceptable or honest")
    parser.add_argument("folder", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    cases = [case for root in options.folder for case in cases_below(root.resolve())]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda case: check(options.unhang, case), cases))
    figures = totals(results)
    if options.json:
        print(json.dumps({**figures, "results": results}, indent=1, sort_keys=True))
    else:
        tell(results, figures, options.verbose)
    missed = below(figures, options.floor)
    for words in missed:
        print(f"BELOW THE FLOOR: {words}", file=sys.stderr)
    if figures["broken"] or not results:
        return 2
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
