#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The judge of RAS verdicts must be able to say no: each wrong verdict here has to be called wrong."""

import sys

import ras


def document(category, confidence="low", culprits=()):
    return {"verdict": {"category": category, "confidence": confidence},
            "culprits": [{"rank": rank} for rank in culprits]}


LAG = {"categories": ["collective_desync"], "culprits": [5], "categories_2.24": ["healthy"]}
QUIET = {"categories": ["healthy", "inconclusive"], "culprits": []}
WITHIN = {"categories": ["transport_stall"], "culprits_within": [6]}

RIGHT = [
    (LAG, "v2.30.7-1", False, document("collective_desync", culprits=[5])),
    (LAG, "v2.30.7-1", True, document("collective_desync")),  # text that names nobody
    (LAG, "v2.30.7-1", True, document("healthy")),            # text that shows nothing
    (LAG, "v2.24.3-1", True, document("healthy")),
    (QUIET, "v2.30.7-1", False, document("inconclusive")),
    (WITHIN, "v2.30.7-1", False, document("transport_stall")),
    (WITHIN, "v2.30.7-1", False, document("transport_stall", culprits=[6])),
]
WRONG = [
    (LAG, "v2.30.7-1", False, document("healthy")),
    (LAG, "v2.30.7-1", False, document("collective_desync")),
    (LAG, "v2.30.7-1", False, document("collective_desync", culprits=[4])),
    (LAG, "v2.30.7-1", False, document("collective_desync", culprits=[5, 6])),
    (LAG, "v2.30.7-1", False, document("collective_desync", "medium", [5])),
    (LAG, "v2.30.7-1", False, document("collective_desync", culprits=[None])),
    (LAG, "v2.30.7-1", True, document("collective_desync", culprits=[4])),
    (LAG, "v2.30.7-1", True, document("transport_stall")),
    (QUIET, "v2.30.7-1", False, document("healthy", culprits=[1])),
    (QUIET, "v2.30.7-1", True, document("process_or_device_unavailable", "high", [1])),
    (WITHIN, "v2.30.7-1", False, document("transport_stall", culprits=[5])),
]


def main():
    faults = [f"called wrong: {case}" for case in RIGHT if ras.judge(*case) is not None]
    faults += [f"called right: {case}" for case in WRONG if ras.judge(*case) is None]
    for fault in faults:
        print(fault)
    print(f"judge of RAS verdicts: {len(RIGHT) + len(WRONG)} tried, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
