#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the readable tests of the command line: tests/cli/*.test.

    tests/cli/run.py BINARY              all of them
    tests/cli/run.py BINARY FILE…        these files only
    tests/cli/run.py BINARY -k WORD      tests whose name holds WORD

A test is a block of lines; empty lines and # lines separate blocks:

    NAME an unknown flag gets a hint
    RUN unhang version --jsn
    EXIT 64
    STDERR_HAS did you mean '--json'?
    STDOUT_IS

RUN is a line of bash, in an empty folder of its own; further RUN lines follow in the same shell. `unhang` is the binary
under test, $SOURCE the root of the repository.

    EXIT n                   the exit status, 0 when the line is missing
    STDOUT_HAS text          somewhere in it; STDOUT_LACKS text: nowhere in it
    STDOUT_MATCHES regex     somewhere in it (Python's re, ^ and $ at lines)
    STDOUT_IS                all of it: the "| " lines that follow; none: it is empty
    STDOUT_WIDTH n           no line is longer than n columns
    STDOUT_LINES n m         it has n to m lines
    STDERR_…                 the same for standard error
    NEEDS program            skip the test where this program is not installed

Standard error must be empty unless a line says something about it.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unicodedata

HERE = pathlib.Path(__file__).resolve().parent
TIMEOUT_S = 120
STREAMS = ("STDOUT", "STDERR")
CHECKS = ("HAS", "LACKS", "MATCHES", "IS", "WIDTH", "LINES")


class BadTest(Exception):
    pass


def columns(line):
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)


class Test:
    def __init__(self, file, line):
        self.where = f"{file.name}:{line}"
        self.name = ""
        self.run = []
        self.exit = None
        self.needs = []
        self.checks = []  # (stream, check, argument)

    def add(self, keyword, argument, bar_lines):
        stream, _, check = keyword.partition("_")
        if keyword == "NAME" and not self.name:
            self.name = argument
        elif keyword == "RUN":
            self.run.append(argument)
        elif keyword == "EXIT" and self.exit is None:
            self.exit = int(argument)
        elif keyword == "NEEDS":
            self.needs.append(argument)
        elif stream in STREAMS and check in CHECKS:
            if check == "IS":
                argument = "".join(line + "\n" for line in bar_lines)
            elif not argument:
                raise BadTest(f"{self.where}: {keyword} needs an argument")
            self.checks.append((stream, check, argument))
        else:
            raise BadTest(f"{self.where}: what is '{keyword} {argument}'?")
        if bar_lines and check != "IS":
            raise BadTest(f"{self.where}: '| ' lines belong to STDOUT_IS or STDERR_IS")

    def finish(self):
        if not self.name or not self.run:
            raise BadTest(f"{self.where}: a test needs a NAME and a RUN")
        if self.exit is None and not self.checks:
            raise BadTest(f"{self.where}: '{self.name}' checks nothing")
        if not any(stream == "STDERR" for stream, _, _ in self.checks):
            self.checks.append(("STDERR", "IS", ""))
        return self


def read_tests(file):
    tests, current, pending = [], None, None

    def flush_line():
        nonlocal pending
        if pending:
            current.add(*pending)
        pending = None

    def flush_test():
        nonlocal current
        flush_line()
        if current:
            tests.append(current.finish())
        current = None

    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            flush_test()
        elif line.startswith("|"):
            if not pending:
                raise BadTest(f"{file.name}:{number}: nothing for this line to belong to")
            pending[2].append(line[2:])
        else:
            if current is None:
                current = Test(file, number)
            flush_line()
            keyword, _, argument = line.partition(" ")
            pending = (keyword, argument, [])
    flush_test()
    if not tests:
        raise BadTest(f"{file.name}: no tests in it")
    return tests


def verdict(text, check, argument):
    """None when it holds, else what is wrong."""
    if check == "HAS":
        return None if argument in text else f"lacks: {argument}"
    if check == "LACKS":
        return None if argument not in text else f"has: {argument}"
    if check == "MATCHES":
        return None if re.search(argument, text, re.M) else f"does not match: {argument}"
    if check == "IS":
        return None if text == argument else f"is not:\n{argument}"
    if check == "WIDTH":
        wide = [line for line in text.splitlines() if columns(line) > int(argument)]
        return f"has a line of {columns(wide[0])} columns: {wide[0]}" if wide else None
    low, high = (int(word) for word in argument.split())
    lines = len(text.splitlines())
    return None if low <= lines <= high else f"has {lines} lines"


def run_test(test, binary):
    """The list of what is wrong."""
    with tempfile.TemporaryDirectory(prefix="unhang-cli-") as folder:
        tools = pathlib.Path(folder) / "bin"
        work = pathlib.Path(folder) / "work"
        tools.mkdir()
        work.mkdir()
        (tools / "unhang").symlink_to(binary)
        environment = {"PATH": f"{tools}:{os.environ.get('PATH', '/usr/bin:/bin')}", "HOME": folder, "LC_ALL": "C.UTF-8",
                       "TERM": "dumb", "SOURCE": str(HERE.parent.parent)}
        for name, value in os.environ.items():  # sanitizers
            if name.endswith("SAN_OPTIONS"):
                environment[name] = value
        try:
            done = subprocess.run(["bash", "-c", "\n".join(test.run)], cwd=work, env=environment, stdin=subprocess.DEVNULL,
                                  capture_output=True, timeout=TIMEOUT_S, check=False)
        except subprocess.TimeoutExpired:
            return [f"did not end within {TIMEOUT_S} s"]
    output = {"STDOUT": done.stdout.decode("utf-8", "backslashreplace"),
              "STDERR": done.stderr.decode("utf-8", "backslashreplace")}
    faults = []
    if done.returncode != (test.exit or 0):
        faults.append(f"exit status is {done.returncode}, not {test.exit or 0}")
    for stream, check, argument in test.checks:
        fault = verdict(output[stream], check, argument)
        if fault:
            faults.append(f"{stream} {fault}")
    if faults:
        for stream, text in output.items():
            faults.append(f"{stream} was:\n{text[:4000]}" if text else f"{stream} was empty")
    return faults


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary", type=pathlib.Path)
    parser.add_argument("files", type=pathlib.Path, nargs="*")
    parser.add_argument("-k", metavar="WORD", default="", help="only tests whose name holds WORD")
    options = parser.parse_args()
    binary = options.binary.resolve()
    if not os.access(binary, os.X_OK):
        print(f"{binary} is not a program")
        return 2

    try:
        tests = [test for file in options.files or sorted(HERE.glob("*.test")) for test in read_tests(file)]
    except (BadTest, ValueError, OSError) as error:
        print(f"bad test: {error}")
        return 2
    passed = skipped = failed = 0
    for test in tests:
        if options.k not in test.name:
            continue
        missing = [program for program in test.needs if not shutil.which(program)]
        if missing:
            print(f"skip {test.where}: {test.name} (no {missing[0]})")
            skipped += 1
            continue
        faults = run_test(test, binary)
        if faults:
            failed += 1
            print(f"FAIL {test.where}: {test.name}")
            for command in test.run:
                print(f"     $ {command}")
            print("     " + "\n".join(faults).replace("\n", "\n     "))
        else:
            passed += 1
    print(f"cli: {passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed or passed == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
