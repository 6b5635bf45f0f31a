#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tests/cli/run.py must fail where a program does not do what a test says. The program here is a small shell script."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

RUN = pathlib.Path(__file__).resolve().parent / "run.py"
PROGRAM = "#!/bin/sh\necho 'one two'\necho three\n[ \"$1\" = bad ] && { echo trouble >&2; exit 3; }\nexit 0\n"
GOOD = "NAME n\nRUN unhang\n"
BAD = "NAME n\nRUN unhang bad\nEXIT 3\n"


class CanFail(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.program = self.root / "program"
        self.program.write_text(PROGRAM, encoding="utf-8")
        self.program.chmod(0o755)

    def status(self, test):
        file = self.root / "a.test"
        file.write_text(test, encoding="utf-8")
        done = subprocess.run([sys.executable, RUN, self.program, file], capture_output=True, text=True, check=False)
        self.assertIn(done.returncode, (0, 1, 2), done.stdout + done.stderr)
        return done.returncode

    def test_what_holds_passes(self):
        for line in ("EXIT 0", "STDOUT_HAS one two", "STDOUT_LACKS four", "STDOUT_MATCHES ^th.ee$", "STDOUT_WIDTH 7",
                     "STDOUT_LINES 2 2", "STDERR_IS", "STDOUT_IS\n| one two\n| three"):
            self.assertEqual(self.status(GOOD + line + "\n"), 0, line)
        self.assertEqual(self.status(BAD + "STDERR_HAS trouble\n"), 0)

    def test_what_does_not_hold_fails(self):
        for line in ("EXIT 1", "STDOUT_HAS four", "STDOUT_LACKS three", "STDOUT_MATCHES ^two", "STDOUT_WIDTH 6",
                     "STDOUT_LINES 3 9", "STDERR_HAS trouble", "STDOUT_IS", "STDOUT_IS\n| one two"):
            self.assertEqual(self.status(GOOD + line + "\n"), 1, line)

    def test_unexpected_standard_error_fails(self):
        self.assertEqual(self.status(BAD), 1)

    def test_an_exit_status_that_nobody_expects_fails(self):
        self.assertEqual(self.status("NAME n\nRUN unhang bad\nSTDERR_HAS trouble\n"), 1)

    def test_a_test_that_cannot_fail_or_cannot_be_read_is_an_error(self):
        for test in (GOOD, "RUN unhang\nEXIT 0\n", "NAME n\nEXIT 0\n", GOOD + "STDOUT_HAS\n", GOOD + "STDUOT_HAS one\n",
                     GOOD + "EXIT 0\n| line\n", "| line\n", "# nothing\n"):
            self.assertEqual(self.status(test), 2, test)

    def test_nothing_run_is_no_success(self):
        self.assertEqual(self.status(GOOD + "EXIT 0\nNEEDS a-program-that-nobody-has\n"), 1)


if __name__ == "__main__":
    unittest.main()
