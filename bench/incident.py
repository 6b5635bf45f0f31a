#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long `unhang diagnose` takes over a whole incident (dumps, RAS, logs and kernel logs of many ranks), beside `wc -l`
over the same warm files in the same run.

    bench/incident.py --unhang build/release/unhang [--ranks 4096] [--gpus-per-host 8] [--entries 3000] [--rounds 3] [--folder DIR]

The folder is made by `unhang simulate` where it is not there yet, and kept when it was named. Each round runs both commands one
after the other; printed are the medians and the median of the ratios, CPU seconds and the peak of memory.
"""

import argparse
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time


def make(unhang, folder, ranks, gpus, entries):
    subprocess.run([unhang, "simulate", "--fault", "gpu_xid", "--sources", "all", "--ranks", str(ranks), "--hosts", str(max(ranks // gpus, 1)),
                    "--groups", "tp=8,pp=4,dp", "--entries", str(entries), "--skew", "2s", "--seed", "3", "-o", folder], check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)


def timed(words, stdin=None):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.monotonic()
    done = subprocess.run(words, stdin=stdin, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    wall = time.monotonic() - begin
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done.returncode, wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, after.ru_maxrss


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--unhang", required=True)
    parser.add_argument("--ranks", type=int, default=4096)
    parser.add_argument("--gpus-per-host", type=int, default=8)
    parser.add_argument("--entries", type=int, default=3000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="unhang-incident-") as scratch:
        folder = pathlib.Path(options.folder or scratch) / "incident"
        if not folder.is_dir():
            make(options.unhang, str(folder), options.ranks, options.gpus_per_host, options.entries)
        files = [path for path in folder.rglob("*") if path.is_file() and path.name != "truth.json"]
        size = sum(path.stat().st_size for path in files)
        listing = pathlib.Path(scratch) / "files"
        listing.write_bytes(b"\0".join(os.fsencode(path) for path in files) + b"\0")
        load = os.getloadavg()[0]
        print(f"{size / 1e6:.0f} MB in {len(files)} files; load {load:.1f} on {os.cpu_count()} cores at the start")
        wc, diagnosed = [], []
        for _ in range(options.rounds + 1):  # the first round warms the files
            wc.append(timed(["wc", "-l", f"--files0-from={listing}"]))
            diagnosed.append(timed([options.unhang, "diagnose", "--json", str(folder)]))
        wc, diagnosed = wc[1:], diagnosed[1:]
        codes = {code for code, *_ in diagnosed}
        print("command      wall s   CPU s   wall/wc  CPU/wc  peak MB")
        print(f"wc -l        {statistics.median(w for _, w, *_ in wc):6.2f}  {statistics.median(c for *_, c, _ in wc):6.2f}")
        ratio = statistics.median(d[1] / w[1] for d, w in zip(diagnosed, wc))
        cpu = statistics.median(d[2] / w[2] for d, w in zip(diagnosed, wc))
        print(f"diagnose     {statistics.median(w for _, w, *_ in diagnosed):6.2f}  {statistics.median(c for *_, c, _ in diagnosed):6.2f}"
              f"  {ratio:7.1f}  {cpu:6.1f}  {max(m for *_, m in diagnosed) / 1024:7.0f}")
        if codes != {2}:
            sys.exit(f"diagnose exited with {sorted(codes)}: 2 is right for this incident")


if __name__ == "__main__":
    main()
