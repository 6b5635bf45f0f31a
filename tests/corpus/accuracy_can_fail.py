#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bench/accuracy.py must count rightly and refuse what is below its floors: tried with a program that says what it is told."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
SCRIPT = HERE.parents[1] / "bench" / "accuracy.py"
sys.path.insert(0, str(HERE))
import incident  # noqa: E402

PROGRAM = """#!/usr/bin/env python3
import pathlib
print((pathlib.Path(__file__).parent / "answer.json").read_text())
"""
HOSTS = [{"name": "node01", "address": "10.20.0.11", "processes": [{"rank": 0, "pid": 50, "gpu": "0000:1b:00"},
                                                                   {"rank": 1, "pid": 53, "gpu": "0000:43:00"}]},
         {"name": "node02", "address": "10.20.0.12", "processes": [{"rank": 2, "pid": 50, "gpu": "0000:1b:00"},
                                                                   {"rank": 3, "pid": 53, "gpu": "0000:43:00"}]}]
INCIDENT = {"acceptable": [{"category": "process_or_device_unavailable", "causes": ["gpu_xid"]},
                           {"category": "collective_desync"}],
            "culprits": [2], "culprit_hosts": ["node02"], "hosts": HOSTS}
LOG = {"name": "x", "source": "x", "cause_as_established": "x", "acceptable_categories": ["transport_stall", "inconclusive"],
       "strength": "confirmed", "culprit": {"host": "node02"}, "fix": "x", "lines": "x", "reading_notes": "x"}


class Accuracy(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.program = self.root / "program"
        self.program.write_text(PROGRAM, encoding="utf-8")
        self.program.chmod(0o755)

    def run_case(self, truth, category, cause, confidence, culprits, *floors):
        case = self.root / "corpus" / "case"
        case.mkdir(parents=True, exist_ok=True)
        (case / "truth.json").write_text(json.dumps(truth), encoding="utf-8")
        (case / "input.log").write_text("x", encoding="utf-8")
        fields = dict.fromkeys(("rank", "host", "gpu", "nic", "peer", "pid"))
        answer = {"verdict": {"category": category, "cause": cause, "confidence": confidence, "headline": "x"},
                  "culprits": [{"kind": "rank", **fields, **item} for item in culprits]}
        (self.root / "answer.json").write_text(json.dumps(answer), encoding="utf-8")
        words = [sys.executable, str(SCRIPT), "--unhang", str(self.program), "--json", str(self.root / "corpus")]
        for floor in floors:
            words += ["--floor", floor]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        figures = json.loads(done.stdout) if done.stdout else None
        return done.returncode, figures, done.stderr

    def answer(self, *case):
        status, figures, errors = self.run_case(*case)
        self.assertEqual((status, errors), (0, ""))
        result = figures["results"][0]
        return result["answer"], result["culprit"]

    def test_the_first_answer_is_right_and_another_acceptable(self):
        self.assertEqual(self.answer(INCIDENT, "process_or_device_unavailable", "gpu_xid", "high", [{"rank": 2}]), ("right", "exact"))
        self.assertEqual(self.answer(INCIDENT, "collective_desync", "any", "high", [{"rank": 2}]), ("acceptable", "exact"))

    def test_another_answer_is_honest_only_with_low_confidence(self):
        self.assertEqual(self.answer(INCIDENT, "transport_stall", "x", "low", []), ("honest", "none"))
        self.assertEqual(self.answer(INCIDENT, "transport_stall", "x", "medium", []), ("wrong", "none"))
        self.assertEqual(self.answer(INCIDENT, "inconclusive", "unknown", "low", []), ("honest", None))
        self.assertEqual(self.answer(INCIDENT, "healthy", "unknown", "low", [])[0], "wrong")

    def test_an_innocent_is_wrong_whatever_else_is_right(self):
        self.assertEqual(self.answer(INCIDENT, "collective_desync", "x", "low", [{"rank": 3}]), ("wrong", "wrong"))

    def test_logs_are_judged_by_their_own_rules(self):
        self.assertEqual(self.answer(LOG, "transport_stall", "x", "high", [{"host": "node02"}]), ("right", "exact"))
        self.assertEqual(self.answer(LOG, "inconclusive", "x", "low", []), ("acceptable", "none"))
        self.assertEqual(self.answer(LOG, "transport_stall", "x", "low", [{"host": "node01"}]), ("wrong", "wrong"))
        self.assertEqual(self.answer(LOG, "healthy", "x", "high", [])[0], "wrong")

    def test_floors(self):
        wrong = (INCIDENT, "transport_stall", "x", "high", [{"rank": 1}])
        for floor in ("right-or-acceptable=95", "culprit-exact=99", "high-right=98", "wrong=0", "confident-wrong=0"):
            status, _, errors = self.run_case(*wrong, floor)
            self.assertEqual(status, 1, floor)
            self.assertIn("BELOW THE FLOOR: " + floor.split("=")[0], errors)
        right = (INCIDENT, "collective_desync", "x", "high", [{"rank": 2}])
        self.assertEqual(self.run_case(*right, "right-or-acceptable=100", "confident-wrong=0", "culprit-exact=100")[0], 0)
        self.assertEqual(self.run_case(*right, "no-such-floor=1")[0], 2)

    def test_no_case_and_no_verdict_are_failures(self):
        status, figures, _ = self.run_case({"scenario": "of another kind"}, "healthy", "unknown", "low", [])
        self.assertEqual((status, figures["cases"]), (2, 0))
        self.program.write_text("#!/bin/sh\nexit 70\n", encoding="utf-8")
        status, figures, _ = self.run_case(INCIDENT, "healthy", "unknown", "low", [])
        self.assertEqual((status, figures["broken"]), (2, 1))


class Naming(unittest.TestCase):
    def test_process_and_device_stand_for_their_rank(self):
        self.assertEqual(incident.naming(INCIDENT, [{"host": "node02", "gpu": "0000:1b:00"}]), "exact")
        self.assertEqual(incident.naming(INCIDENT, [{"host": "10.20.0.12", "pid": 50}]), "exact")
        self.assertEqual(incident.naming(INCIDENT, [{"host": "node02", "gpu": "0000:43:00"}]), "innocent")
        self.assertEqual(incident.naming(INCIDENT, [{"host": "node02"}]), "part")
        self.assertEqual(incident.naming(INCIDENT, [{"host": "node01"}]), "innocent")
        self.assertEqual(incident.naming(INCIDENT, []), "none")

    def test_of_a_machines_trouble_its_name_is_enough(self):
        truth = {**INCIDENT, "culprits": [2, 3], "host_suffices": True}
        self.assertEqual(incident.naming(truth, [{"host": "node02"}]), "exact")
        self.assertEqual(incident.naming(truth, [{"rank": 3}]), "exact")
        self.assertEqual(incident.naming(truth, []), "none")

    def test_where_several_may_be_wrong_nobody_need_be_named(self):
        truth = {"acceptable": [], "culprits_within": [1, 2]}
        self.assertEqual(incident.naming(truth, []), "exact")
        self.assertEqual(incident.naming(truth, [{"rank": 1}]), "exact")
        self.assertEqual(incident.naming(truth, [{"rank": 3}]), "innocent")


if __name__ == "__main__":
    unittest.main()
