#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `unhang probe` costs a program that prints 10 MB/s, a line of 100 bytes at a time.

    bench/probe.py UNHANG [--seconds 10] [--runs 3]

Prints the processor time of unhang itself (not of its children) as a part of one processor, for each run, with the output
to a pipe and to a file. Fails (exit 1) when the median is above 2 %.
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
BAR = 0.02


def own_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")  # utime and stime


def one_run(unhang, seconds, output):
    with tempfile.TemporaryDirectory() as folder:
        command = [unhang, "probe", "--folder", f"{folder}/f", "--", sys.executable, str(ROOT / "tests/e2e/launches.py"), "busy", str(seconds)]
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.DEVNULL)
        begun, used = time.monotonic(), 0.0
        while process.poll() is None and time.monotonic() - begun < seconds:
            time.sleep(0.05)
            used, lasted = own_seconds(process.pid), time.monotonic() - begun
        process.wait()
        return used / lasted


def main():
    parser = argparse.ArgumentParser(description="What a probe costs.")
    parser.add_argument("unhang")
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    worst = 0.0
    for where in ("pipe", "file"):
        shares = []
        for _ in range(options.runs):
            if where == "file":
                with tempfile.TemporaryFile() as output:
                    shares.append(one_run(options.unhang, options.seconds, output))
            else:
                with subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as reader:
                    shares.append(one_run(options.unhang, options.seconds, reader.stdin))
                    reader.stdin.close()
        worst = max(worst, statistics.median(shares))
        print(f"to a {where}: " + ", ".join(f"{share:.2%}" for share in shares) + f" of one processor, median {statistics.median(shares):.2%}")
    print(f"bar: {BAR:.0%}")
    return 0 if worst <= BAR else 1


if __name__ == "__main__":
    sys.exit(main())
