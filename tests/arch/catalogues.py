#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Everything in a catalogue must have what belongs to it, or this fails:

    a format    a page in docs/formats/, a fuzz target of its own with seeds
    a detector  a page in docs/detectors/ that its README links, and a test that runs it
    a fault     (src/simulate/) is judged by tests/corpus/simulated.py, which takes the list from the program
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[2]


def text(path):
    return (ROOT / path).read_text(encoding="utf-8")


def main():
    faults = []
    targets = {}
    formats = re.findall(r'Format\{"(\w+)",\s*"[^"]*",\s*"([\w.]+)"', text("src/formats/catalogue.cc"))
    for identity, page in formats:
        # The longest ending of its name that has a target: ras_json for nccl_ras_json, json for flight_recorder_json.
        words = identity.split("_")
        endings = ["_".join(words[first:]) for first in range(len(words))]
        target = next((ending for ending in endings if (ROOT / f"tests/fuzz/{ending}_fuzz.cc").is_file()), identity)
        if not (ROOT / "docs/formats" / page).is_file():
            faults.append(f"format {identity}: no page docs/formats/{page}")
        if not (ROOT / f"tests/fuzz/{target}_fuzz.cc").is_file():
            faults.append(f"format {identity}: no fuzz target tests/fuzz/{target}_fuzz.cc")
        elif not any((ROOT / "tests/fuzz/seeds" / target).iterdir()):
            faults.append(f"format {identity}: no seeds in tests/fuzz/seeds/{target}")
        if target in targets:
            faults.append(f"format {identity}: the fuzz target {target} is that of {targets[target]}")
        targets[target] = identity
    detectors = re.findall(r'Detector\{"(\w+)",\s*(?:"[^"]*"\s*)+,\s*(\w+)\}', text("src/detect/detector.cc"))
    index = text("docs/detectors/README.md")
    tests = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "src/detect").glob("*_test.cc"))
    for identity, function in detectors:
        if not (ROOT / f"docs/detectors/{identity}.md").is_file():
            faults.append(f"detector {identity}: no page docs/detectors/{identity}.md")
        if f"{identity}.md" not in index:
            faults.append(f"detector {identity}: docs/detectors/README.md does not link its page")
        if function not in tests and f'"{identity}' not in tests:
            faults.append(f"detector {identity}: no test in src/detect runs {function}")
    if len(formats) < 2 or len(detectors) < 10:
        faults.append(f"only {len(formats)} formats and {len(detectors)} detectors found: this script reads the catalogues no more")
    for fault in faults:
        print(fault)
    print(f"catalogues: {len(formats)} formats, {len(detectors)} detectors, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
