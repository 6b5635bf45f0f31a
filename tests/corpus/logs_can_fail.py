#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The judge of verdicts on logs must be able to say no: each wrong verdict here has to be called wrong, and each exit status
has to come out of the whole program as well."""

import json
import pathlib
import subprocess
import sys
import tempfile

import logs


def document(category, confidence="low", **culprit):
    return {"verdict": {"category": category, "confidence": confidence}, "culprits": [culprit] if culprit else []}


def truth(*categories, strength="confirmed_by_fix", culprit=None):
    return {"acceptable_categories": list(categories), "strength": strength, "culprit": culprit}


DESYNC = truth("collective_desync", "inconclusive", culprit={"rank": 2, "opCount": "28c"})
GUESSED = truth("collective_desync", strength="suspected", culprit={"rank": 2})
GPU = truth("process_or_device_unavailable", culprit={"pci": "0000:b3:00.0"})
HOST = truth("transport_stall", culprit={"host": "node-48"})
DEVICE = truth("initialization_hang", culprit={"cudaDev": 10})
NIC = truth("transport_stall", culprit={"nic": "mlx5_3", "host": "node4"})
NOBODY = truth("healthy", "inconclusive")

# (truth, verdict, acceptable, confident wrong, culprit)
JUDGED = [
    (DESYNC, document("collective_desync", "high", rank=2), True, False, "right"),
    (DESYNC, document("collective_desync", "high", rank=3), True, True, "wrong"),
    (DESYNC, document("collective_desync", "low", rank=0), True, True, "wrong"),
    (DESYNC, document("collective_desync", "high"), True, False, "none"),
    (DESYNC, document("collective_desync", "high", rank=None, host="node1"), True, False, "none"),
    (DESYNC, document("inconclusive"), True, False, "none"),
    (DESYNC, document("transport_stall"), False, False, "none"),
    (DESYNC, document("transport_stall", "medium"), False, True, "none"),
    (DESYNC, document("healthy", "high"), False, True, "none"),
    (GUESSED, document("collective_desync", "high", rank=3), True, False, "wrong"),
    (GPU, document("process_or_device_unavailable", "high", gpu="B3:00"), True, False, "right"),
    (GPU, document("process_or_device_unavailable", "high", gpu="00000000:b3:00.0"), True, False, "right"),
    (GPU, document("process_or_device_unavailable", "high", gpu="0001:b3:00.0"), True, True, "wrong"),
    (GPU, document("process_or_device_unavailable", "high", gpu="3b:00.0"), True, True, "wrong"),
    (HOST, document("transport_stall", "medium", host="NODE-48"), True, False, "right"),
    (HOST, document("transport_stall", "medium", host="node-51"), True, True, "wrong"),
    (HOST, document("transport_stall", "medium", host="node-51", peer="node-48"), True, False, "right"),
    (DEVICE, document("initialization_hang", "low", gpu="10"), True, False, "right"),
    (DEVICE, document("initialization_hang", "low", gpu="1"), True, True, "wrong"),
    (DEVICE, document("initialization_hang", "low", gpu="0000:10:00.0"), True, False, "none"),
    (NIC, document("transport_stall", "low", nic="mlx5_3:1", host="node4"), True, False, "right"),
    (NIC, document("transport_stall", "low", nic="mlx5_3", host="node5"), True, True, "wrong"),
    (NOBODY, document("healthy", "high"), True, False, None),
    (NOBODY, document("transport_stall", "high"), False, True, None),
    (NOBODY, document("initialization_hang", "low", rank=1), False, False, None),
]

# (how often acceptable, missed, confidently wrong and broken, required percent, exit status)
STATUSES = [
    ((1, 0, 0, 0), 100, 0), ((9, 1, 0, 0), 90, 0), ((8, 2, 0, 0), 85, 1), ((99, 0, 1, 0), 85, 1), ((99, 0, 0, 1), 85, 2),
    ((0, 0, 1, 1), 0, 2), ((0, 0, 0, 0), 0, 2), ((0, 3, 0, 0), 0, 0),
]


def results(acceptable, missed, confident, broken):
    def one(**answers):
        return {"case": "c", "culprit": None, "confidence": "low", "expected": ["healthy"], "category": "x", **answers}
    return ([one(acceptable=True, confident_wrong=False)] * acceptable + [one(acceptable=False, confident_wrong=False)] * missed
            + [one(acceptable=False, confident_wrong=True)] * confident + [{"case": "c", "broken": "crash"}] * broken)


def write_case(folder, categories, **more):
    folder.mkdir(parents=True)
    (folder / "input.log").write_text("a line\n")
    complete = {**dict.fromkeys(logs.TRUTH_KEYS, ""), **truth(*categories), **more}
    (folder / "truth.json").write_text(json.dumps(complete))


def whole_program():
    """Faults of the whole program, run with something in the place of unhang that never gives a verdict."""
    faults = []
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)
        write_case(root / "some" / "a", ["healthy"])
        write_case(root / "misspelt" / "b", ["helthy"])
        write_case(root / "lost" / "c", ["healthy"])
        (root / "lost" / "c" / "input.log").unlink()
        (root / "none").mkdir()
        for folder, unhang, expected in (("some", "false", "exit status 1|no JSON"), ("some", "true", "no JSON"),
                                         ("some", "/nonexistent", "No such file"),
                                         ("misspelt", "true", "unknown acceptable"), ("lost", "true", "no input.log"),
                                         ("none", "true", "no case found")):
            done = subprocess.run([sys.executable, logs.__file__, "--unhang", unhang, str(root / folder)],
                                  capture_output=True, text=True, timeout=60, check=False)
            told = done.stdout + done.stderr
            if done.returncode != 2 or not any(part in told for part in expected.split("|")):
                faults.append(f"{unhang} on {folder}: exit status {done.returncode}, not 2 with {expected}: {told}")
    return faults


def main():
    faults = []
    for known, verdict, *expected in JUDGED:
        answer = logs.judge(known, verdict)
        got = [answer["acceptable"], answer["confident_wrong"], answer["culprit"]]
        if got != expected or bool(answer["faults"]) != (not expected[0] or expected[1]):
            faults.append(f"{known} {verdict}: {answer}, not {expected}")
    for counts, required, expected in STATUSES:
        got = logs.exit_status(logs.totals(results(*counts)), required)
        if got != expected:
            faults.append(f"{counts} with {required} % required: exit status {got}, not {expected}")
    faults += whole_program()
    for fault in faults:
        print(fault)
    print(f"judge of verdicts on logs: {len(JUDGED) + len(STATUSES) + 6} tried, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
