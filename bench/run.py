#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures `unhang diagnose` beside `wc -l` over the same warm files, in turn, in one run.

    cmake --preset release -DUNHANG_BENCH=ON && cmake --build build/release --target benchmarks
    bench/run.py --build build/release            all sizes (writes about 1.6 GB below the data folder, kept for next time)
    bench/run.py --build build/release --most 256 the small ones

For each size: median wall time of `unhang diagnose` and of `wc -l`, their ratio (median of the ratios pair by pair, so that
it holds when the machine's speed drifts), and the peak memory. Ratios mean something on a noisy machine; single times do
not. Limits, from the project's issues: at most 10 times `wc -l` and 400 MB for 1,024 x 2,000; 1 GB for 64 x 65,536.
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import time

# ranks, entries, frames, tp
SIZES = [(8, 2000, 8, 0), (64, 2000, 8, 0), (256, 2000, 8, 0), (1024, 2000, 8, 0), (1024, 2000, 8, 8), (64, 65536, 8, 0)]


def timed(words):
    begin = time.monotonic()
    child = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
    errors = child.stderr.read()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return time.monotonic() - begin, usage.ru_maxrss / 1024, child.returncode, errors


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build/release", type=pathlib.Path)
    parser.add_argument("--data", default="build/bench", type=pathlib.Path)
    parser.add_argument("--most", default=1 << 30, type=int, help="skip jobs with more ranks")
    parser.add_argument("--runs", default=5, type=int)
    options = parser.parse_args()
    print(f"{'ranks x entries':<28}{'MB':>6}{'unhang s':>10}{'wc -l s':>9}{'ratio':>7}{'peak MB':>9}")
    for ranks, entries, frames, tp in SIZES:
        if ranks > options.most:
            continue
        folder = options.data / f"{ranks}x{entries}x{frames}tp{tp}"
        if not (folder / f"nccl_trace_rank_{ranks - 1}").exists():
            subprocess.run([str(options.build / "bench_dumps"), str(folder), str(ranks), str(entries), str(frames), str(tp)], check=True)
        files = sorted(str(path) for path in folder.iterdir())
        megabytes = sum(os.path.getsize(path) for path in files) / 1e6
        ours, theirs, peak = [], [], 0
        for turn in range(options.runs + 1):
            wall, memory, code, errors = timed([str(options.build / "unhang"), "diagnose", str(folder)])
            if code != 2:
                sys.exit(f"unhang ended with {code}: {errors.decode()}")
            yardstick, _, _, _ = timed(["wc", "-l", *files])
            if turn == 0:
                continue  # warms the page cache
            ours.append(wall)
            theirs.append(yardstick)
            peak = max(peak, memory)
        ratio = statistics.median(a / b for a, b in zip(ours, theirs))
        label = f"{ranks} x {entries}" + (f", world+tp{tp}+dp" if tp else "")
        print(f"{label:<28}{megabytes:>6.0f}{statistics.median(ours):>10.3f}{statistics.median(theirs):>9.3f}{ratio:>7.1f}{peak:>9.0f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
