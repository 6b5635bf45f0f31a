#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""scripts/check_rooms.py must fail where it says that it fails: each case is a small tree with one fault."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "check_rooms.py"
SPDX = "// SPDX-License-Identifier: Apache-2.0\n"
ROOMS = ("base", "os", "model", "formats", "join", "detect", "report", "simulate", "cli")


class CheckRooms(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        for room in ROOMS:
            self.write(f"src/{room}/thing.h", "#pragma once\n")
        self.write_raw("CMakeLists.txt", "unhang_room(NAME base)\nunhang_room(NAME model DEPS base LIBS x::y)\n")
        self.write_raw("ARCHITECTURE.md", "\n".join(f"{room}/" for room in ROOMS))

    def write_raw(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def write(self, path, text):
        self.write_raw(path, SPDX + text)

    def run_check(self, *files):
        done = subprocess.run([sys.executable, str(SCRIPT), "--root", str(self.root), *files], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout

    def assert_fault(self, text, *files):
        status, output = self.run_check(*files)
        self.assertEqual(status, 1, output)
        self.assertIn(text, output)
        self.assertIn(" 1 errors", output)

    def assert_clean(self):
        status, output = self.run_check()
        self.assertEqual(status, 0, output)
        self.assertIn(" 0 errors", output)
        return output

    def test_clean_tree_passes(self):
        self.write("src/detect/a.cc", '#include "detect/thing.h"\n#include <vector>\n#include <fmt/core.h>\n#include "model/thing.h"\n')
        self.write("src/cli/b.cc", '#include "detect/thing.h"\n#include "formats/thing.h"\n')
        self.assert_clean()

    def test_upward_include_fails(self):
        self.write("src/detect/a.cc", '#include "formats/thing.h"\n')
        self.assert_fault('src/detect/a.cc:2: error: "formats/thing.h": detect may include base, model')

    def test_report_sees_no_detector(self):
        self.write("src/report/a.cc", '#include  "detect/thing.h"\n')
        self.assert_fault("report may include base, model")

    def test_base_sees_no_other_room(self):
        self.write("src/base/a.h", '#pragma once\n#include "model/thing.h"\n')
        self.assert_fault("base may include no other room")

    def test_nobody_but_cli_sees_cli(self):
        self.write("src/join/a.cc", '#include "cli/thing.h"\n')
        self.assert_fault("join may include")

    def test_relative_include_fails(self):
        self.write("src/detect/a.cc", '#include "thing.h"\n')
        self.assert_fault("included from src/")

    def test_unknown_room_fails(self):
        self.write("src/misc2/a.cc", "")
        self.write_raw("ARCHITECTURE.md", "\n".join(f"{room}/" for room in (*ROOMS, "misc2")))
        self.assert_fault('unknown room "misc2"')

    def test_room_missing_from_the_map_fails(self):
        self.write_raw("ARCHITECTURE.md", "\n".join(f"{room}/" for room in ROOMS if room != "join"))
        self.assert_fault("does not show the room src/join/")

    def test_third_party_only_by_its_wrapper(self):
        self.write("src/formats/a.cc", "#include <simdjson.h>\n")
        self.assert_clean()
        self.write("src/join/a.cc", "#include <simdjson.h>\n")
        self.assert_fault("<simdjson.h> may be included only by")

    def test_third_party_in_a_header_fails(self):
        self.write("src/report/a.h", "#pragma once\n#include <nlohmann/json.hpp>\n")
        self.assert_fault("<nlohmann/json.hpp> may be included only by")

    def test_undeclared_third_party_fails(self):
        self.write("src/os/a.cc", "#include <boost/asio.hpp>\n")
        self.assert_fault("<boost/asio.hpp> is not declared")

    def test_os_header_outside_os_fails(self):
        self.write("src/os/a.cc", "#include <unistd.h>\n")
        self.assert_clean()
        self.write("src/detect/a.cc", "#include <unistd.h>\n")
        self.assert_fault("<unistd.h>: the operating system is the business of os")

    def test_banned_header_fails(self):
        self.write("src/os/a.cc", "#include <regex>\n")
        self.assert_fault("<regex> is not used")

    def test_names_that_say_nothing_fail(self):
        for stem in ("util", "common", "helpers", "misc"):
            with self.subTest(stem):
                self.write(f"src/base/{stem}.cc", "")
                self.assert_fault(f'a file called "{stem}"')
                (self.root / f"src/base/{stem}.cc").unlink()

    def test_long_file_warns_then_fails(self):
        self.write("src/base/a.cc", "\n" * 450)
        self.assertIn("warning: 451 lines", self.assert_clean())
        self.write("src/base/a.cc", "\n" * 650)
        self.assert_fault("651 lines; more than 600 is two files")

    def test_missing_licence_line_fails(self):
        self.write_raw("src/base/a.cc", "int x;\n")
        self.assert_fault("SPDX-License-Identifier")

    def test_header_without_pragma_once_fails(self):
        self.write("src/base/a.h", "")
        self.assert_fault("header without #pragma once")

    def test_link_against_the_arrows_fails(self):
        self.write_raw("CMakeLists.txt", "unhang_room(NAME base)\nunhang_room(NAME detect DEPS model formats\n LIBS x::y)\n")
        self.assert_fault("room detect links formats")

    def test_only_the_named_files_are_read(self):
        self.write("src/detect/bad.cc", '#include "os/thing.h"\n')
        self.write("src/detect/good.cc", "")
        status, output = self.run_check("src/detect/good.cc")
        self.assertEqual(status, 0, output)
        self.assert_fault("src/detect/bad.cc:2", "src/detect/bad.cc")

    def test_empty_tree_fails(self):
        for path in self.root.rglob("*.h"):
            path.unlink()
        self.assert_fault("no source files found")


if __name__ == "__main__":
    unittest.main()
