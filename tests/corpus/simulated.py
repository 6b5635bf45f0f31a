#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Simulates incidents of every fault kind in several layouts and holds the verdicts against the truth beside them.

    tests/corpus/simulated.py --unhang build/release/unhang                 a few seeds: a minute
    tests/corpus/simulated.py --unhang … --seeds 1-50 --fault straggler -v  more of one kind

Prints each wrong verdict with the command that makes the incident again, and a table by fault kind. Exit status 1 when a
verdict is wrong.
"""

import argparse
import collections
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import run as corpus  # noqa: E402  the judge of recorded incidents: one set of rules

LAYOUTS = [
    "--ranks 8 --groups tp=2,pp=2,dp",
    "--ranks 6",
    "--ranks 16 --groups tp=2,pp=4,dp",
    "--ranks 16 --groups tp=4,dp",
    "--ranks 8 --groups tp=8",
    "--ranks 2",
    "--ranks 8 --backend gloo --groups tp=2,dp",
    "--ranks 8 --groups tp=2,pp=2,dp --format json --timing",
    "--ranks 16 --groups tp=2,pp=2,dp --only-active",
]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--unhang", required=True)
    parser.add_argument("--seeds", default="1-2")
    parser.add_argument("--fault")
    parser.add_argument("--entries", default="300")
    parser.add_argument("-v", "--verbose", action="store_true")
    options = parser.parse_args()
    first, _, last = options.seeds.partition("-")
    seeds = range(int(first), int(last or first) + 1)
    listed = subprocess.run([options.unhang, "simulate", "--list-faults"], capture_output=True, text=True, check=True).stdout
    faults = [options.fault] if options.fault else [line.split()[0] for line in listed.splitlines()]
    tally = collections.defaultdict(lambda: [0, 0])
    for fault in faults:
        for layout in LAYOUTS:
            for seed in seeds:
                with tempfile.TemporaryDirectory() as folder:
                    dumps = folder + "/dumps"
                    words = ["simulate", *layout.split(), "--fault", fault, "--seed", str(seed), "--entries", options.entries, "-o", dumps]
                    made = subprocess.run([options.unhang, *words], capture_output=True, text=True, check=False)
                    if made.returncode == 64:
                        continue  # a fault that this layout cannot have
                    if made.returncode != 0:
                        raise SystemExit(f"{words}: {made.stderr}")
                    truth = json.loads(pathlib.Path(dumps, "truth.json").read_text(encoding="utf-8"))
                    done = subprocess.run([options.unhang, "diagnose", "--json", dumps], capture_output=True, text=True, check=False)
                    wrong = f"exit {done.returncode}, no JSON: {done.stderr[:200]}"
                    if done.stdout.startswith("{"):
                        verdict = json.loads(done.stdout)
                        culprits = corpus.culprits_of(verdict)
                        wrong = corpus.judge(truth, False, fault, verdict["verdict"], culprits)
                    tally[fault][wrong is not None] += 1
                    if wrong is not None:
                        print(f"WRONG unhang {' '.join(words[:-1])} DIR\n      {wrong}")
    right = sum(counts[0] for counts in tally.values())
    bad = sum(counts[1] for counts in tally.values())
    for fault, (good, wrong) in tally.items():
        print(f"{fault:<24}{good:>5} right {wrong:>4} wrong")
    print(f"{right} passed, {bad} failed")
    return 1 if bad or not right else 0


if __name__ == "__main__":
    sys.exit(main())
