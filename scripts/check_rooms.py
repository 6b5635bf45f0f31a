#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Keeps the house of ARCHITECTURE.md: which room may include which, who may include a third-party header, file sizes.

Reads the source text, not the build: a wrong include fails here even where it would compile.

    scripts/check_rooms.py            the whole tree
    scripts/check_rooms.py FILE…      these files only (pre-commit)
    scripts/check_rooms.py --root DIR another tree (tests)

Prints one line for each fault and exits 1 when there is one; warnings alone exit 0.
"""

import argparse
import fnmatch
import pathlib
import re
import sys

# room -> rooms whose headers it may include. A room that is not here does not exist: add it to ARCHITECTURE.md, too.
ALLOWED = {
    "base": set(),
    "os": {"base"},
    "net": {"os", "base"},
    "model": {"base"},
    "formats": {"model", "base"},
    "join": {"formats", "model", "base"},
    "detect": {"model", "base"},
    "report": {"model", "base"},
    "checks": {"model", "os", "base"},
    "simulate": {"formats", "model", "base"},
    "collect": {"formats", "model", "net", "os", "base"},
    "incident": {"model", "os", "net", "base"},
}
SEES_ALL = {"cli"}

# third-party header -> the files that may include it. One wrapper each, so that a library can be replaced in one place.
THIRD_PARTY = {
    "tl/*": ["src/base/result.h"],
    "fmt/*": ["src/*.cc", "tests/*.cc", "bench/*.cc"],
    "CLI/*": ["src/cli/parse.cc"],
    "archive*.h": ["src/os/archive_walker.cc", "src/os/*_test.cc"],
    "zlib.h": ["src/os/codecs.cc", "src/os/*_test.cc"],
    "bzlib.h": ["src/os/codecs.cc"],
    "lzma.h": ["src/os/codecs.cc"],
    "zstd.h": ["src/os/codecs.cc", "src/os/*_test.cc"],
    "simdjson.h": ["src/formats/*.cc", "src/formats/ras/json_values.h", "src/formats/stacks/json_fields.h"],
    "curl/*": ["src/net/http_client.cc"],
    "nettle/*": ["src/base/sha256.cc"],
    "emmintrin.h": ["src/formats/log/find_text.h"],
    "yaml.h": ["src/checks/yaml_document.cc"],
    "nlohmann/*": ["src/checks/json_document.cc", "src/report/*.cc", "src/simulate/*.cc", "src/collect/*.cc", "src/cli/commands/*.cc", "src/*_test.cc", "tests/*.cc"],
    "gtest/*": ["src/*_test.cc", "tests/*.cc"],
    "gmock/*": ["src/*_test.cc", "tests/*.cc"],
    "rapidcheck*": ["src/*_test.cc", "tests/*.cc"],
}

# Headers of the operating system belong to the rooms that touch it.
OS_HEADERS = ["sys/*", "linux/*", "netinet/*", "arpa/*", "unistd.h", "fcntl.h", "poll.h", "spawn.h", "dirent.h", "signal.h",
              "netdb.h", "malloc.h", "pthread.h", "sched.h", "termios.h", "glob.h", "fnmatch.h", "dlfcn.h", "pwd.h", "grp.h", "regex.h", "sysexits.h"]
OS_FILES = ["src/os/*", "src/net/*", "src/cli/*", "src/*_test.cc", "tests/*", "bench/*"]

C_HEADERS = {"errno.h", "stdint.h", "stddef.h", "string.h", "time.h", "math.h", "limits.h"}
STANDARD = re.compile(r"^[a-z_0-9]+$")  # <vector>, <cstdint>, <span> …
# iostream: static initialisers and slow start; regex: unusably slow on logs and recursive on hostile input.
BANNED = {"iostream", "regex", "bits/stdc++.h"}

BANNED_STEMS = {"util", "utils", "common", "helper", "helpers", "misc", "stuff"}
LONG_FILE, TOO_LONG_FILE = 400, 600

INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)')


def matches(path, patterns):
    return any(fnmatch.fnmatchcase(path, pattern) for pattern in patterns)


def room_of(path):
    parts = path.split("/")
    return parts[1] if len(parts) > 2 and parts[0] == "src" else None


def check_own_include(path, room, name):
    """A quoted include: must name a room that `room` may see. tests/ and bench/ (room None) see everything."""
    if "/" not in name or name.startswith("."):
        return f'"{name}": own headers are included from src/, as "room/file.h"'
    target = name.split("/")[0]
    if target not in ALLOWED and target not in SEES_ALL:
        return f'"{name}": there is no room "{target}" (third-party headers go in <…>)'
    if room is None or room in SEES_ALL or target == room or target in ALLOWED.get(room, set()):
        return None
    may = ", ".join(sorted(ALLOWED.get(room, set()))) or "no other room"
    return f'"{name}": {room} may include {may}'


def check_foreign_include(path, name):
    if name in BANNED:
        return f"<{name}> is not used in this project (scripts/check_rooms.py says why)"
    if STANDARD.match(name) or name in C_HEADERS:
        return None
    if matches(name, OS_HEADERS):
        return None if matches(path, OS_FILES) else f"<{name}>: the operating system is the business of os and cli"
    for pattern, files in THIRD_PARTY.items():
        if fnmatch.fnmatchcase(name, pattern):
            return None if matches(path, files) else f"<{name}> may be included only by {', '.join(files)}"
    return f"<{name}> is not declared in the table of scripts/check_rooms.py"


def check_file(root, path):
    """Yields (line, severity, text)."""
    text = (root / path).read_text(encoding="utf-8", errors="replace")
    lines = text.splitlines()
    room = room_of(path)
    if path.startswith("src/") and room is None:
        yield 1, "error", "a file directly in src/: put it in a room"
    if room is not None and room not in ALLOWED and room not in SEES_ALL:
        yield 1, "error", f'unknown room "{room}": rooms are declared in scripts/check_rooms.py and ARCHITECTURE.md'
        return
    stem = pathlib.PurePosixPath(path).name.split(".")[0].removesuffix("_test")
    if stem in BANNED_STEMS:
        yield 1, "error", f'a file called "{stem}" says nothing: name it for what it does'
    if not lines or "SPDX-License-Identifier: Apache-2.0" not in lines[0]:
        yield 1, "error", "the first line must be // SPDX-License-Identifier: Apache-2.0"
    if path.endswith(".h") and "#pragma once" not in text:
        yield 1, "error", "header without #pragma once"
    if len(lines) > TOO_LONG_FILE:
        yield len(lines), "error", f"{len(lines)} lines; more than {TOO_LONG_FILE} is two files"
    elif len(lines) > LONG_FILE:
        yield len(lines), "warning", f"{len(lines)} lines; {LONG_FILE} is long"
    for number, line in enumerate(lines, 1):
        include = INCLUDE.match(line)
        if not include:
            continue
        own, foreign = include.groups()
        fault = check_own_include(path, room, own) if own else check_foreign_include(path, foreign)
        if fault:
            yield number, "error", fault


def check_cmake(root):
    """The libraries must not be linked along arrows that the includes may not take."""
    deps = {}
    for name, rest in re.findall(r"^\s*unhang_room\(NAME\s+(\w+)([^)]*)\)", (root / "CMakeLists.txt").read_text(), re.M):
        found = re.search(r"DEPS\s+([^A-Z)]*)", rest)
        deps[name] = set(found.group(1).split()) if found else set()
    for room, direct in sorted(deps.items()):
        if room in SEES_ALL:
            continue
        for dep in sorted(direct - ALLOWED.get(room, set())):
            yield f"CMakeLists.txt: error: room {room} links {dep}, which it may not include"


def check_map(root):
    """ARCHITECTURE.md must show each room that exists."""
    page = root / "ARCHITECTURE.md"
    text = page.read_text(encoding="utf-8") if page.exists() else ""
    for folder in sorted((root / "src").iterdir()):
        if folder.is_dir() and f"{folder.name}/" not in text:
            yield f"ARCHITECTURE.md: error: does not show the room src/{folder.name}/"


def source_files(root):
    for top in ("src", "tests", "bench"):
        for path in sorted((root / top).rglob("*")):
            if path.suffix in {".cc", ".h", ".c"} and path.is_file():
                yield path.relative_to(root).as_posix()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    parser.add_argument("files", nargs="*")
    options = parser.parse_args()

    errors = warnings = checked = 0
    for path in options.files or source_files(options.root):
        if not path.endswith((".cc", ".h", ".c")):
            continue
        checked += 1
        for line, severity, text in check_file(options.root, path):
            print(f"{path}:{line}: {severity}: {text}")
            errors += severity == "error"
            warnings += severity == "warning"
    if not options.files:
        if checked == 0:
            print("error: no source files found")
            errors += 1
        for text in [*check_cmake(options.root), *check_map(options.root)]:
            print(text)
            errors += 1
    print(f"rooms: {checked} files, {errors} errors, {warnings} warnings")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
