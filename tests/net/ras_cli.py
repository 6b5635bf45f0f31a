#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`unhang ras …` against a server that plays NCCL's RAS service (ras_server.py).

    tests/net/ras_cli.py UNHANG
"""

import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
UNHANG = None
PATIENCE = 60  # seconds; a loaded machine


def report(version="2.29.7", counts=(100, 100, 100, 100), hash_="0x634a4b09acc8e46", first_pid=101, missing=()):
    """One communicator as NCCL prints it; `missing` holds (rank, dead)."""
    ranks, lost = [], []
    for rank, count in enumerate(counts):
        who = {"rank": rank, "host": "10.0.0.1", "pid": first_pid + rank, "cuda_dev": rank, "nvml_dev": rank}
        dead = dict(missing).get(rank)
        if dead is None:
            status = {"init_state": 0, "async_error": 0, "finalize_called": False, "destroy_flag": False, "abort_flag": False}
            launched = {"Broadcast": 1, "Reduce": 0, "AllGather": 0, "ReduceScatter": 0, "AllReduce": count}
            ranks.append(who | {"status": status, "collective_counts": launched})
        else:
            lost.append(who | {"status": {"unresponsive": True, "considered_dead": dead}})
    communicator = {"hash": hash_, "secondary_hash": "0x1:0x2", "size": len(counts), "ranks_count": len(ranks),
                    "missing_ranks_count": len(lost), "ranks": ranks, "missing_ranks": lost}
    document = {"nccl_version": version, "cuda_runtime_version": 12080, "cuda_driver_version": 12080,
                "timestamp": "2026-11-29 15:01:29", "communicators_count": 1, "communicators": [communicator],
                "ras": {"collection_time_sec": 0.001, "timeouts_count": 0}}
    return json.dumps(document, indent=2) + "\n"


sys.path.insert(0, str(HERE.parent / "schema"))
from validate import Validator  # noqa: E402

SCHEMA = Validator(json.loads((HERE.parents[1] / "docs/schema/ras-1.json").read_text()))
EVENT_SCHEMA = Validator(json.loads((HERE.parents[1] / "docs/schema/ras_event-1.json").read_text()))


def state_of(text):
    """A document of unhang.ras/1, held against its schema."""
    document = json.loads(text)
    errors = list(SCHEMA.errors(document))
    assert not errors, errors[:3]
    return document


TEXT = """NCCL version 2.24.3 compiled with CUDA 12.8
CUDA runtime version 12080, driver version 12080

Job summary
===========

  Nodes  Processes         GPUs  Processes     GPUs
(total)   per node  per process    (total)  (total)
      1          4            1          4        4

Communicators... (0.00s)
=============

Group     Comms     Nodes     Ranks     Ranks     Ranks    Status  Errors
    #  in group  per comm  per node  per comm  in group
    0         1         1         4         4         4   RUNNING  OK

Errors
======

Warnings
========

"""

EVENT = """{
  "timestamp": "2026-11-29 15:13:42",
  "group": "LIFECYCLE",
  "event": "PEER_DEAD",
  "peer": {
    "host": "127.0.1.2",
    "pid": 1919,
    "cuda_devs": [1],
    "nvml_devs": [1]
  },
  "details": ""
}
"""


class Server:
    """ras_server.py with these answers, in a process of its own."""

    def __init__(self, folder, *options, **answers):
        arguments = list(options)
        for kind, texts in answers.items():
            arguments.append("--" + kind.replace("_", "-"))
            for number, text in enumerate([texts] if isinstance(texts, str) else texts):
                path = pathlib.Path(folder) / f"{kind}{number}-{id(self)}"
                path.write_text(text)
                arguments.append(str(path))
        self.log = pathlib.Path(folder) / f"log-{id(self)}"
        self.process = subprocess.Popen([sys.executable, HERE / "ras_server.py", "--log", self.log, *arguments],
                                        stdout=subprocess.PIPE, text=True)
        self.address = self.process.stdout.readline().split()[-1]

    def asked(self):
        return self.log.read_text().splitlines()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(PATIENCE)
        self.process.stdout.close()


def environment():
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("NCCL_", "UNHANG_"))}
    return kept | {"COLUMNS": "80", "LC_ALL": "C.UTF-8"}


class RasCommands(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def serve(self, *options, **answers):
        server = Server(self.folder.name, *options, **answers)
        self.addCleanup(server.__exit__)
        return server

    def run_unhang(self, *words, status, env=None):
        done = subprocess.run([UNHANG, "ras", *words], capture_output=True, text=True, timeout=PATIENCE, check=False,
                              env=env or environment(), cwd=self.folder.name)
        self.assertEqual(done.returncode, status, f"{words}\n{done.stdout}\n{done.stderr}")
        if words[0] == "status" and not {"--json", "--raw"} & set(words) and status != 64:
            wide = [line for line in (done.stdout + done.stderr).splitlines() if len(line) > 80]
            self.assertEqual(wide, [])
        return done

    # --- status ---

    def test_healthy(self):
        server = self.serve(json=report())
        out = self.run_unhang("status", "-a", server.address, status=0).stdout
        self.assertIn("NCCL 2.29.7 · 4 processes · 1 node", out)
        self.assertIn("0634a4b09acc8e46  4/4        RUNNING   Broadcast 1, AllReduce 100", out)
        self.assertIn("healthy job, and also where everybody waits", " ".join(out.split()))
        self.assertEqual(server.asked()[:4], ["CLIENT PROTOCOL 2", "TIMEOUT 5", "SET FORMAT json", "STATUS"])
        self.assertLessEqual(set(server.asked()), {"CLIENT PROTOCOL 2", "TIMEOUT 5", "SET FORMAT json", "STATUS"})

    def test_lag_is_named_and_not_believed_at_once(self):
        server = self.serve(json=report(counts=(100, 100, 99, 100)))
        out = self.run_unhang("status", "-a", server.address, status=3).stdout
        self.assertIn("behind: rank 2 (10.0.0.1 pid 103 GPU 2): AllReduce 99, most are at 100", out)
        self.assertIn("proves no stall", " ".join(out.split()))

    def test_lost_processes(self):
        server = self.serve(json=report(missing=[(1, True), (3, False)]))
        out = self.run_unhang("status", "-a", server.address, status=2).stdout
        self.assertIn("dead: rank 1 (10.0.0.1 pid 102 GPU 1)", out)
        self.assertIn("no answer: rank 3 (10.0.0.1 pid 104 GPU 3)", out)

    def test_text_of_an_old_release(self):
        server = self.serve(text=TEXT)
        out = self.run_unhang("status", "-a", server.address, status=0).stdout
        self.assertIn("NCCL 2.24.3 · 4 processes · 1 node", out)
        self.assertIn("1 communicator of 4 ranks: 4 answered, RUNNING", out)
        self.assertIn("STATUS", server.asked())
        self.assertNotIn("VERBOSE STATUS", server.asked())

    def test_json_and_raw(self):
        answer = report(counts=(7, 9, 9, 9))
        server = self.serve(json=answer)
        out = self.run_unhang("status", "-a", server.address, "--json", "--raw", "kept.json", status=3).stdout
        document = state_of(out)
        self.assertEqual(document["schema"], "unhang.ras/1")
        communicator = document["jobs"][0]["communicators"][0]
        self.assertEqual(communicator["hash"], "0634a4b09acc8e46")
        self.assertEqual(communicator["behind"], [0])
        self.assertEqual([c for c in communicator["counts"] if c["collective"] == "AllReduce"][0]["least"], 7)
        self.assertEqual((pathlib.Path(self.folder.name) / "kept.json").read_text(), answer)
        self.assertEqual(self.run_unhang("status", "-a", server.address, "--raw", "-", status=3).stdout, answer)

    def test_nobody(self):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        done = self.run_unhang("status", "-a", f"127.0.0.1:{port}", status=69)
        self.assertEqual(done.stdout, "")
        self.assertIn(f"no answer: connect to 127.0.0.1:{port}: connection refused", done.stderr)
        self.assertIn("Next: ask where a process of the job runs", done.stderr)
        document = state_of(self.run_unhang("status", "-a", f"127.0.0.1:{port}", "--json", status=69).stdout)
        self.assertEqual(document["jobs"], [])
        self.assertIn("connection refused", document["troubles"][0]["text"])

    def test_address_of_the_environment_and_ipv6(self):
        server = self.serve(json=report())
        env = environment() | {"NCCL_RAS_ADDR": server.address}
        self.assertIn("NCCL 2.29.7", self.run_unhang("status", status=0, env=env).stdout)
        if socket.has_ipv6:
            try:
                six = self.serve("--ipv6", json=report())
            except IndexError:
                return  # no IPv6 on this machine
            port = six.address.rsplit(":", 1)[1]
            self.assertIn(f"[::1]:{port}", self.run_unhang("status", "-a", f"localhost:{port}", status=0).stdout)

    def test_stopped_process_is_skipped(self):
        server = self.serve("--mute", "1", json=report())
        out = self.run_unhang("status", "-a", server.address, "--connections", "1", status=0).stdout
        self.assertIn("connections was accepted and never answered", " ".join(out.split()))

    def test_deadline(self):
        server = self.serve("--mute", "1000", json=report())
        done = self.run_unhang("status", "-a", server.address, "--timeout", "300ms", status=124)
        self.assertIn("stopped process behind the port", " ".join(done.stderr.split()))
        self.assertIn("Next: 'unhang capture -o DIR'", done.stderr)

    def test_refuses_dangerous_releases(self):
        server = self.serve(text=TEXT.replace("2.24.3", "2.26.5"))
        done = self.run_unhang("status", "-a", server.address, "--nccl-version", "2.26.5", status=69)
        self.assertIn("NVIDIA/nccl#1669", done.stderr)
        self.assertIn("--force", done.stderr)
        self.assertEqual(server.asked(), [])
        self.run_unhang("status", "-a", server.address, "--nccl-version", "2.26.5", "--force", status=0)
        self.assertIn("STATUS", server.asked())

    def test_two_jobs(self):
        one, two = self.serve(json=report()), self.serve(json=report(hash_="0xabc", first_pid=501, counts=(5, 5)))
        out = self.run_unhang("status", "-a", f"{one.address},{two.address}", status=0).stdout
        self.assertIn("job 1: ", out)
        self.assertIn("job 2: ", out)

    def share_a_port(self, *jobs):
        """One process for each of the jobs, all behind one port."""
        servers = [self.serve("--share-port", json=jobs[0])]
        port = servers[0].address.rsplit(":", 1)[1]
        servers += [self.serve("--share-port", "--port", port, json=job) for job in jobs[1:]]
        return servers

    def test_several_jobs_behind_one_port(self):
        own = 987654321  # ras_server.py puts its own pid there
        servers = self.share_a_port(report(first_pid=own, counts=(8,)), report(first_pid=own, hash_="0xabc", counts=(5,)))
        out = self.run_unhang("status", "-a", servers[0].address, status=0).stdout
        self.assertIn("job 2: ", out)
        self.assertIn("AllReduce 8", out)
        self.assertIn("AllReduce 5", out)

    def test_a_process_that_was_really_stopped(self):
        servers = self.share_a_port(*[report(counts=(8,))] * 6)
        servers[0].process.send_signal(signal.SIGSTOP)
        try:
            # Whoever is asked first: six connections, of which five in six find a process that runs.
            for _ in range(3):
                self.run_unhang("status", "-a", servers[0].address, "--connections", "1", status=0)
        finally:
            servers[0].process.send_signal(signal.SIGCONT)

    def test_usage(self):
        for words in (["-a", "a:b"], ["-a", ""], ["--nccl-version", "new"], ["--timeout", "0"], ["--connections", "0"], ["extra"]):
            self.run_unhang("status", *words, status=64)

    # --- watch ---

    def test_watch_sees_progress(self):
        server = self.serve(json=[report(counts=(n,) * 4) for n in (10, 20, 30, 40, 50, 60, 70, 80, 90)])
        out = self.run_unhang("watch", "-a", server.address, "--connections", "1", "--count", "4", "--interval", "200ms",
                              "--json", status=0).stdout
        polls = [state_of(line) for line in out.splitlines()]
        self.assertEqual(len(polls), 4)
        self.assertEqual(polls[0]["jobs"][0]["communicators"][0]["movement"]["state"], "unknown")
        self.assertEqual(polls[3]["jobs"][0]["communicators"][0]["movement"]["state"], "advancing")

    def test_watch_prints_changes(self):
        server = self.serve(json=[report(counts=(n,) * 4) for n in (10, 20, 30)] + [report(counts=(31,) * 4, missing=[(2, True)])])
        out = self.run_unhang("watch", "-a", server.address, "--connections", "1", "--count", "5", "--interval", "200ms",
                              status=2).stdout
        self.assertIn("NCCL 2.29.7: 4 processes, 1 communicator", out)
        self.assertIn("0634a4b09acc8e46 (4 ranks): advancing", out)
        self.assertIn("dead: rank 2 (10.0.0.1 pid 103 GPU 2)", out)

    def test_watch_ends_with_ctrl_c(self):
        server = self.serve(json=report())
        process = subprocess.Popen([UNHANG, "ras", "watch", "-a", server.address, "--json"], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, env=environment())
        first = process.stdout.readline()
        process.send_signal(signal.SIGINT)
        rest, err = process.communicate(timeout=PATIENCE)
        state_of(first)
        self.assertEqual(err, "")
        self.assertEqual(process.returncode, 3)
        for line in rest.splitlines():
            json.loads(line)

    # --- events ---

    def test_events(self):
        server = self.serve(json=report(), events=EVENT * 2)
        done = self.run_unhang("events", "-a", server.address, status=69)
        self.assertEqual(done.stdout, "2026-11-29 15:13:42  PEER_DEAD  127.0.1.2 pid 1919 GPU 1\n" * 2)
        self.assertIn("the other side closed the connection", done.stderr)
        lines = self.run_unhang("events", "-a", server.address, "--json", status=69).stdout.splitlines()
        self.assertEqual(len(lines), 2)
        for line in lines:
            self.assertEqual(list(EVENT_SCHEMA.errors(json.loads(line))), [])
        self.assertEqual(json.loads(lines[0])["pid"], 1919)

    def test_events_end_in_time(self):
        server = self.serve(json=report(), events=EVENT)
        started = time.monotonic()
        self.run_unhang("events", "-a", server.address, "--reconnect", "--duration", "4s", status=0)
        self.assertGreaterEqual(time.monotonic() - started, 3.9)

    def test_events_without_time_say_so(self):
        server = self.serve(json=report(), events=EVENT)
        self.assertIn("nobody could be listened to", self.run_unhang("events", "-a", server.address, "--duration", "0s", status=69).stderr)

    def test_events_of_an_old_release(self):
        server = self.serve(text=TEXT)
        done = self.run_unhang("events", "-a", server.address, status=69)
        self.assertIn("events need NCCL 2.29.2 or later", " ".join(done.stderr.split()))


if __name__ == "__main__":
    UNHANG = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
