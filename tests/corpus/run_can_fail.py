#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tests/corpus/run.py must refuse wrong answers: tried with a program that always says the same."""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parent / "run.py"
# Says what it was told to say; with ORDER in the folder it says the order of its files, too.
PROGRAM = """#!/usr/bin/env python3
import json, pathlib, sys
here = pathlib.Path(__file__).parent
document = json.loads((here / "answer.json").read_text())
if (here / "ORDER").exists():
    document["files"] = sys.argv[2:]
print(json.dumps(document))
"""


class Corpus(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.program = self.root / "program"
        self.program.write_text(PROGRAM, encoding="utf-8")
        self.program.chmod(0o755)

    def run_case(self, truth, category, cause, culprits, form="nccl_like", with_schema=False):
        shutil.rmtree(self.root / "corpus", ignore_errors=True)
        scenario = self.root / "corpus" / "case"
        (scenario / form).mkdir(parents=True, exist_ok=True)
        for rank in range(2):
            (scenario / form / f"trace_{rank}").write_text("x", encoding="utf-8")
        (scenario / "truth.json").write_text(json.dumps(truth), encoding="utf-8")
        answer = {"verdict": {"category": category, "cause": cause, "confidence": "high"},
                  "culprits": [{"rank": rank} for rank in culprits]}
        (self.root / "answer.json").write_text(json.dumps(answer), encoding="utf-8")
        words = ["--unhang", str(self.program), str(self.root / "corpus")]
        if not with_schema:
            words.append("--no-schema")
        done = subprocess.run([sys.executable, str(SCRIPT), *words],
                              capture_output=True, text=True, check=False)
        return done.returncode, done.stdout

    def assert_passes(self, *case, **options):
        status, output = self.run_case(*case, **options)
        self.assertEqual((status, output.strip()), (0, "corpus: 1 passed, 0 failed"))

    def assert_fails(self, text, *case, **options):
        status, output = self.run_case(*case, **options)
        self.assertEqual(status, 1, output)
        self.assertIn(text, output)
        self.assertIn("corpus: 0 passed, 1 failed", output)

    EXACT = {"acceptable": [{"category": "collective_desync", "causes": ["rank_not_entered"]}], "culprits": [2]}

    def test_document_against_the_schema(self):
        self.assert_fails("the key 'schema' is missing", self.EXACT, "collective_desync", "rank_not_entered", [2], with_schema=True)

    def test_exact_answer(self):
        self.assert_passes(self.EXACT, "collective_desync", "rank_not_entered", [2])
        self.assert_fails("other culprits", self.EXACT, "collective_desync", "rank_not_entered", [2, 3])
        self.assert_fails("other culprits", self.EXACT, "collective_desync", "rank_not_entered", [])
        self.assert_fails("another answer", self.EXACT, "collective_desync", "op_mismatch", [2])
        self.assert_fails("another answer", self.EXACT, "transport_stall", "rank_not_entered", [2])
        self.assert_fails("another answer", self.EXACT, "inconclusive", "unknown", [])
        self.assert_fails("another answer", self.EXACT, "healthy", "none", [])

    def test_within_and_inconclusive(self):
        truth = {"acceptable": [{"category": "transport_stall"}], "culprits_within": [1, 2], "may_be_inconclusive": True}
        self.assert_passes(truth, "transport_stall", "anything", [1])
        self.assert_passes(truth, "inconclusive", "unknown", [])
        self.assert_fails("an innocent rank", truth, "transport_stall", "anything", [0, 1])
        self.assert_fails("must not have culprits", truth, "inconclusive", "unknown", [1])

    def test_native_excuses_native_dumps_only(self):
        truth = {**self.EXACT, "native": "cannot be seen"}
        self.assert_passes(truth, "healthy", "none", [], form="native")
        self.assert_fails("another answer", self.EXACT, "healthy", "none", [], form="native")

    def test_native_does_not_excuse_the_other_form(self):
        self.assert_fails("another answer", {**self.EXACT, "native": "cannot be seen"}, "healthy", "none", [])

    def test_order_of_files_must_not_matter(self):
        (self.root / "ORDER").write_text("", encoding="utf-8")
        self.assert_fails("depends on the order", self.EXACT, "collective_desync", "rank_not_entered", [2])

    def test_no_case_is_a_failure(self):
        (self.root / "corpus").mkdir()
        words = ["--unhang", str(self.program), str(self.root / "corpus")]
        done = subprocess.run([sys.executable, str(SCRIPT), *words],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1)


if __name__ == "__main__":
    unittest.main()
