#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures `unhang diagnose` on one RAS answer of a large job beside `wc -l` over the same warm file, in turn, in one run.

    cmake --preset release -DUNHANG_BENCH=ON && cmake --build build/release --target benchmarks
    bench/ras.py --build build/release

`unhang`: beyond the start of a process (`unhang version`). Two ratios: to all of `wc -l`, as for dumps, and to `wc -l` beyond its
own start (`wc -l /dev/null`), which is half a millisecond for the smaller file, less than it takes to get memory for it.
Limits, from the project's issues, for 8 communicators x 1,024 ranks: 10 times, and 4 times the file + 16 MB of memory.
The median is of many runs; a busy machine says little.
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import time

SIZES = [(8, 1024), (64, 1024)]


def timed(words, codes):
    begin = time.monotonic()
    child = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    took = time.monotonic() - begin
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode not in codes:
        sys.exit(f"{words[0]} ended with {child.returncode}")
    return took, usage.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build/release", type=pathlib.Path)
    parser.add_argument("--data", default="build/bench", type=pathlib.Path)
    parser.add_argument("--runs", default=41, type=int)
    options = parser.parse_args()
    options.data.mkdir(parents=True, exist_ok=True)
    unhang = str(options.build / "unhang")
    print(f"{'communicators x ranks':<24}{'MB':>7}{'unhang ms':>11}{'wc -l ms':>10}{'ratio':>7}{'beyond':>8}{'peak MB':>9}{'limit':>7}")
    for communicators, ranks in SIZES:
        path = str(options.data / f"ras_{communicators}x{ranks}.json")
        subprocess.run([str(options.build / "bench_ras"), "write", path, str(communicators), str(ranks)], check=True)
        megabytes = os.path.getsize(path) / 1e6
        ours, theirs, beyond, peak = [], [], [], 0
        for _ in range(options.runs):
            wall, memory = timed([unhang, "diagnose", path], {0, 1, 2, 3})
            ours.append(wall - timed([unhang, "version"], {0})[0])
            theirs.append(timed(["wc", "-l", path], {0})[0])
            beyond.append(theirs[-1] - timed(["wc", "-l", "/dev/null"], {0})[0])
            peak = max(peak, memory)
        unhang_ms, wc_ms = 1000 * statistics.median(ours), 1000 * statistics.median(theirs)
        beyond_ms = 1000 * statistics.median(beyond)
        print(f"{f'{communicators} x {ranks}':<24}{megabytes:>7.1f}{unhang_ms:>11.2f}{wc_ms:>10.2f}"
              f"{unhang_ms / wc_ms:>7.1f}{unhang_ms / beyond_ms:>8.1f}{peak:>9.0f}{4 * megabytes + 16:>7.0f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
