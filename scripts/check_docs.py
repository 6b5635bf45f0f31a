#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs what the docs show, so that they cannot drift from the program.

    scripts/check_docs.py --unhang build/release/unhang             every page of the project
    scripts/check_docs.py --unhang build/release/unhang --update    writes what the program prints into the pages

In a ```console block, a line "$ unhang …" or "$ ./…" is a command; the lines up to the next "$ " are its output (stdout
and stderr as a terminal shows them; a line "..." stands for any lines; no output shown means that it is not compared).
Comments before a block change that:

    <!-- exit: 2 -->          the exit status of each command in it (0 where nothing is said)
    <!-- not run: reason -->  the block is for reading only

Commands run in a folder that looks like the repository root and is thrown away. Also checked: links between pages, and that
docs/dependencies.md and scripts/packages.txt say the same, and that each detector and format has its page.
"""

import argparse
import difflib
import os
import pathlib
import re
import subprocess
import sys
import tempfile

PAGES = ("*.md", "docs/**/*.md", "examples/**/*.md")
EXIT = re.compile(r"^<!-- exit: (\d+) -->$")
NOT_RUN = re.compile(r"^<!-- not run: \S.* -->$")
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)\s]*)?\)")
SECONDS = 60


class Block:
    """One ```console block: the lines between its fences, and what the comment before it says."""

    def __init__(self, page, first_line, status, skipped):
        self.page, self.first_line, self.status, self.skipped = page, first_line, status, skipped
        self.lines = []

    def commands(self):
        """(line number, command, expected output lines) of each command."""
        found = []
        for number, line in enumerate(self.lines, self.first_line):
            if line.startswith("$ "):
                found.append((number, line[2:], []))
            elif found:
                found[-1][2].append(line)
        return found


def blocks_of(page, text):
    blocks, current, fence = [], None, None
    comment = ""
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if fence:
            if stripped == fence:
                fence = current = None
            elif current:
                current.lines.append(line)
        elif stripped.startswith("```"):
            fence = "```"
            if stripped == "```console":
                status = EXIT.match(comment)
                current = Block(page, number + 1, int(status.group(1)) if status else 0, bool(NOT_RUN.match(comment)))
                blocks.append(current)
            comment = ""
        elif stripped:
            comment = stripped
    return blocks


def matches(expected, actual):
    """Whether the lines match, "..." standing for any lines."""
    pieces, piece = [], []
    for line in expected:
        if line.strip() == "...":
            pieces.append(piece)
            piece = []
        else:
            piece.append(line)
    pieces.append(piece)
    if len(pieces) == 1:
        return pieces[0] == actual
    if len(actual) < sum(map(len, pieces)) or actual[: len(pieces[0])] != pieces[0]:
        return False
    last = pieces.pop()
    end = len(actual) - len(last)
    if actual[end:] != last:
        return False
    at = len(pieces[0])
    for piece in pieces[1:]:
        while at + len(piece) <= end and actual[at : at + len(piece)] != piece:
            at += 1
        if at + len(piece) > end:
            return False
        at += len(piece)
    return True


class Runner:
    def __init__(self, root, unhang):
        self.folder = tempfile.TemporaryDirectory()
        self.cwd = pathlib.Path(self.folder.name)
        for entry in root.iterdir():
            if entry.name not in (".git", "build"):
                (self.cwd / entry.name).symlink_to(entry)
        programs = self.cwd / ".programs"
        programs.mkdir()
        (programs / "unhang").symlink_to(unhang.resolve())
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("UNHANG_") and k != "NO_COLOR"}
        self.environment |= {"PATH": f"{programs}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8", "COLUMNS": "80"}

    def run(self, command):
        done = subprocess.run(["bash", "-c", command], cwd=self.cwd, env=self.environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=SECONDS, check=False)
        output = done.stdout.decode("utf-8", "replace")
        return done.returncode, [line.rstrip() for line in output.rstrip("\n").split("\n")] if output else []


def check_block(block, runner):
    """Yields (line, fault, new lines or None) for each command."""
    for number, command, expected in block.commands():
        if not command.startswith(("unhang ", "./")):
            yield number, f"neither unhang nor ./…: mark the block with <!-- not run: why -->: {command}", None
            continue
        while expected and not expected[-1].strip():
            expected = expected[:-1]
        try:
            status, actual = runner.run(command)
        except subprocess.TimeoutExpired:
            yield number, f"still running after {SECONDS} s: {command}", None
            continue
        if status != block.status:
            yield number, f"exit status {status}, the page says {block.status}: {command}\n" + "\n".join(actual[-20:]), None
        elif expected and not matches([line.rstrip() for line in expected], actual):
            diff = "\n".join(difflib.unified_diff(expected, actual, "page", "program", lineterm=""))
            yield number, f"prints something else: {command}\n{diff}", (number, len(expected), actual)
        else:
            yield number, None, None


def check_links(root, page, text):
    for number, line in enumerate(text.splitlines(), 1):
        for target in LINK.findall(line):
            if "://" not in target and not target.startswith("mailto:") and not (page.parent / target).exists():
                yield f"{page.relative_to(root)}:{number}: link to {target}, which does not exist"


def check_packages(root):
    listed = set()
    for line in (root / "scripts/packages.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            purpose, package, version = line.split()
            listed.add((package, version, purpose))
    page = (root / "docs/dependencies.md").read_text(encoding="utf-8")
    shown = set(re.findall(r"^\| `([^`]+)` \| ([^ |]+) \| ([a-z]+) \|", page, re.M))
    for package, version, purpose in sorted(listed ^ shown):
        where = "not in docs/dependencies.md" if (package, version, purpose) in listed else "not in scripts/packages.txt"
        yield f"docs/dependencies.md: {package} {version} ({purpose}) is {where}"


def check_catalogues(root):
    """What the catalogues in the code list has a page, and each page is of something that is listed."""
    sources = "".join(path.read_text(encoding="utf-8") for path in sorted((root / "src/detect").glob("*.cc")))
    detectors = set(re.findall(r'\bDetector\{\s*"(\w+)"', sources))
    pages = {page.stem for page in (root / "docs/detectors").glob("*.md")} - {"README"}
    index = (root / "docs/detectors/README.md").read_text(encoding="utf-8")
    for name in sorted(detectors - pages):
        yield f"docs/detectors: no page for the detector {name}"
    for name in sorted(pages - detectors):
        yield f"docs/detectors/{name}.md: there is no such detector"
    for name in sorted(name for name in detectors if f"[{name}]({name}.md)" not in index):
        yield f"docs/detectors/README.md: does not list {name}"

    causes = "".join(path.read_text(encoding="utf-8") for path in sorted((root / "src/model/causes").glob("*.cc")))
    codes = set(re.findall(r'\.code = "(\w+)"', causes))
    for page in sorted((root / "docs/detectors").glob("*.md")):
        named = re.findall(r"^(?:\*\*Causes\.\*\* .*|\| \d+ \|.*)$", page.read_text(encoding="utf-8"), re.M)
        for code in re.findall(r"`([a-z0-9_]+)`", " ".join(line.split("(category")[0] for line in named)):
            if code not in codes:
                yield f"{page.relative_to(root)}: {code} is not in the catalogue of causes"

    formats = (root / "src/formats/catalogue.cc").read_text(encoding="utf-8")
    for name in sorted(set(re.findall(r'"(\w+\.md)"', formats))):
        if not (root / "docs/formats" / name).exists():
            yield f"docs/formats: no page {name}, which src/formats/catalogue.cc names"


def update(page, changes):
    lines = page.read_text(encoding="utf-8").splitlines()
    for number, old_length, new in sorted(changes, reverse=True):
        if not any(line.strip() == "..." for line in lines[number : number + old_length]):
            lines[number : number + old_length] = new
    page.write_text("\n".join(lines) + "\n", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    parser.add_argument("--unhang", type=pathlib.Path, required=True)
    parser.add_argument("--update", action="store_true", help="write the real output into the pages")
    options = parser.parse_args()
    root = options.root.resolve()
    if not options.unhang.exists():
        parser.error(f"no program at {options.unhang}; build it first")

    runner = Runner(root, options.unhang)
    faults, ran, skipped = [], 0, 0
    pages = sorted({page for pattern in PAGES for page in root.glob(pattern)})
    for page in pages:
        text = page.read_text(encoding="utf-8")
        faults += check_links(root, page, text)
        changes = []
        for block in blocks_of(page, text):
            if block.skipped:
                skipped += 1
                continue
            for number, fault, change in check_block(block, runner):
                ran += 1
                if change and options.update:
                    changes.append(change)
                elif fault:
                    faults.append(f"{page.relative_to(root)}:{number}: {fault}")
        if changes:
            update(page, changes)
    if (root / "scripts/packages.txt").exists():
        faults += check_packages(root)
    if (root / "src/detect").is_dir():
        faults += check_catalogues(root)
    if ran == 0:
        faults.append("no command found in any page: nothing was checked")
    for fault in faults:
        print(fault)
    print(f"docs: {len(pages)} pages, {ran} commands run, {skipped} blocks for reading only, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
