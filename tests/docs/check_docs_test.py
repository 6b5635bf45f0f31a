#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""scripts/check_docs.py must fail where a page and the program differ. The program here is a small shell script."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "check_docs.py"
PROGRAM = """#!/bin/sh
case "$1" in
  lines) printf 'one\\ntwo\\nthree\\nfour\\n' ;;
  fail) echo bad >&2; exit 2 ;;
  write) echo text >written-here ;;
esac
"""


class CheckDocs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.program = self.root / "program"
        self.program.write_text(PROGRAM, encoding="utf-8")
        self.program.chmod(0o755)

    def check(self, page, *options):
        (self.root / "README.md").write_text(page, encoding="utf-8")
        done = subprocess.run([sys.executable, str(SCRIPT), "--root", str(self.root), "--unhang", str(self.program), *options],
                              capture_output=True, text=True, check=False)
        return done.returncode, done.stdout

    def assert_passes(self, page):
        status, output = self.check(page)
        self.assertEqual(status, 0, output)

    def assert_fails(self, page, text):
        status, output = self.check(page)
        self.assertEqual(status, 1, output)
        self.assertIn(text, output)

    @staticmethod
    def block(*lines, before=""):
        return before + "\n```console\n" + "\n".join(lines) + "\n```\n"

    def test_equal_output_passes(self):
        self.assert_passes(self.block("$ unhang lines", "one", "two", "three", "four"))

    def test_different_output_fails_with_its_line(self):
        self.assert_fails(self.block("$ unhang lines", "one", "two", "three"), "README.md:3: prints something else")

    def test_dots_stand_for_any_lines(self):
        for shown in (["one", "...", "four"], ["...", "three", "..."], ["..."], ["one", "...", "two", "three", "four"]):
            with self.subTest(shown):
                self.assert_passes(self.block("$ unhang lines", *shown))
        for shown in (["two", "...", "four"], ["...", "five", "..."], ["one", "...", "three"], ["...", "three", "two", "..."],
                      ["one", "two", "...", "two", "three", "four"]):
            with self.subTest(shown):
                self.assert_fails(self.block("$ unhang lines", *shown), "prints something else")

    def test_no_output_shown_is_not_compared(self):
        self.assert_passes(self.block("$ unhang lines"))

    def test_exit_status_is_compared(self):
        self.assert_fails(self.block("$ unhang fail"), "exit status 2, the page says 0")
        self.assert_passes(self.block("$ unhang fail", "bad", before="<!-- exit: 2 -->"))
        self.assert_fails(self.block("$ unhang lines", before="<!-- exit: 2 -->"), "exit status 0, the page says 2")

    def test_a_status_counts_for_its_own_block_only(self):
        self.assert_fails(self.block("$ unhang fail", before="<!-- exit: 2 -->") + self.block("$ unhang fail"), "the page says 0")

    def test_skipped_blocks_do_not_count_as_run(self):
        skipped = self.block("$ unhang fail", before="<!-- not run: needs a cluster -->")
        self.assert_passes(skipped + self.block("$ unhang lines"))
        self.assert_fails(skipped, "nothing was checked")

    def test_other_commands_must_be_marked(self):
        self.assert_fails(self.block("$ rm -rf x"), "mark the block")

    def test_other_fences_are_not_run(self):
        self.assert_passes("```sh\n$ unhang fail\n```\n" + self.block("$ unhang lines"))

    def test_a_dead_link_fails(self):
        self.assert_fails("[a](nowhere.md)\n" + self.block("$ unhang lines"), "README.md:1: link to nowhere.md")
        self.assert_passes("[a](README.md#b) [c](https://example.org/)\n" + self.block("$ unhang lines"))

    def test_commands_write_beside_the_repository_not_into_it(self):
        self.assert_passes(self.block("$ unhang write", "$ ./program lines"))
        self.assertFalse((self.root / "written-here").exists())

    def test_update_writes_the_real_output(self):
        status, output = self.check(self.block("$ unhang lines", "old", "", "$ unhang lines", "one", "..."), "--update")
        self.assertEqual(status, 0, output)
        self.assertIn("$ unhang lines\none\ntwo\nthree\nfour\n\n$ unhang lines\none\n...\n",
                      (self.root / "README.md").read_text(encoding="utf-8"))

    def test_packages_and_their_page_must_agree(self):
        (self.root / "scripts").mkdir()
        (self.root / "docs").mkdir()
        (self.root / "scripts/packages.txt").write_text("# c\nbuild g++ 12.2.0\n", encoding="utf-8")
        page = self.root / "docs/dependencies.md"
        page.write_text("| `g++` | 12.2.0 | build | compiler |\n", encoding="utf-8")
        self.assert_passes(self.block("$ unhang lines"))
        page.write_text("| `g++` | 11 | build | compiler |\n", encoding="utf-8")
        self.assert_fails(self.block("$ unhang lines"), "g++ 11 (build) is not in scripts/packages.txt")

    def test_catalogues_and_pages_must_agree(self):
        def write(path, text):
            (self.root / path).parent.mkdir(parents=True, exist_ok=True)
            (self.root / path).write_text(text, encoding="utf-8")

        write("src/detect/detector.cc", 'Detector{"lost", "finds", find_lost},')
        write("src/model/causes/a.cc", '{.code = "gone",')
        write("src/formats/catalogue.cc", 'Format{"f", "F", "f.md", x},')
        write("docs/formats/f.md", "")
        write("docs/detectors/README.md", "| 1 | [lost](lost.md) | finds | `gone` |\n")
        write("docs/detectors/lost.md", "**Causes.** `gone` (category `other`).\n")
        page = self.block("$ unhang lines")
        self.assert_passes(page)
        for path, text, fault in [
            ("docs/detectors/README.md", "", "does not list lost"),
            ("docs/detectors/lost.md", "**Causes.** `went`.\n", "went is not in the catalogue of causes"),
            ("docs/detectors/found.md", "", "there is no such detector"),
            ("src/detect/more.cc", 'Detector{"third", ', "no page for the detector third"),
            ("src/formats/catalogue.cc", '"g.md"', "no page g.md"),
        ]:
            with self.subTest(fault):
                before = (self.root / path).read_text(encoding="utf-8") if (self.root / path).exists() else None
                write(path, text)
                self.assert_fails(page, fault)
                if before is None:
                    (self.root / path).unlink()
                else:
                    write(path, before)


if __name__ == "__main__":
    unittest.main()
