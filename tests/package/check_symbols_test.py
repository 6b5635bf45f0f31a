#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""scripts/check_symbols.py must be able to fail: it is tried on the interpreter that runs this test, and on no ELF at all."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "check_symbols.py"
PROGRAM = os.path.realpath("/bin/ls")


def check(*arguments):
    done = subprocess.run([sys.executable, str(SCRIPT), *arguments], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


class CheckSymbols(unittest.TestCase):
    def test_passes_within_a_wide_bound(self):
        self.assertEqual(check("--max", "GLIBC=99", PROGRAM)[0], 0)

    def test_fails_below_what_the_program_needs_and_names_the_symbol(self):
        status, output = check("--max", "GLIBC=2.0", PROGRAM)
        self.assertEqual(status, 1)
        self.assertRegex(output, r"needs GLIBC_2\.\d+ \(.*__libc_start_main.*\)")

    def test_compares_numbers_not_text(self):
        # As text "2.4" would be above "2.35".
        output = check("--max", "GLIBC=2.4", PROGRAM)[1]
        self.assertIn("GLIBC_2.34", output)
        self.assertNotIn("GLIBC_2.2.5", output)

    def test_fails_where_a_library_is_not_carried(self):
        with tempfile.TemporaryDirectory() as empty:
            status, output = check("--max", "GLIBC=99", "--carried", empty, PROGRAM)
        self.assertEqual(status, 1)
        self.assertIn("needs libselinux.so.1, which", output)
        self.assertNotIn("libc.so.6, which", output)

    def test_fails_on_what_is_no_program(self):
        self.assertNotEqual(check(__file__)[0], 0)


if __name__ == "__main__":
    unittest.main()
