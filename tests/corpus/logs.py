#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Diagnoses log excerpts of public incidents whose truth is known, and counts.

    tests/corpus/logs.py --unhang build/release/unhang tests/corpus/logs ../shared/corpus/logs --require-acceptable 85

A case is a folder with input.log and truth.json:

    acceptable_categories  one of these must come out
    culprit                null, or {rank | host | pci | cudaDev | nic: …}; further keys say how it was found
    strength               "confirmed…": the culprit is established, and a verdict names that one or nobody
    name, source, cause_as_established, fix, nccl_version, lines, reading_notes   for people

An unacceptable category at low confidence is a miss. At high or medium confidence it is a confident wrong answer, and so is a
named culprit, whatever the confidence, that contradicts an established one: naming is a claim, guesses belong to the suspects.

Exit status: 0; 1 with any confident wrong answer or fewer acceptable ones than required; 2 when a case could not be judged
(no verdict, a verdict that the schema forbids, a truth that is not one) or there is none.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "schema"))
import validate  # noqa: E402

VALIDATOR = validate.Validator(validate.read(str(validate.DEFAULT_SCHEMA)))
SECONDS = 20
CONFIDENT = ("high", "medium")
CATEGORIES = ("initialization_hang", "collective_desync", "transport_stall", "performance_degradation",
              "process_or_device_unavailable", "not_communication", "healthy", "inconclusive")
TRUTH_KEYS = ("name", "source", "cause_as_established", "acceptable_categories", "strength", "culprit", "fix", "lines",
              "reading_notes")
PCI = re.compile(r"^(?:(?:gpu|pci)[:\s]*)?(?:([0-9a-f]{4,8}):)?([0-9a-f]{1,2}):([0-9a-f]{1,2})(?:\.[0-7])?$")


def pci_address(text):
    """(domain, bus, device) of 0000:0b:00.0, B:00, 00000000:0B:00.0; None for anything else."""
    found = PCI.match(str(text).strip().lower())
    return tuple(int(part or "0", 16) for part in found.groups()) if found else None


def device_number(text):
    """The ordinal in 3, "3", "GPU 3", "cuda:3"; None for anything else."""
    found = re.fullmatch(r"(?:gpu|cuda|cudadev|dev)?[\s:_]*(\d+)", str(text).strip().lower())
    return int(found.group(1)) if found else None


def host_name(text):
    return str(text).strip().lower()


def nic_name(text):
    """mlx5_0 of mlx5_0:1: the port is not the device."""
    return str(text).strip().lower().split(":")[0]


def integer(value):
    return value if isinstance(value, int) and not isinstance(value, bool) else None


# What a truth may name, where a verdict's culprit says it, and how both are read before they are compared.
COMPARED = {
    "rank": (("rank",), integer),
    "host": (("host", "peer"), host_name),
    "pci": (("gpu", "pci"), pci_address),
    "cudaDev": (("gpu",), device_number),
    "gpu": (("gpu",), device_number),
    "nic": (("nic",), nic_name),
}


def compare(truth, named):
    """True: the culprit that was named is the true one; False: it is another; None: nothing in common to compare."""
    answers = []
    for key, (fields, read) in COMPARED.items():
        if truth.get(key) is None:
            continue
        wanted = read(truth[key])
        said = [read(named[field]) for field in fields if named.get(field) is not None]
        said = [value for value in said if value is not None]
        if said:
            answers.append(wanted in said)
    return all(answers) if answers else None


def judge_culprits(truth, culprits):
    """right, none or wrong; None where the truth names nobody."""
    if truth["culprit"] is None:
        return None
    answers = [compare(truth["culprit"], named) for named in culprits]
    if False in answers:
        return "wrong"
    return "right" if True in answers else "none"


def is_established(truth):
    return truth["culprit"] is not None and truth["strength"].startswith("confirmed")


def judge(truth, document):
    """{acceptable, confident_wrong, culprit, faults}: what a verdict is worth beside the truth."""
    verdict = document["verdict"]
    confident = verdict["confidence"] in CONFIDENT
    acceptable = verdict["category"] in truth["acceptable_categories"]
    culprit = judge_culprits(truth, document["culprits"])
    contradicted = culprit == "wrong" and is_established(truth)
    faults = []
    if not acceptable:
        faults.append("confidently another category" if confident else "another category")
    if contradicted:
        faults.append("names another culprit than the established one")
    return {"acceptable": acceptable, "confident_wrong": contradicted or (confident and not acceptable),
            "culprit": culprit, "faults": faults}


def truth_errors(truth):
    """What is wrong with a truth.json: a misspelt category would never come out, and nobody would know why."""
    missing = [key for key in TRUTH_KEYS if key not in truth]
    if missing:
        return f"truth.json lacks {', '.join(missing)}"
    categories = truth["acceptable_categories"]
    unknown = [name for name in categories if name not in CATEGORIES]
    if unknown or not categories:
        return f"truth.json has no or unknown acceptable categories {unknown}"
    culprit = truth["culprit"]
    if culprit is not None and not any(key in COMPARED for key in culprit):
        return f"truth.json names a culprit by nothing that can be compared: {culprit}"
    return None


def diagnose(unhang, path):
    """The verdict on one file. ValueError where there is none."""
    try:
        done = subprocess.run([unhang, "diagnose", "--json", str(path)], capture_output=True, timeout=SECONDS,
                              stdin=subprocess.DEVNULL, check=False)
    except subprocess.TimeoutExpired:
        raise ValueError(f"still running after {SECONDS} s") from None
    if done.returncode not in (0, 1, 2, 3):
        raise ValueError(f"exit status {done.returncode}: {done.stderr.decode('utf-8', 'replace').strip()[-300:]}")
    try:
        document = json.loads(done.stdout)
    except ValueError as error:
        raise ValueError(f"no JSON: {error}") from None
    errors = list(VALIDATOR.errors(document)) or list(validate.verdict_errors(document))
    if errors:
        raise ValueError(f"not as the schema says: {errors[0][0]}: {errors[0][1]}")
    return document


def said(document):
    """A verdict in one line."""
    verdict = document["verdict"]
    fields = ("rank", "host", "gpu", "nic", "peer")
    named = [" ".join(f"{field} {item[field]}" for field in fields if item.get(field) is not None) or item["kind"]
             for item in document["culprits"]]
    return (f"{verdict['category']}/{verdict['cause']} {verdict['confidence']}"
            f"{' [' + '; '.join(named) + ']' if named else ''}: {verdict['headline']}")


def check(unhang, folder):
    """One case: {case, broken} where it could not be judged, else what judge() says and the verdict in short."""
    try:
        truth = json.loads((folder / "truth.json").read_text(encoding="utf-8"))
        error = truth_errors(truth)
        if error:
            raise ValueError(error)
        if not (folder / "input.log").is_file():
            raise ValueError("has no input.log")
        document = diagnose(unhang, folder / "input.log")
    except (OSError, ValueError) as error:
        return {"case": folder.name, "broken": str(error)}
    verdict = document["verdict"]
    return {"case": folder.name, **judge(truth, document), "expected": truth["acceptable_categories"],
            "established": truth["culprit"] if is_established(truth) else None, "category": verdict["category"],
            "cause": verdict["cause"], "confidence": verdict["confidence"], "said": said(document)}


def totals(results):
    judged = [result for result in results if "broken" not in result]
    acceptable = sum(result["acceptable"] for result in judged)
    return {
        "cases": len(results),
        "broken": len(results) - len(judged),
        "acceptable": acceptable,
        "percent": 100.0 * acceptable / len(results) if results else 0.0,
        "wrong_but_low": sum(not r["acceptable"] and not r["confident_wrong"] for r in judged),
        "confident_wrong": sum(r["confident_wrong"] for r in judged),
        "culprit": {answer: sum(r["culprit"] == answer for r in judged) for answer in ("right", "none", "wrong")},
        "confidence": dict(collections.Counter(r["confidence"] for r in judged)),
        "acceptable_by_confidence": dict(collections.Counter(r["confidence"] for r in judged if r["acceptable"])),
        "confusion": {f"{expected} > {got}": count for (expected, got), count in sorted(collections.Counter(
            (r["expected"][0], r["category"]) for r in judged if not r["acceptable"]).items())},
    }


def exit_status(figures, required_percent):
    if figures["broken"] or not figures["cases"]:
        return 2
    return 1 if figures["confident_wrong"] or figures["percent"] < required_percent else 0


def tell(results, figures, verbose):
    for result in results:
        if "broken" in result:
            print(f"BROKEN    {result['case']}: {result['broken']}")
        elif result["faults"]:
            expected = " or ".join(result["expected"])
            established = f", culprit {result['established']}" if result["established"] else ""
            word = "CONFIDENT" if result["confident_wrong"] else "missed   "
            print(f"{word} {result['case']}: {', '.join(result['faults'])}\n"
                  f"            said     {result['said']}\n            expected {expected}{established}")
        elif verbose:
            print(f"ok        {result['case']}: {result['said']}")
    culprit, confidence = figures["culprit"], figures["confidence"]
    print(f"log corpus: {figures['cases']} cases, {figures['acceptable']} acceptable ({figures['percent']:.1f} %), "
          f"{figures['wrong_but_low']} wrong but low, {figures['confident_wrong']} CONFIDENT wrong, "
          f"{figures['broken']} broken\n"
          f"  culprit, where a truth has one: {culprit['right']} right, {culprit['none']} none, {culprit['wrong']} wrong\n"
          "  confidence: " + ", ".join(
              f"{name} {confidence.get(name, 0)} ({figures['acceptable_by_confidence'].get(name, 0)} acceptable)"
              for name in ("high", "medium", "low")))
    for confusion, count in figures["confusion"].items():
        print(f"  {count:3} x expected {confusion.replace(' > ', ', got ')}")


def case_folders(roots, only):
    found = {path.parent for root in roots for path in root.rglob("truth.json")}
    return sorted(folder for folder in found if only in folder.name)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--unhang", required=True)
    parser.add_argument("--only", default="", help="cases with this in their name")
    parser.add_argument("--require-acceptable", type=float, default=0.0, metavar="PERCENT")
    parser.add_argument("--json", action="store_true", help="the figures and every case as JSON")
    parser.add_argument("-v", "--verbose", action="store_true", help="the cases that are right as well")
    parser.add_argument("folder", nargs="+", type=pathlib.Path)
    options = parser.parse_args()

    folders = case_folders(options.folder, options.only)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda folder: check(options.unhang, folder), folders))
    figures = totals(results)
    if options.json:
        print(json.dumps({**figures, "results": results}, indent=1, sort_keys=True))
    else:
        tell(results, figures, options.verbose)
    if not results:
        print("no case found", file=sys.stderr)
    return exit_status(figures, options.require_acceptable)


if __name__ == "__main__":
    sys.exit(main())
