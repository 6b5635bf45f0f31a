#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `unhang capture` asks of the machine, with real processes and programs made to order.

    capture_machine.py BINARY FAKE_NVML [unittest arguments]

Workers are Python processes that wait; gdb, py-spy, nvidia-smi and the rest are shell scripts in a folder in front of PATH.
"""

import http.server
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "schema"))
import validate  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
PATIENCE = 60
HANGS = "trap '' TERM INT HUP; while :; do sleep 1; done"

# Writes a dump whenever a byte comes through its pipe, as PyTorch does.
LISTENER = """
import os, sys, time
folder = sys.argv[1]
pipe = os.open(folder + "/pipe3.pipe", os.O_RDONLY | os.O_NONBLOCK)
open(folder + "/ready", "w").close()
while True:
    try:
        if os.read(pipe, 1) == b"1":
            with open(folder + "/dump_3", "wb") as dump:
                dump.write(b"the new dump")
                dump.flush()
                time.sleep(0.3)
                dump.write(b".")
    except BlockingIOError:
        pass
    time.sleep(0.05)
"""


class WorkerServer(http.server.BaseHTTPRequestHandler):
    def do_POST(self):  # noqa: N802
        found = self.path.startswith("/handler/fr_trace_json")
        body = b'{"entries": [], "version": "2.10"}' if found else b"no such handler"
        self.send_response(200 if found else 404)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def state_of(pid):
    return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]


class CaptureMachine(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.bundle = self.folder / "bundle"
        self.bin = self.folder / "bin"
        for name in ("bin", "dev", "home"):
            (self.folder / name).mkdir()
        self.dev = self.folder / "dev"
        now = time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000  # what the kernel's log counts
        (self.dev / "kmsg").write_text(f"6,1,{now},-;NVRM: Xid (PCI:0000:1b:00): 79, pid=1, GPU has fallen off the bus.\n")

    def program(self, name, script):
        (self.bin / name).write_text(f"#!/bin/sh\n{script}\n")
        (self.bin / name).chmod(0o755)

    def worker(self, *words, **variables):
        words = words or ("-c", "import time; time.sleep(1000)")
        running = subprocess.Popen([sys.executable, *words], env={"PATH": os.environ["PATH"], **variables})
        self.addCleanup(running.wait)
        self.addCleanup(running.kill)
        return running.pid

    def environment(self):
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("TORCH_", "NCCL_", "XDG_", "SLURM_", "UNHANG_"))}
        return kept | {"HOME": str(self.folder / "home"), "PATH": f"{self.bin}:{os.environ['PATH']}"}

    def capture(self, *words, status=0, **variables):
        done = subprocess.run([UNHANG, "capture", "-o", str(self.bundle), "--dev", str(self.dev), *words], capture_output=True,
                              text=True, timeout=PATIENCE, check=False, env=self.environment() | variables)
        self.assertEqual(done.returncode, status, f"{words}\n{done.stdout}\n{done.stderr}")
        document = json.loads((self.bundle / "manifest.json").read_text())
        self.assertEqual(list(validate.Validator(validate.read(str(ROOT / "docs/schema/bundle-1.json"))).errors(document)), [])
        self.sources = {source["id"]: source for source in document["sources"]}
        return done

    def kept(self, pattern):
        return sorted(self.bundle.glob(pattern))

    def diagnose(self):
        done = subprocess.run([UNHANG, "diagnose", "--json", str(self.bundle)], capture_output=True, text=True,
                              timeout=PATIENCE, check=False, env=self.environment())
        self.assertIn(done.returncode, (0, 1, 2, 3), done.stderr)
        return json.loads(done.stdout)

    def test_documents_are_as_their_schemas_say_and_known(self):
        pid = self.worker()
        self.capture("--no-ras", "--pid", str(pid), "--no-gdb", "--budget", "20s", "--samples", "2", "--interval", "1s")
        kinds = {}
        for path in self.bundle.rglob("*.json"):
            document = json.loads(path.read_text())
            name = document["schema"].removeprefix("unhang.").removesuffix("/1")
            schema = validate.Validator(validate.read(str(ROOT / f"docs/schema/{name}-1.json")))
            self.assertEqual(list(schema.errors(document)), [], path)
            kinds[name] = kinds.get(name, 0) + 1
        self.assertEqual(kinds, {"bundle": 1, "process_state": 2, "nic_counters": 2, "sockets": 1, "system": 1})
        verdict = self.diagnose()
        problems = [(entry["path"], problem) for entry in verdict["inputs"] for problem in entry["problems"]]
        self.assertEqual([problem for problem in problems if problem[1]["code"] != "older_than_the_job"], [])

    def test_the_kernel_log_is_evidence(self):
        self.capture("--sources", "kernel-log")
        text = self.kept("kernel/*.log")[0].read_text()
        self.assertRegex(text, r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00 \S+ kernel: NVRM: Xid")
        self.assertIn("Xid", json.dumps(self.diagnose()))

    def test_a_real_gdb_reads_stacks_and_leaves_the_process_running(self):
        if not any(os.access(f"{folder}/gdb", os.X_OK) for folder in os.environ["PATH"].split(":")):
            self.skipTest("gdb is not installed")
        pid = self.worker()
        self.capture("--sources", "stacks", "--pid", str(pid), "--samples", "1", "--budget", "40s")
        files = self.kept("stacks/*-gdb.txt")
        if not files and "ptrace" in self.sources["stacks"]["reason"]:
            self.skipTest("ptrace is not allowed here")
        self.assertIn("\nThread 1 ", files[0].read_text())
        self.assertIn(state_of(pid), "SR")

    def test_everything_hangs_and_the_budget_holds(self):
        for name in ("gdb", "py-spy", "nvidia-smi", "dmesg", "journalctl", "kubectl", "scontrol", "sacct"):
            self.program(name, HANGS)
        (self.dev / "kmsg").unlink()
        os.mkfifo(self.dev / "kmsg")
        os.mkfifo(self.folder / "nccl.log")
        pid = self.worker(NCCL_DEBUG_FILE=str(self.folder / "nccl.log"))
        self.program("gdb", f"kill -STOP {pid}; {HANGS}")
        began = time.monotonic()
        self.capture("--pid", str(pid), "--ras", "127.0.0.1:1", "--budget", "5s", "--samples", "1", SLURM_JOB_ID="4711")
        self.assertLess(time.monotonic() - began, 6 + 2, "the budget, a second, and what a busy machine costs")
        for source, words in (("stacks", "not done in its time"), ("gpu", "nvidia-smi: it was not done in its time"),
                              ("scheduler", "scontrol: it was not done in its time"),
                              ("nccl-logs", "no plain file"), ("kernel-log", "dmesg: it was not done in its time")):
            # Who overstays is silent; who says why, the better.
            self.assertTrue(words in self.sources[source].get("reason", "") or self.sources[source]["status"] == "silent",
                            self.sources[source])
        end = time.monotonic() + PATIENCE
        while self.left_behind():
            self.assertLess(time.monotonic(), end, self.left_behind())
            time.sleep(0.1)
        self.assertNotEqual(state_of(pid), "T", "nobody is left stopped")
        self.diagnose()

    def left_behind(self):
        found = []
        for entry in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
            try:
                if str(self.bin).encode() in entry.read_bytes():
                    found.append(entry.parent.name)
            except OSError:
                pass
        return found

    def test_a_dump_is_triggered_only_when_told(self):
        os.mkfifo(self.folder / "pipe3.pipe")
        (self.folder / "dump_3").write_bytes(b"the old dump.")
        pid = self.worker("-c", LISTENER, str(self.folder), RANK="3", TORCH_NCCL_DEBUG_INFO_PIPE_FILE=str(self.folder / "pipe"),
                          TORCH_NCCL_DEBUG_INFO_TEMP_FILE=str(self.folder / "dump_"))
        end = time.monotonic() + PATIENCE
        while not (self.folder / "ready").exists():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.05)
        words = ("--sources", "flight-recorder", "--pid", str(pid))
        self.capture(*words)
        self.assertEqual((self.folder / "dump_3").read_bytes(), b"the old dump.")
        self.bundle = self.folder / "second"
        self.capture(*words, "--trigger-dump", "--budget", "20s")
        old, = self.kept("flight_recorder/*/dump_3")
        new, = self.kept("flight_recorder_triggered/*/dump_3")
        self.assertEqual((old.read_bytes(), new.read_bytes()), (b"the old dump.", b"the new dump."))
        self.assertEqual(self.sources["flight-recorder"]["status"], "answered")

    def test_a_dump_by_http(self):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), WorkerServer)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.capture("--sources", "flight-recorder", "--trigger-url", f"7=http://127.0.0.1:{server.server_address[1]}")
        path, = self.kept("flight_recorder_triggered/*/nccl_trace_rank_7.json")
        self.assertEqual(json.loads(path.read_text())["version"], "2.10")

    def test_no_secret_gets_into_it(self):
        self.program("py-spy", "echo '[{\"pid\": 1, \"process_info\": {\"command_line\": \"x --api-key hunter2\"}, \"frames\": []}]'")
        self.program("nvidia-smi", "echo 'HF_TOKEN=hunter2'")
        (self.dev / "kmsg").write_text("6,1,1,-;audit: --api-key=hunter2 used\n")
        log = self.folder / "nccl.log"
        log.write_text("NCCL INFO NCCL_API_KEY set by environment to hunter2\n")
        pid = self.worker("-c", "import time; time.sleep(1000)", "--api-key", "hunter2", NCCL_DEBUG_FILE=str(log),
                          HF_TOKEN="hunter2", NCCL_SECRET="hunter2")
        self.capture("--pid", str(pid), "--no-ras", "--no-gdb", "--samples", "1")
        for path in self.bundle.rglob("*"):
            if path.is_file():
                self.assertNotIn(b"hunter2", path.read_bytes(), path)
        self.assertEqual(len(self.kept("nccl_log/*.log")), 1)

    def nvml(self, mode, status=0):
        done = subprocess.run([UNHANG, "nvml", "--library", FAKE_NVML], capture_output=True, text=True, timeout=PATIENCE,
                              check=False, env=self.environment() | {"FAKE_NVML": mode})
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout

    def test_nvml_without_nvidia_smi(self):
        text = self.nvml("")
        self.assertIn("0, NVIDIA H100 80GB HBM3, GPU-00000000-1111-2222-3333-444444444444, 00000000:1B:00.0, 550.54.15, P0, 41, "
                      "100 %, 3 %, 81559 MiB, 1024 MiB, 112.35 W, 700.00 W, 1980 MHz, 2619 MHz", text)
        self.assertIn("GPU 1 00000000:43:00.0: GPU is lost", text)
        self.assertEqual(self.nvml("mismatch", status=69), "Failed to initialize NVML: Driver/library version mismatch\n")

    def test_an_nvml_that_hangs_costs_only_itself(self):
        os.symlink(FAKE_NVML, self.folder / "libnvidia-ml.so.1")
        (self.dev / "nvidiactl").touch()
        began = time.monotonic()
        self.capture("--sources", "gpu,nic", "--samples", "1", "--budget", "3s", FAKE_NVML="hang", LD_LIBRARY_PATH=str(self.folder))
        self.assertLess(time.monotonic() - began, 4 + 2)
        self.assertEqual(self.sources["nic"]["status"], "answered")
        self.assertIn("NVML: it was not done in its time", self.sources["gpu"]["reason"])

    def test_ctrl_c_ends_helpers_at_once(self):
        self.program("nvidia-smi", HANGS)
        running = subprocess.Popen([UNHANG, "capture", "-o", str(self.bundle), "--dev", str(self.dev), "--sources", "gpu",
                                    "--budget", "10m"], env=self.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(running.stdout.close)
        self.addCleanup(running.stderr.close)
        end = time.monotonic() + PATIENCE
        while not self.left_behind():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.05)
        began = time.monotonic()
        running.send_signal(signal.SIGINT)
        running.wait(PATIENCE)
        self.assertLess(time.monotonic() - began, PATIENCE / 6)
        self.assertTrue(json.loads((self.bundle / "manifest.json").read_text())["interrupted"])
        while self.left_behind():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.05)


if __name__ == "__main__":
    UNHANG = str(pathlib.Path(sys.argv.pop(1)).resolve())
    FAKE_NVML = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main(verbosity=1)
