#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The validator itself is tested: every sample is valid, and each of many small mistakes is found.

    validate_test.py
"""

import copy
import importlib.util
import json
import pathlib
import unittest

HERE = pathlib.Path(__file__).resolve().parent
SPEC = importlib.util.spec_from_file_location("validate", HERE / "validate.py")
validate = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(validate)


def load(name):
    return json.loads((HERE / "samples" / f"{name}.json").read_text(encoding="utf-8"))


class VerdictSchema(unittest.TestCase):
    def setUp(self):
        self.schema = validate.read(validate.DEFAULT_SCHEMA)
        self.validator = validate.Validator(self.schema)
        self.peer = validate.peer_validator(self.schema)

    def errors(self, document):
        errors = list(self.validator.errors(document))
        if self.peer is not None:
            self.assertEqual(self.peer.is_valid(document), not errors)
        return errors or list(validate.verdict_errors(document))

    def test_samples_are_valid(self):
        samples = sorted(path.stem for path in (HERE / "samples").glob("*.json"))
        self.assertIn("full", samples)
        for name in samples:
            self.assertEqual(self.errors(load(name)), [], name)

    def test_no_required_key_may_be_missing(self):
        full = load("full")
        self.assertGreater(len(full), 15)
        for key in full:
            broken = copy.deepcopy(full)
            del broken[key]
            self.assertTrue(self.errors(broken), key)
        for outer in ("tool", "verdict", "where", "blast_radius", "recovery", "coverage"):
            for key in full[outer]:
                broken = copy.deepcopy(full)
                del broken[outer][key]
                self.assertTrue(self.errors(broken), f"{outer}.{key}")
        for outer in ("inputs", "culprits", "findings", "alternatives", "evidence", "progress", "timeline", "history", "clocks", "stacks"):
            for key in full[outer][0]:
                broken = copy.deepcopy(full)
                del broken[outer][0][key]
                self.assertTrue(self.errors(broken), f"{outer}[0].{key}")

    def test_mistakes_are_found(self):
        def mistake(change):
            document = load("full")
            change(document)
            return self.errors(document)

        mistakes = {
            "unknown key at the top": lambda d: d.update(extra=1),
            "unknown key inside": lambda d: d["verdict"].update(extra=1),
            "no such category": lambda d: d["verdict"].update(category="hang"),
            "no such state": lambda d: d["verdict"].update(state="halted"),
            "no such kind": lambda d: d["culprits"][0].update(kind="node"),
            "cause is no code": lambda d: d["verdict"].update(cause="Rank Silent"),
            "root is no code": lambda d: d["verdict"].update(root=""),
            "rank as text": lambda d: d["culprits"][0].update(rank="3"),
            "rank as truth value": lambda d: d["culprits"][0].update(rank=True),
            "rank as fraction": lambda d: d["culprits"][0].update(rank=3.5),
            "negative rank": lambda d: d["culprits"][0].update(rank=-1),
            "folded ranks": lambda d: d["blast_radius"].update(ranks="0-3"),
            "rank list holds text": lambda d: d["blast_radius"].update(ranks=["0"]),
            "evidence that is not there": lambda d: d["findings"].append(dict(finding(), evidence=[99])),
            "evidence with a wrong id": lambda d: d["evidence"][0].update(id=7),
            "evidence text too long": lambda d: d["evidence"][0].update(text="x" * 201),
            "time without a zone": lambda d: d["timeline"][0].update(time="2026-11-29T14:01:57"),
            "exit code": lambda d: d.update(exit_code=4),
            "truth as number": lambda d: d["recovery"]["steps"][0].update(changes_the_world=0),
            "another schema": lambda d: d.update(schema="unhang.verdict/2"),
            "inconclusive with culprits": lambda d: d["verdict"].update(category="inconclusive"),
            "culprit and victim": lambda d: d["victims"].append(d["culprits"][0]),
            "culprit and suspect": lambda d: d["suspects"].append(d["culprits"][0]),
        }

        def finding():
            return {"id": "x-1", "category": "healthy", "cause": "unknown", "strength": "low", "text": "", "culprits": [],
                    "evidence": [], "rules_out": []}

        for name, change in mistakes.items():
            self.assertTrue(mistake(change), name)

    def test_a_schema_with_unknown_rules_is_refused(self):
        for schema in ({"type": "object", "dependentRequired": {}}, {"properties": {"a": {"oneOf": []}}}, {"type": "text"},
                       {"$ref": "#/$defs/none"}, {"required": ["a"], "properties": {}}):
            with self.assertRaises(validate.SchemaError):
                validate.Validator(schema)

    def test_doubled_keys_are_refused(self):
        with self.assertRaises(ValueError):
            json.loads('{"a": 1, "a": 2}', object_pairs_hook=validate.unique_keys)


if __name__ == "__main__":
    unittest.main()
