#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails when a binary or library needs a newer C or C++ library than the oldest system that we promise to run on.

    scripts/check_symbols.py FILE…                     bounds of Ubuntu 22.04: GLIBC_2.35, GLIBCXX_3.4.30, CXXABI_1.3.13
    scripts/check_symbols.py --max GLIBC=2.31 FILE…    another bound
    scripts/check_symbols.py --carried lib/unhang FILE…  also: each needed library is there or is part of every system

Reads `objdump -T` (which symbol needs which version) and `objdump -p` (versions and libraries needed).
"""

import argparse
import pathlib
import re
import subprocess
import sys

BOUNDS = {"GLIBC": (2, 35), "GLIBCXX": (3, 4, 30), "CXXABI": (1, 3, 13)}
OF_EVERY_SYSTEM = re.compile(r"^(lib(c|m|pthread|dl|rt|stdc\+\+|gcc_s)\.so\.\d+|ld-linux.*\.so\.\d+)$")
# Versions that are not numbers are features of the loader. DT_RELR came with 2.36, so it is above the bound.
NEW_FEATURES = {"GLIBC_ABI_DT_RELR": "GLIBC_2.36"}


def objdump(flag, file):
    return subprocess.run(["objdump", flag, str(file)], check=True, capture_output=True, text=True).stdout


def number(text):
    return tuple(int(part) for part in text.split("."))


def too_new(version, bounds):
    if version in NEW_FEATURES:
        version = NEW_FEATURES[version]
    family, _, rest = version.partition("_")
    return family in bounds and re.fullmatch(r"[0-9.]+", rest) is not None and number(rest) > bounds[family]


def faults(file, bounds, carried):
    headers, symbols = objdump("-p", file), objdump("-T", file)
    references = re.search(r"Version References:\n(.*?)(\n\n|\Z)", headers, re.S)
    needed = set(re.findall(r"\b(?:GLIBC|GLIBCXX|CXXABI)_\w[\w.]*", references.group(1))) if references else set()
    if not needed and "DYNAMIC" not in symbols:
        yield f"{file}: not a dynamic ELF file"
        return
    for version in sorted(needed):
        if too_new(version, bounds):
            users = [line.split()[-1] for line in symbols.splitlines() if f"({version})" in line]
            yield f"{file}: needs {version} ({', '.join(users) or 'a feature of the loader'})"
    if carried is not None:
        for library in re.findall(r"NEEDED\s+(\S+)", headers):
            if not OF_EVERY_SYSTEM.match(library) and not (carried / library).exists():
                yield f"{file}: needs {library}, which {carried} does not carry"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--max", action="append", default=[], metavar="FAMILY=VERSION")
    parser.add_argument("--carried", type=pathlib.Path)
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    bounds = dict(BOUNDS)
    for item in options.max:
        family, _, version = item.partition("=")
        if family not in BOUNDS:
            parser.error(f"--max: {family} is none of {', '.join(BOUNDS)}")
        bounds[family] = number(version)

    found = [fault for file in options.files for fault in faults(file, bounds, options.carried)]
    for fault in found:
        print(fault)
    limits = ", ".join(f"{family}_{'.'.join(map(str, version))}" for family, version in bounds.items())
    print(f"symbols: {len(options.files)} files, {len(found)} faults (bounds {limits})")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
