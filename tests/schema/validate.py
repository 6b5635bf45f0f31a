#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Validates JSON files against a JSON Schema, with the standard library only.

    validate.py [--schema FILE] FILE...     (default schema: docs/schema/verdict-1.json; "-" reads stdin)

Knows the keywords that our schemas use and refuses a schema with any other, so that no rule is silently skipped.
For verdicts it also checks what a schema cannot say: references to evidence point into the list, an inconclusive
verdict has no culprits, nobody is both culprit and suspect. Where python3-jsonschema is installed, its opinion is
asked too and must be the same. Exit: 0 all valid, 1 something is not valid, 2 the call or the schema is wrong.
"""

import argparse
import json
import pathlib
import re
import sys

DEFAULT_SCHEMA = pathlib.Path(__file__).resolve().parents[2] / "docs" / "schema" / "verdict-1.json"
ANNOTATIONS = {"$schema", "$id", "$defs", "title", "description"}
KEYWORDS = {"type", "enum", "const", "required", "properties", "additionalProperties", "items", "$ref", "minItems",
            "maxItems", "pattern", "minimum", "maximum", "minLength", "maxLength", "anyOf"}


class SchemaError(Exception):
    pass


def is_integer(value):
    return isinstance(value, int) and not isinstance(value, bool)


TYPES = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "integer": is_integer,
    "number": lambda value: is_integer(value) or isinstance(value, float),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
}


def same(left, right):
    """Equality as JSON has it: true is not 1."""
    return type(left) is type(right) and left == right


class Validator:
    def __init__(self, schema):
        self.root = schema
        self.check_schema(schema, "#")

    def check_schema(self, schema, at):
        if isinstance(schema, bool):
            return
        if not isinstance(schema, dict):
            raise SchemaError(f"{at}: a schema must be an object or a boolean")
        unknown = set(schema) - KEYWORDS - ANNOTATIONS
        if unknown:
            raise SchemaError(f"{at}: keywords that this validator does not know: {sorted(unknown)}")
        for word in [schema["type"]] if isinstance(schema.get("type"), str) else schema.get("type", []):
            if word not in TYPES:
                raise SchemaError(f"{at}: no such type: {word}")
        if "$ref" in schema:
            self.resolve(schema["$ref"])
        if "pattern" in schema:
            re.compile(schema["pattern"])
        for name in schema.get("required", []):
            if "properties" in schema and name not in schema["properties"]:
                raise SchemaError(f"{at}: required key {name!r} is not described")
        for key in ("properties", "$defs"):
            for name, part in schema.get(key, {}).items():
                self.check_schema(part, f"{at}/{key}/{name}")
        for key in ("items", "additionalProperties"):
            if key in schema:
                self.check_schema(schema[key], f"{at}/{key}")
        for number, part in enumerate(schema.get("anyOf", [])):
            self.check_schema(part, f"{at}/anyOf/{number}")

    def resolve(self, reference):
        if not reference.startswith("#/"):
            raise SchemaError(f"only references inside the document are known: {reference}")
        part = self.root
        for key in reference[2:].split("/"):
            if not isinstance(part, dict) or key not in part:
                raise SchemaError(f"reference to nothing: {reference}")
            part = part[key]
        return part

    def errors(self, value, schema=None, at="$"):
        schema = self.root if schema is None else schema
        if isinstance(schema, bool):
            if not schema:
                yield at, "is not allowed here"
            return
        if "$ref" in schema:
            yield from self.errors(value, self.resolve(schema["$ref"]), at)
        kinds = schema.get("type")
        if kinds is not None:
            kinds = [kinds] if isinstance(kinds, str) else kinds
            if not any(TYPES[kind](value) for kind in kinds):
                yield at, f"should be {' or '.join(kinds)}, is {json.dumps(value)[:60]}"
                return
        if "const" in schema and not same(value, schema["const"]):
            yield at, f"should be {schema['const']!r}, is {value!r}"
        if "enum" in schema and not any(same(value, allowed) for allowed in schema["enum"]):
            yield at, f"{value!r} is not one of {schema['enum']}"
        if "anyOf" in schema and not any(not list(self.errors(value, part, at)) for part in schema["anyOf"]):
            yield at, f"fits none of the {len(schema['anyOf'])} forms: {json.dumps(value)[:60]}"
        if isinstance(value, dict):
            yield from self.object_errors(value, schema, at)
        elif isinstance(value, list):
            yield from self.array_errors(value, schema, at)
        elif isinstance(value, str):
            yield from self.string_errors(value, schema, at)
        elif is_integer(value) or isinstance(value, float):
            if value < schema.get("minimum", value):
                yield at, f"{value} is less than {schema['minimum']}"
            if value > schema.get("maximum", value):
                yield at, f"{value} is more than {schema['maximum']}"

    def object_errors(self, value, schema, at):
        for name in schema.get("required", []):
            if name not in value:
                yield at, f"the key {name!r} is missing"
        properties = schema.get("properties", {})
        for name, part in value.items():
            rule = properties.get(name, schema.get("additionalProperties", True))
            if rule is False:
                yield at, f"the key {name!r} is not in the schema"
            else:
                yield from self.errors(part, rule, f"{at}.{name}")

    def array_errors(self, value, schema, at):
        if len(value) < schema.get("minItems", 0):
            yield at, f"has {len(value)} items, should have at least {schema['minItems']}"
        if len(value) > schema.get("maxItems", len(value)):
            yield at, f"has {len(value)} items, should have at most {schema['maxItems']}"
        if "items" in schema:
            for number, part in enumerate(value):
                yield from self.errors(part, schema["items"], f"{at}[{number}]")

    def string_errors(self, value, schema, at):
        if len(value) < schema.get("minLength", 0):
            yield at, "is too short"
        if len(value) > schema.get("maxLength", len(value)):
            yield at, f"has {len(value)} characters, at most {schema['maxLength']} are allowed"
        if "pattern" in schema and not re.search(schema["pattern"], value):
            yield at, f"{value[:60]!r} does not look like {schema['pattern']}"


def verdict_errors(document):
    """What the schema of the verdict cannot express."""
    count = len(document["evidence"])
    for number, item in enumerate(document["evidence"]):
        if item["id"] != number:
            yield f"$.evidence[{number}].id", f"is {item['id']}, should be its position"

    def references(value, at):
        if isinstance(value, dict):
            for name, part in value.items():
                if name == "evidence" and at != "$":
                    for reference in part:
                        if reference >= count:
                            yield f"{at}.evidence", f"{reference} points at no evidence"
                else:
                    yield from references(part, f"{at}.{name}")
        elif isinstance(value, list):
            for number, part in enumerate(value):
                yield from references(part, f"{at}[{number}]")

    yield from references(document, "$")
    if document["verdict"]["category"] == "inconclusive" and document["culprits"]:
        yield "$.culprits", "an inconclusive verdict names no culprits"
    ranks = [{s["rank"] for s in document[key] if s["kind"] == "rank" and s["rank"] is not None}
             for key in ("culprits", "suspects", "victims")]
    for one, other, what in ((0, 1, "culprit and suspect"), (0, 2, "culprit and victim")):
        both = ranks[one] & ranks[other]
        if both:
            yield "$", f"ranks {sorted(both)} are {what} at once"


def peer_validator(schema):
    """python3-jsonschema, when there is one that knows the schema's draft."""
    try:
        import jsonschema
        return jsonschema.Draft202012Validator(schema)
    except (ImportError, AttributeError):
        return None


def unique_keys(pairs):
    keys = [key for key, _ in pairs]
    doubles = {key for key in keys if keys.count(key) > 1}
    if doubles:
        raise ValueError(f"keys more than once in one object: {sorted(doubles)}")
    return dict(pairs)


def read(path):
    data = sys.stdin.buffer.read() if path == "-" else pathlib.Path(path).read_bytes()
    return json.loads(data.decode("utf-8"), object_pairs_hook=unique_keys)


def main():
    parser = argparse.ArgumentParser(description="Validate JSON files against a JSON Schema.")
    parser.add_argument("--schema", default=str(DEFAULT_SCHEMA))
    parser.add_argument("files", nargs="+")
    arguments = parser.parse_args()
    try:
        schema = read(arguments.schema)
        validator = Validator(schema)
    except (OSError, ValueError, SchemaError) as error:
        print(f"{arguments.schema}: {error}", file=sys.stderr)
        return 2
    peer = peer_validator(schema)
    is_verdict = schema.get("title") == "unhang.verdict/1"
    bad = 0
    for path in arguments.files:
        try:
            document = read(path)
        except (OSError, ValueError) as error:
            print(f"{path}: {error}", file=sys.stderr)
            bad += 1
            continue
        errors = list(validator.errors(document))
        if peer is not None and peer.is_valid(document) == bool(errors):
            errors.append(("$", "python3-jsonschema does not agree: one of the two validators is wrong"))
        if is_verdict and not errors:
            errors = list(verdict_errors(document))
        for at, message in errors[:20]:
            print(f"{path}: {at}: {message}", file=sys.stderr)
        if len(errors) > 20:
            print(f"{path}: … {len(errors) - 20} more", file=sys.stderr)
        bad += bool(errors)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
