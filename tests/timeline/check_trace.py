#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks a trace against the rules of the Trace Event Format that viewers depend on.

    tests/timeline/check_trace.py trace.json     prints what it holds, one count a line; exit 1 where a rule is broken
"""

import collections
import json
import sys

KNOWN = {"M", "X", "s", "t", "f", "i"}


def ns(microseconds):
    """Exact nanoseconds of a number that was read as text."""
    whole, _, rest = microseconds.partition(".")
    assert len(rest) == 3, f"{microseconds} has no three digits"
    return int(whole) * 1000 + int(rest)


def check_event(event):
    assert event["ph"] in KNOWN, event
    assert type(event["pid"]) is int and type(event["tid"]) is int, event
    assert isinstance(event["name"], str) and event["name"], event
    if event["ph"] == "M":
        assert set(event["args"]) <= {"name", "sort_index"} and event["args"], event
        return
    assert ns(event["ts"]) >= 0, event
    if event["ph"] == "X":
        assert ns(event["dur"]) > 0, event
        assert event["args"]["group"] and event["args"]["state"], event


def check_nesting(thread, slices):
    """Slices of a thread follow each other or lie inside each other."""
    ends = []
    for start, end, name in sorted(slices, key=lambda s: (s[0], -s[1])):
        while ends and ends[-1] <= start:
            ends.pop()
        assert not ends or end <= ends[-1], f"thread {thread}: {name} at {start} crosses the end of another slice"
        ends.append(end)


def check_flows(flows, slices):
    for flow, events in flows.items():
        phases = [event["ph"] for event in events]
        ordered = sorted(events, key=lambda e: (ns(e["ts"]), "stf".index(e["ph"])))
        assert phases.count("s") == 1 and phases.count("f") == 1, f"arrows {flow}: {phases}"
        assert ordered[0]["ph"] == "s" and ordered[-1]["ph"] == "f", f"arrows {flow} do not follow time"
        for event in events:
            at = ns(event["ts"])
            inside = any(start <= at < end for start, end, _ in slices[event["pid"], event["tid"]])
            assert inside, f"arrows {flow}: no slice at {event}"


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        trace = json.load(file, parse_float=str)
    events = trace["traceEvents"]
    slices, flows, named = collections.defaultdict(list), collections.defaultdict(list), set()
    for event in events:
        check_event(event)
        thread = (event["pid"], event["tid"])
        if event["ph"] == "X":
            slices[thread].append((ns(event["ts"]), ns(event["ts"]) + ns(event["dur"]), event["name"]))
        elif event["ph"] in "stf":
            flows[event["id"]].append(event)
        elif event["name"] == "thread_name":
            named.add(thread)
    assert set(slices) <= named, "a thread has no name"
    for thread, own in slices.items():
        check_nesting(thread, own)
    check_flows(flows, slices)
    print("processes", len({event["pid"] for event in events}))
    print("threads", len(named))
    print("slices", sum(map(len, slices.values())))
    print("unfinished", sum("(never finished)" in name for own in slices.values() for _, _, name in own))
    print("joined", len(flows))
    print("marks", sum(event["ph"] == "i" for event in events))


if __name__ == "__main__":
    try:
        main()
    except AssertionError as fault:
        sys.exit(f"check_trace: {fault}")
