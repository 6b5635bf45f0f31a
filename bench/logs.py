#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures `unhang logs init` and `unhang diagnose` on one log beside `LC_ALL=C grep -c NCCL` over the same warm file, in turn.

    cmake --preset release && cmake --build build/release --target unhang
    bench/logs.py --build build/release                     256 MB (written below the data folder, kept for next time)
    bench/logs.py --build build/release --megabytes 2048    what the project's issue asks for

The output of grep goes into a pipe that is read: into /dev/null it would stop at the first match. Ratios are the median of the
ratios pair by pair, so that they hold when the machine's speed drifts; `CPU` is the same of processor time (user + system, all
threads), which holds better on a machine that others use. `peak` is the largest resident set, pages of a mapped file included.
Limits, from the project's issues: within 3 times grep, aim 2, memory a few MB and the facts found.
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

from log_lines import write

TIME = "/usr/bin/time"  # a child of this script has at least the resident set of Python; a child of `time` has its own


def timed(words, codes):
    """(wall s, processor s, peak MB, output) of one run."""
    with tempfile.NamedTemporaryFile() as errors, tempfile.NamedTemporaryFile("r") as peak:
        wrapped = [TIME, "-q", "-f", "%M", "-o", peak.name, *words] if os.path.exists(TIME) else words
        begin = time.monotonic()
        child = subprocess.Popen(wrapped, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors, env={**os.environ, "LC_ALL": "C"})
        output = child.stdout.read()
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.monotonic() - begin
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode not in codes:
            sys.exit(f"{' '.join(words)} ended with {child.returncode}: {pathlib.Path(errors.name).read_text(errors='replace')[:2000]}")
        kilobytes = peak.read().split() or [usage.ru_maxrss]
        return wall, usage.ru_utime + usage.ru_stime, int(kilobytes[-1]) / 1024, output


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build/release", type=pathlib.Path)
    parser.add_argument("--data", default="build/bench", type=pathlib.Path)
    parser.add_argument("--megabytes", default=256, type=int)
    parser.add_argument("--rounds", default=5, type=int)
    options = parser.parse_args()
    options.data.mkdir(parents=True, exist_ok=True)
    path = options.data / f"log_{options.megabytes}.log"
    if not path.exists():
        write(path, options.megabytes)
    megabytes = os.path.getsize(path) / 1e6
    unhang, grep = str(options.build / "unhang"), ["grep", "-c", "NCCL", str(path)]
    found = int(timed(grep, {0})[3])  # warms the page cache
    lines = int(timed(["wc", "-l", str(path)], {0})[3].split()[0])
    print(f"{megabytes:.0f} MB, {lines} lines, {found} of them ({100 * found / lines:.0f} %) with NCCL; "
          f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores at the start")
    print(f"{'command':<18}{'s':>8}{'MB/s':>8}{'grep s':>9}{'ratio':>7}{'CPU s':>8}{'CPU':>7}{'peak MB':>9}")
    # Both end with what they found: 0 to 3 are verdicts (src/cli/exit_codes.h), the rest is trouble.
    for name, words in (("logs init", [unhang, "logs", "init", str(path)]), ("diagnose", [unhang, "diagnose", str(path)])):
        ours, theirs = [], []
        for _ in range(options.rounds):
            theirs.append(timed(grep, {0}))
            ours.append(timed(words, {0, 1, 2, 3}))
        wall = statistics.median(run[0] for run in ours)
        print(f"{name:<18}{wall:>8.2f}{megabytes / wall:>8.0f}{statistics.median(run[0] for run in theirs):>9.3f}"
              f"{statistics.median(a[0] / b[0] for a, b in zip(ours, theirs)):>7.1f}{statistics.median(run[1] for run in ours):>8.2f}"
              f"{statistics.median(a[1] / b[1] for a, b in zip(ours, theirs)):>7.1f}{max(run[2] for run in ours):>9.0f}")
    print(f"load {os.getloadavg()[0]:.1f} at the end")
    return 0


if __name__ == "__main__":
    sys.exit(main())
