#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`unhang capture` against servers that play RAS (ras_server.py) and an engine, workers and dumps.

    tests/net/capture_cli.py UNHANG
"""

import hashlib
import http.server
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import ras_cli
from ras_cli import PATIENCE, Server, environment, report

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/schema"))
from validate import Validator  # noqa: E402

SCHEMA = Validator(json.loads((ROOT / "docs/schema/bundle-1.json").read_text()))
DUMPS = ROOT / "tests/corpus/recorded/skipped_one_w4"
UNHANG = None

# A worker as /proc shows it: it has NCCL's library mapped, variables of a rank, and secrets.
WORKER = """
import mmap, sys, time
with open(sys.argv[1], "rb") as library:
    kept = mmap.mmap(library.fileno(), 0, prot=mmap.PROT_READ)
print("ready", flush=True)
time.sleep(600)
"""


class Engine(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        path = self.path.split("?")[0]
        self.server.paths.append(self.path)
        if self.server.mute:
            self.server.released.wait(PATIENCE)
            return
        if path == "/metrics":
            self.server.tokens += 1
            body = f'vllm:generation_tokens_total{{model_name="m",engine="0"}} {self.server.tokens}\n'
        elif path == "/health":
            body = ""
        else:
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; version=0.0.4")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_):
        pass


def unused_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class CaptureCommand(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.bundle = self.folder / "bundle"
        self.home = self.folder / "home"
        self.home.mkdir()
        self.proc = self.folder / "proc"  # a machine without processes
        self.proc.mkdir()

    def ras(self, *options, **answers):
        server = Server(self.folder, *options, **answers)
        self.addCleanup(server.__exit__)
        return server

    def engine(self, mute=False):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Engine)
        server.daemon_threads = True
        server.mute, server.tokens, server.paths, server.released = mute, 0, [], threading.Event()
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.addCleanup(server.released.set)
        return server, f"127.0.0.1:{server.server_address[1]}"

    def environment(self):
        kept = {k: v for k, v in environment().items() if not k.startswith(("TORCH_", "XDG_CACHE"))}
        return kept | {"HOME": str(self.home)}

    def command(self, *words, live=False):
        """Of the job; what is asked of the machine is tested in capture_machine.py."""
        return [UNHANG, "capture", "-o", str(self.bundle), "--sources", "ras,engine,flight-recorder",
                *([] if live else ["--proc", str(self.proc)]), *words]

    def capture(self, *words, status=0, live=False):
        done = subprocess.run(self.command(*words, live=live), capture_output=True, text=True, timeout=PATIENCE, check=False,
                              env=self.environment(), cwd=self.folder)
        self.assertEqual(done.returncode, status, f"{words}\n{done.stdout}\n{done.stderr}")
        return done

    def manifest(self):
        """The manifest, after a look at whether it tells the truth about the files."""
        document = json.loads((self.bundle / "manifest.json").read_text())
        self.assertEqual(list(SCHEMA.errors(document)), [])
        listed = {"manifest.json"}
        for source in document["sources"]:
            for file in source["files"]:
                raw = (self.bundle / file["path"]).read_bytes()
                self.assertEqual(len(raw), file["bytes"])
                self.assertEqual(hashlib.sha256(raw).hexdigest(), file["sha256"])
                listed.add(file["path"])
        there = {str(path.relative_to(self.bundle)) for path in self.bundle.rglob("*") if path.is_file()}
        # What is still hidden was being written when the program was killed.
        self.assertEqual({name for name in there if not name.rsplit("/", 1)[-1].startswith(".")}, listed)
        return document

    def statuses(self):
        return {source["id"]: source["status"] for source in self.manifest()["sources"]}

    def assert_nowhere(self, secret):
        for path in self.bundle.rglob("*"):
            self.assertNotIn(secret, path.name)
            if path.is_file():
                self.assertNotIn(secret.encode(), path.read_bytes(), path)

    def diagnose(self):
        done = subprocess.run([UNHANG, "diagnose", "--json", str(self.bundle)], capture_output=True, text=True,
                              timeout=PATIENCE, check=False, env=self.environment())
        self.assertIn(done.returncode, (0, 1, 2, 3), done.stderr)
        return json.loads(done.stdout)

    def until(self, condition):
        end = time.monotonic() + PATIENCE
        while not condition():
            self.assertLess(time.monotonic(), end, "waited in vain")
            time.sleep(0.05)

    # --- what is kept ---

    def test_everything(self):
        answers = [report(counts=(100 + n, 100 + n, 99, 100 + n)) for n in range(3)]
        server = self.ras(json=answers)
        engine, where = self.engine()
        done = self.capture("--ras", server.address, "--engine", f"http://someone:hunter2@{where}/metrics?token=abcd1234",
                            "--dumps", str(DUMPS), "--interval", "500ms", "--instance", "i-7f2", "--deployment", "v41",
                            "--label", "pod=p-0", "--label", "cell=a=b")
        self.assertIn("next: unhang diagnose", done.stdout)
        document = self.manifest()
        self.assertEqual(self.statuses(), {"ras-1": "answered", "engine-1": "answered", "flight-recorder": "answered",
                                           "processes": "missing"})
        self.assertEqual((document["instance"], document["deployment"]), ("i-7f2", "v41"))
        self.assertEqual(document["labels"], {"pod": "p-0", "cell": "a=b"})
        self.assertEqual((document["interrupted"], document["budget_ms"]), (False, 25000))
        self.assertGreater(document["ended"], document["started"])

        by_id = {source["id"]: source for source in document["sources"]}
        kept = sorted((self.bundle / "ras").iterdir())  # their natural order is that of time
        # One poll may ask more than once, to hear of other jobs behind the same port.
        self.assertGreaterEqual(len(kept), 3)
        texts = [path.read_text() for path in kept]
        self.assertEqual(sorted(texts, key=answers.index), texts)
        self.assertEqual((texts[0], texts[-1]), (answers[0], answers[-1]))
        self.assertEqual([f["path"].split("/")[1] for f in by_id["ras-1"]["files"]], [path.name for path in kept])
        self.assertEqual(by_id["ras-1"]["nccl_version"], "2.29.7")
        self.assertEqual(by_id["ras-1"]["asked"], {"address": server.address})
        metrics = sorted((self.bundle / "engine").glob("*-metrics.txt"))
        self.assertEqual([path.read_text().split()[-1] for path in metrics], ["1", "2", "3"])
        self.assertEqual([f["note"] for f in by_id["engine-1"]["files"]], ["metrics", "health 200"] * 3)
        for dump in DUMPS.iterdir():
            copy, = (self.bundle / "flight_recorder").glob(f"*/{dump.name}")
            self.assertEqual(copy.read_bytes(), dump.read_bytes())

        self.assertTrue(any("token=abcd1234" in path for path in engine.paths), "the engine itself is asked as it was given")
        self.assert_nowhere("hunter2")
        self.assert_nowhere("abcd1234")
        self.assertEqual(self.bundle.stat().st_mode & 0o777, 0o700)
        self.assertEqual(kept[0].stat().st_mode & 0o777, 0o600)
        self.assertEqual(set(server.asked()), {"CLIENT PROTOCOL 2", "TIMEOUT 5", "SET FORMAT json", "STATUS"})

    def test_the_bundle_gives_the_verdict_of_the_dumps(self):
        self.capture("--no-ras", "--dumps", str(DUMPS))
        loose = subprocess.run([UNHANG, "diagnose", "--json", str(DUMPS)], capture_output=True, text=True,
                               timeout=PATIENCE, check=False, env=self.environment())
        want, have = json.loads(loose.stdout), self.diagnose()
        for key in ("category", "cause", "root", "phase", "state", "confidence"):
            self.assertEqual(have["verdict"][key], want["verdict"][key])
        self.assertEqual(have["where"], want["where"])
        for who in ("culprits", "suspects", "victims"):
            self.assertEqual([one["rank"] for one in have[who]], [one["rank"] for one in want[who]])

    def test_the_bundle_of_a_standing_job_says_that_it_stands(self):
        # Asked three times within six seconds, the same counts each time: rank 6 is behind and nothing moves.
        server = self.ras(json=(ROOT / "examples/service_without_dumps/ras_1.json").read_text())
        self.capture("--ras", server.address, "--samples", "3", "--interval", "3s", "--budget", "20s")
        have = self.diagnose()
        self.assertEqual((have["verdict"]["category"], have["verdict"]["state"]), ("collective_desync", "stopped"))
        self.assertEqual([one["rank"] for one in have["culprits"]], [6])
        signals = {one["signal"]: one for one in have["progress"]}
        self.assertTrue(signals["nccl_ras_counts"]["usable"])

    def test_what_happened_to_a_bundle_afterwards_is_said(self):
        self.capture("--no-ras", "--dumps", str(DUMPS))
        dumps = sorted(self.bundle.glob("flight_recorder/*/*"))
        dumps[0].write_bytes(dumps[0].read_bytes() + b"x")
        dumps[1].unlink()
        (manifest,) = [one for one in self.diagnose()["inputs"] if one["path"].endswith("manifest.json")]
        self.assertEqual({problem["code"] for problem in manifest["problems"]}, {"changed", "missing"})

    def test_json_prints_the_manifest(self):
        out = self.capture("--no-ras", "--dumps", str(DUMPS), "--json").stdout
        self.assertEqual(out, (self.bundle / "manifest.json").read_text())

    def test_dumps_of_a_worker_are_found_and_its_secrets_are_not_kept(self):
        library = self.folder / "libnccl.so.2.28.9"
        library.write_bytes(b"\x7fELF")
        dumps = self.folder / "where it writes"
        dumps.mkdir()
        shutil.copy(DUMPS / "nccl_trace_rank_3", dumps / "fr_3")
        os.utime(dumps / "fr_3", (1_700_000_000, 1_700_000_000))
        worker = subprocess.Popen([sys.executable, "-c", WORKER, str(library), "--api-key", "hunter2"], stdout=subprocess.PIPE,
                                  env=self.environment() | {"RANK": "3", "TORCH_FR_DUMP_TEMP_FILE": str(dumps / "fr_"),
                                                            "HF_TOKEN": "abcd1234", "NCCL_IB_HCA": "mlx5_0"})
        self.addCleanup(worker.stdout.close)
        self.addCleanup(worker.wait)
        self.addCleanup(worker.kill)
        self.assertEqual(worker.stdout.readline(), b"ready\n")
        self.capture("--no-ras", "--pid", str(worker.pid), live=True)
        document = self.manifest()
        process, = document["processes"]
        self.assertEqual((process["pid"], process["nccl_version"]), (worker.pid, "2.28.9"))
        self.assertEqual(process["environment"] | {"RANK": "3", "NCCL_IB_HCA": "mlx5_0"}, process["environment"])
        file, = [file for source in document["sources"] for file in source["files"]]
        self.assertEqual(file["path"], f"flight_recorder/{socket.gethostname()}-{worker.pid}/fr_3")
        self.assertEqual((file["pid"], file["original_path"]), (worker.pid, str(dumps / "fr_3")))
        self.assertIs(file["stale"], True)
        self.assert_nowhere("hunter2")
        self.assert_nowhere("abcd1234")

    # --- what does not answer ---

    def test_nothing_at_all(self):
        done = self.capture("--ras", f"127.0.0.1:{unused_port()}", "--engine", f"http://127.0.0.1:{unused_port()}", status=69)
        self.assertNotIn("next:", done.stdout)
        self.assertEqual(self.statuses(), {"ras-1": "refused", "engine-1": "refused", "flight-recorder": "missing",
                                           "processes": "missing"})

    def test_what_is_mute_costs_the_rest_nothing(self):
        server = self.ras("--mute", "1000", json=report())
        _, where = self.engine(mute=True)
        began = time.monotonic()
        self.capture("--ras", server.address, "--engine", f"http://{where}", "--dumps", str(DUMPS), "--budget", "3s")
        self.assertLess(time.monotonic() - began, PATIENCE / 2)
        self.assertEqual(self.statuses(), {"ras-1": "silent", "engine-1": "silent", "flight-recorder": "answered",
                                           "processes": "missing"})

    def test_what_could_crash_the_job_is_not_asked(self):
        server = self.ras(json=report())
        self.capture("--ras", server.address, "--nccl-version", "2.26.2", status=69)
        self.assertEqual(self.statuses()["ras-1"], "failed")
        reason, = [source["reason"] for source in self.manifest()["sources"] if source["id"] == "ras-1"]
        self.assertIn("1669", reason)
        self.assertNotIn("STATUS", server.asked())

    # --- ended early ---

    def start_a_long_one(self):
        server = self.ras("--mute", "1000", json=report())
        running = subprocess.Popen(self.command("--ras", server.address, "--dumps", str(DUMPS), "--budget", "10m"),
                                   env=self.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(running.stdout.close)
        self.addCleanup(running.stderr.close)
        self.addCleanup(running.wait)
        self.addCleanup(running.kill)
        manifest = self.bundle / "manifest.json"
        self.until(lambda: manifest.exists() and '"nccl_trace_rank_3"' not in manifest.read_text() and
                   json.loads(manifest.read_text())["sources"][1]["status"] == "answered")
        return running

    def test_ctrl_c_leaves_a_whole_bundle(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(number.name):
                shutil.rmtree(self.bundle, ignore_errors=True)
                running = self.start_a_long_one()
                running.send_signal(number)
                out, err = running.communicate(timeout=PATIENCE)
                self.assertEqual(running.returncode, 0, err)
                self.assertIn("(interrupted)", out)
                document = self.manifest()
                self.assertIs(document["interrupted"], True)
                self.assertIsNotNone(document["ended"])
                self.assertEqual(self.statuses()["flight-recorder"], "answered")
                self.assertEqual(self.statuses()["ras-1"], "silent")
                self.assertEqual(self.diagnose()["schema"], "unhang.verdict/1")

    def test_a_kill_leaves_a_valid_bundle(self):
        running = self.start_a_long_one()
        running.kill()
        running.wait(PATIENCE)
        document = self.manifest()
        self.assertIsNone(document["ended"])
        self.assertEqual(self.statuses(), {"ras-1": "silent", "flight-recorder": "answered", "processes": "missing"})
        self.assertEqual(len(document["sources"][1]["files"]), 4)
        problems = [problem["code"] for entry in self.diagnose()["inputs"] for problem in entry["problems"]]
        self.assertIn("unfinished", problems)

    # --- the call itself ---

    def test_wrong_calls(self):
        for words in (["--budget", "0"], ["--ras", "h:99999"], ["--no-ras", "--ras", "h:1"], ["--no-dumps", "--dumps", "x"],
                      ["--label", "novalue"], ["--pid", "x"], ["--sources", "disk"], ["--without", "ras,disk"],
                      ["--no-dumps", "--trigger-dump"], ["--trigger-url", "x=http://h"], ["--nccl-version", "new"]):
            with self.subTest(words):
                self.capture(*words, status=64)
                self.assertFalse(self.bundle.exists())

    def test_an_archive_is_no_folder(self):
        self.bundle = self.folder / "bundle.tar.gz"
        self.assertIn("pack it afterwards", self.capture("--no-ras", status=64).stderr)
        self.assertFalse(self.bundle.exists())

    def test_a_folder_with_something_in_it_is_left_alone(self):
        self.bundle.mkdir()
        (self.bundle / "precious").write_text("x")
        done = self.capture("--no-ras", "--dumps", str(DUMPS), status=64)
        self.assertIn("there is something in", done.stderr)
        self.assertEqual([path.name for path in self.bundle.iterdir()], ["precious"])


if __name__ == "__main__":
    UNHANG = ras_cli.UNHANG = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main(verbosity=1)
