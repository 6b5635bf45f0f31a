#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`unhang probe` and `unhang run` with real programs (launches.py): where they hang, what is left, what is kept.

    tests/e2e/probe_cli.py UNHANG STUCK_IN_NCCL
"""

import hashlib
import json
import os
import pathlib
import pty
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import termios
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "tests/schema"))
from validate import Validator  # noqa: E402

SCHEMA = Validator(json.loads((ROOT / "docs/schema/probe-1.json").read_text()))
LAUNCH = [sys.executable, str(HERE / "launches.py")]
MARK = "UNHANG_TEST_MARK"  # what was started has it in its environment: nobody of it may be left
OVER = 5.0  # seconds over the limit that a probe may take
PATIENCE = 60
UNHANG = STUCK = None


def left_behind(mark):
    """Processes that have the mark in their environment."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            if f"{MARK}={mark}".encode() in (entry / "environ").read_bytes().split(b"\0"):
                found.append((entry / "cmdline").read_bytes().replace(b"\0", b" ").decode())
        except OSError:
            pass
    return found


class Case(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory(prefix="unhang-probe-")
        self.addCleanup(self.scratch.cleanup)
        self.folder = pathlib.Path(self.scratch.name)
        self.mark = self.id() + str(os.getpid())
        quiet = ("NCCL_", "TORCH_", "UNHANG_")
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith(quiet)} | {MARK: self.mark}

    def nobody_is_left(self):
        self.assertEqual(left_behind(self.mark), [])

    def start(self, *words, **more):
        return subprocess.Popen([UNHANG, *map(str, words)], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
                                stdout=more.pop("stdout", subprocess.PIPE), stderr=subprocess.PIPE, **more)

    def call(self, *words, **more):
        begun = time.monotonic()
        process = self.start(*words, **more)
        out, err = process.communicate(timeout=PATIENCE)
        self.took = time.monotonic() - begun
        self.out, self.err = (out or b"").decode(), err.decode()
        return process.returncode

    def probe(self, *words, limit=1.0, flags=(), over=OVER):
        """The report of one probe; `code`, `err` and the time are kept."""
        self.code = self.call("probe", "--json", "--folder", "f", "--timeout", f"{limit}s", *flags, "--", *words)
        self.assertTrue(self.out, self.err)
        report = json.loads(self.out)
        self.assertEqual(list(SCHEMA.errors(report)), [])
        self.assertEqual(report, json.loads((self.folder / "f/probe.json").read_text()))
        self.assertLess(self.took, (limit + over) * (1 + len(report["trials"])))
        self.nobody_is_left()
        return report


# Prints what py-spy would of a process that stands in a function of its command line's last word.
PY_SPY = '''#!/usr/bin/env python3
import json, sys
pid = int(sys.argv[sys.argv.index("--pid") + 1])
word = open(f"/proc/{pid}/cmdline").read().split("\\0")[-2]
frames = {"weights": ("load_weights", "vllm/model_executor/models/llama.py"),
          "collective": ("all_reduce", "torch/distributed/distributed_c10d.py"),
          "before": ("_store_based_barrier", "torch/distributed/distributed_c10d.py")}[word]
print(json.dumps([{"pid": pid, "thread_id": 140000000000, "thread_name": "MainThread", "os_thread_id": pid, "active": False,
                   "owns_gil": False, "process_info": None,
                   "frames": [{"name": frames[0], "filename": "/opt/" + frames[1], "module": None, "short_filename": frames[1],
                               "line": 7, "locals": None, "is_entry": True},
                              {"name": "<module>", "filename": "serve.py", "module": None, "short_filename": None, "line": 1,
                               "locals": None, "is_entry": True}]}]))
'''


class Stacks(Case):
    def setUp(self):
        super().setUp()
        helper = self.folder / "bin/py-spy"
        helper.parent.mkdir()
        helper.write_text(PY_SPY)
        helper.chmod(0o755)
        self.environment["PATH"] = f"{helper.parent}:{self.environment['PATH']}"

    def stuck(self, name):
        launch = self.probe(*LAUNCH, name, flags=("--look", "30s"), over=33)["launch"]
        self.assertIn("process", launch["evidence"][0]["text"], f"{launch['not_seen']}\n{self.looked()}")
        return launch["place"], launch["doing"], launch["confidence"]

    def looked(self):
        """What the look's sources say of themselves."""
        manifest = json.loads(next(self.folder.rglob("manifest.json")).read_text())
        return json.dumps([source for source in manifest["sources"] if source["kind"] == "stacks"], indent=1)

    def test_weights(self):
        self.assertEqual(self.stuck("weights"), ("after_init", "loading weights", "high"))

    def test_store(self):
        self.assertEqual(self.stuck("before"), ("before_nccl", "waiting for other ranks in the store", "medium"))


class NativeStacks(Case):
    @unittest.skipUnless(shutil.which("gdb"), "gdb is not installed")
    def test_gdb_shows_the_initialisation(self):
        report = self.probe(STUCK, flags=("--look", "30s"), over=33)
        self.assertEqual((report["launch"]["place"], report["launch"]["movement"]), ("nccl_init", "standing"))
        self.assertIn("ncclCommInitRank", report["launch"]["evidence"][0]["text"])
        self.assertEqual(self.code, 2)


class Places(Case):
    def place(self, name):
        report = self.probe(*LAUNCH, name, limit=1.5)
        self.assertFalse(report["launch"]["ended"])
        return report["launch"]

    def test_before_nccl(self):
        launch = self.place("before")
        self.assertEqual(launch["place"], "before_nccl")
        self.assertEqual(self.code, 3)
        self.assertEqual(launch["last_line"], "Init torch distributed begin")

    def test_in_the_initialisation(self):
        launch = self.place("init")
        self.assertEqual((launch["place"], launch["movement"]), ("nccl_init", "standing"))
        self.assertEqual(launch["missing_ranks"], [1])
        self.assertRegex(launch["evidence"][0]["file"], r"/f/launch/nccl\..*\.log$")
        self.assertEqual(self.code, 2)

    def test_after_it(self):
        launch = self.place("weights")
        self.assertEqual((launch["place"], launch["doing"]), ("after_init", "loading weights"))
        self.assertLess(launch["nccl_ready_s"], 1.5)
        self.assertEqual(self.code, 3)

    def test_in_the_first_collective(self):
        launch = self.place("collective")
        self.assertEqual((launch["place"], launch["movement"]), ("first_collective", "standing"))
        self.assertEqual(self.code, 2)

    def test_the_evidence_can_be_diagnosed(self):
        self.probe(*LAUNCH, "init")
        self.assertEqual(self.call("diagnose", "--json", "f/launch"), 2, self.err)
        self.assertEqual(json.loads(self.out)["verdict"]["category"], "initialization_hang")


    def agrees(self, *words, limit=5.0):
        """The verdict of a probe; `diagnose` of its folder has to give the same, with the same status."""
        report = self.probe(*words, limit=limit)
        self.assertEqual(self.call("diagnose", "--json", "f/launch"), self.code, self.err)
        diagnosed = json.loads(self.out)["verdict"]
        for key in ("category", "cause", "confidence", "state"):
            self.assertEqual(report["verdict"][key], diagnosed[key])
        return report["verdict"]

    def test_words_about_a_death_of_a_program_that_lives(self):
        verdict = self.agrees(*LAUNCH, "quotes")
        self.assertEqual((verdict["confidence"], verdict["state"], self.code), ("low", "unknown", 3))

    def test_an_exception_of_a_rank_whose_launcher_lives(self):
        verdict = self.agrees(*LAUNCH, "raises")
        self.assertEqual((verdict["confidence"], self.code), ("low", 3))

    def test_what_it_prints_during_the_look_counts(self):
        report = self.probe("sh", "-c", "sleep 1.05; while :; do echo x; sleep 0.02; done")
        self.assertGreater(report["launch"]["output_bytes"], 0)
        self.assertEqual(report["launch"]["output_bytes"], 2 * self.err.splitlines().count("x"))


class Ends(Case):
    def test_the_exit_status_is_kept(self):
        self.assertEqual(self.call("probe", "--folder", "f", "--", "sh", "-c", "echo out; echo err >&2; exit 7"), 7)
        self.assertEqual(self.out, "out\n")
        self.assertIn("err\n", self.err)
        self.assertIn("FAILED", self.err)

    def test_a_limit_in_plain_seconds(self):
        self.assertEqual(self.call("probe", "--timeout", "60", "--folder", "f", "--", "true"), 0)
        self.assertIn("watching for 1m;", self.err)

    def test_a_signal_is_128_and_more(self):
        report = self.probe("sh", "-c", "kill -SEGV $$")
        self.assertEqual((self.code, report["launch"]["signal"]), (139, 11))

    def test_nothing_to_diagnose_is_not_suggested(self):
        self.assertEqual(self.call("probe", "--folder", "f", "--", "true"), 0)
        suggested = "unhang diagnose" in self.err
        self.assertEqual(suggested, self.call("diagnose", "f/launch") != 66)

    def test_many_that_ignore_sigterm(self):
        report = self.probe(*LAUNCH, "stubborn-many", "40", limit=2)
        self.assertEqual((report["launch"]["processes"], report["launch"]["left"]), (40, []))
        self.assertTrue(report["launch"]["killed"])

    def test_what_cannot_be_run(self):
        self.assertEqual(self.call("probe", "--folder", "f", "--", "no-such-program"), 127)
        self.assertEqual(self.err.splitlines()[-1], "unhang: no-such-program: No such file or directory")
        self.assertEqual(self.call("probe", "--folder", "g", "--", "/etc/passwd"), 126)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_who_hides_is_ended(self):
        report = self.probe(*LAUNCH, "tree")
        self.assertTrue(report["launch"]["killed"])
        self.assertEqual(report["launch"]["left"], [])
        self.assertEqual(report["launch"]["processes"], 3)

    def test_who_is_left_behind_is_ended(self):
        report = self.probe("sh", "-c", "setsid sleep 100 & exit 4")
        self.assertEqual(self.code, 4)
        self.assertIn("left behind", " ".join(report["launch"]["notes"]))

    def test_sixty_four_processes(self):
        report = self.probe(*LAUNCH, "many", "64", limit=2)
        self.assertEqual(report["launch"]["processes"], 64)

    def test_stuck_in_the_kernel(self):
        report = self.probe(*LAUNCH, "uninterruptible")
        self.assertTrue(report["launch"]["killed"])

    def test_a_look_that_takes_its_time(self):
        # A py-spy that never answers.
        helper = self.folder / "bin/py-spy"
        helper.parent.mkdir()
        helper.write_text("#!/bin/sh\ntrap '' TERM\nsleep 600\n")
        helper.chmod(0o755)
        self.environment["PATH"] = f"{helper.parent}:{self.environment['PATH']}"
        self.probe(*LAUNCH, "before")

    def interrupted(self, number):
        process = self.start("probe", "--json", "--folder", "f", "--", *LAUNCH, "stubborn")
        self.assertEqual(process.stderr.readline()[:7], b"unhang:")
        self.assertEqual(process.stderr.readline(), b"ready\n")
        begun = time.monotonic()
        process.send_signal(number)
        out, _ = process.communicate(timeout=PATIENCE)
        self.assertLess(time.monotonic() - begun, OVER)
        self.assertEqual(process.returncode, 128 + number)
        self.assertEqual(json.loads(out)["launch"]["interrupted_by"], number)
        self.assertTrue((self.folder / "f/launch/look/manifest.json").exists())
        self.nobody_is_left()

    def test_ctrl_c(self):
        self.interrupted(signal.SIGINT)

    def test_sigterm(self):
        self.interrupted(signal.SIGTERM)


class Output(Case):
    def test_a_gigabyte(self):
        with tempfile.TemporaryFile() as nothing:
            del nothing
            process = self.start("probe", "--folder", "f", "--", *LAUNCH, "flood", str(10**9))
            total, digest = 0, hashlib.sha256()
            while block := process.stdout.read(1 << 20):
                total += len(block)
                digest.update(block)
            self.assertEqual(process.wait(PATIENCE), 0)
            process.stderr.close()
            process.stdout.close()
        self.assertEqual(total, 10**9)
        wanted = hashlib.sha256()
        for _ in range(1000):
            wanted.update((b"x" * 99 + b"\n") * 10000)
        self.assertEqual(digest.digest(), wanted.digest())
        self.assertLess(sum(f.stat().st_size for f in self.folder.rglob("*") if f.is_file()), 32 << 20)

    def test_nobody_takes_it(self):
        read_end, write_end = os.pipe()
        begun = time.monotonic()
        process = self.start("probe", "--folder", "f", "--timeout", "1s", "--", *LAUNCH, "flood", str(10**9), stdout=write_end)
        process.communicate(timeout=PATIENCE)
        self.assertLess(time.monotonic() - begun, 1 + OVER)
        os.close(read_end)
        os.close(write_end)
        self.nobody_is_left()

    def test_the_reader_goes_away(self):
        process = self.start("probe", "--folder", "f", "--timeout", "30s", "--", "yes")
        process.stdout.read(100)
        process.stdout.close()
        self.assertEqual(process.wait(PATIENCE), 128 + signal.SIGPIPE)
        process.stderr.close()

    def test_both_in_one_keep_their_order(self):
        script = "for i in 1 2 3 4 5 6 7 8 9; do echo o$i; echo e$i >&2; done"
        done = subprocess.run([UNHANG, "probe", "--folder", "f", "--", "sh", "-c", script], cwd=self.folder, env=self.environment,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=PATIENCE, check=True)
        lines = [line for line in done.stdout.decode().splitlines() if re.fullmatch("[oe][1-9]", line)]
        self.assertEqual(lines, [f"{c}{i}" for i in range(1, 10) for c in "oe"])

    def test_a_terminal_stays_one(self):
        master, slave = pty.openpty()
        process = self.start("probe", "--folder", "f", "--", "sh", "-c", "test -t 1 && echo tty", stdout=slave)
        os.close(slave)
        self.assertEqual(os.read(master, 100), b"tty\r\n")
        process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 0)
        os.close(master)

    def test_a_terminal_is_left_as_it_was(self):
        master, slave = pty.openpty()
        before = termios.tcgetattr(slave)
        done = subprocess.run([UNHANG, "probe", "--timeout", "1s", "--folder", "f", "--", "sh", "-c", "stty raw -echo; sleep 60"],
                              cwd=self.folder, env=self.environment, stdin=slave, stdout=slave, stderr=slave, timeout=PATIENCE)
        self.assertIn(done.returncode, (2, 3))
        self.assertEqual(termios.tcgetattr(slave), before)
        os.close(slave)
        os.close(master)

    def test_secrets_are_not_kept(self):
        report = self.probe("sh", "-c", "echo HF_TOKEN=hf_abcdefghijklmnopqrstuvwxyz", "--api-key=sk-abcdefghijklmnopqrstuvwx",
                            "--api-key", "abcdefghijklmnop")
        self.assertEqual(report["command"][3:], ["--api-key=(removed)", "--api-key", "(removed)"])
        for file in self.folder.rglob("*"):
            if file.is_file():
                self.assertNotIn(b"abcdefghijklmnop", file.read_bytes(), file)


class Experiments(Case):
    def test_a_trial_that_gets_further(self):
        report = self.probe(*LAUNCH, "needs", "NCCL_P2P_DISABLE", "1",
                            flags=("--try", "NCCL_SHM_DISABLE=1", "--try", "NCCL_P2P_DISABLE=1"))
        self.assertEqual(self.code, 2)
        shm, p2p = report["trials"]
        self.assertEqual((shm["change"], shm["place"]), ("NCCL_SHM_DISABLE=1", "first_collective"))
        self.assertEqual((p2p["change"], p2p["place"], p2p["exit_code"]), ("NCCL_P2P_DISABLE=1", "running", 0))
        self.assertEqual((p2p["throughput"], p2p["throughput_unit"]), (12.5, "samples/s"))
        self.assertIn("It hangs on direct copies between GPUs", p2p["outcome"])
        self.assertEqual(report["ruled_out"], ["shared memory between processes (NCCL_SHM_DISABLE=1 made no difference)"])

    def test_arguments(self):
        words = ["sh", "-c", 'printf "%s " "$@"; exit $#', "sh", "--slow", "--mode=a"]
        report = self.probe(*words, flags=("--try-arg=+--fast", "--try-arg=---slow", "--try-arg=---mode"))
        self.assertEqual(self.code, 2)
        self.assertEqual([(t["change"], t["exit_code"]) for t in report["trials"]],
                         [("with --fast", 3), ("without --slow", 1), ("without --mode=a", 1)])
        printed = re.findall("^(--.*?) (?:unhang:|$)", self.err, re.MULTILINE)
        self.assertEqual(printed, ["--slow --mode=a", "--slow --mode=a --fast", "--mode=a", "--slow"])

    def test_suggested(self):
        report = self.probe(*LAUNCH, "needs", "NCCL_P2P_DISABLE", "1", flags=("--suggest",))
        self.assertEqual([t["change"] for t in report["trials"]][:2], ["NCCL_P2P_DISABLE=1", "NCCL_SHM_DISABLE=1"])

    def test_none_is_suggested_where_nccl_is_not_the_reason(self):
        report = self.probe(*LAUNCH, "weights", flags=("--suggest",))
        self.assertEqual(report["trials"], [])
        self.assertIn("it does not stand in NCCL", " ".join(report["notes"]))

    def test_mistakes(self):
        for flags, words in ((["--try", "X"], "is not VAR=VALUE"), (["--try-arg=x"], "neither + (add) nor - (remove)"),
                             (["--try-arg=---nope"], "no argument '--nope'"), (["--timeout", "0"], "no time at all"),
                             (["--try", "NCCL_DEBUG_FILE=/x"], "by which the probe sees"),
                             (["--try", "TORCH_NCCL_TRACE_BUFFER_SIZE=0"], "by which the probe sees"),
                             (["--try", "A B=1"], "'A B' is no name of a variable"),
                             (["--try", "1A=1"], "'1A' is no name of a variable"),
                             (["--look", "60"], "add a unit")):
            self.assertEqual(self.call("probe", "--folder", "f", *flags, "--", "true"), 64)
            self.assertIn(words, self.err)
        self.assertFalse((self.folder / "f").exists())


class AsAnother(Case):
    def test_a_process(self):
        other = subprocess.Popen(["sleep", "100"], cwd="/usr", env=self.environment | {"OF_THE_OTHER": "yes", MARK: "other"},
                                 preexec_fn=lambda: __import__("resource").setrlimit(__import__("resource").RLIMIT_NOFILE, (77, 77)))
        self.addCleanup(other.wait)
        self.addCleanup(other.kill)
        self.assertEqual(self.call("probe", "--folder", "f", "--as-pid", other.pid, "--", "sh", "-c",
                                   "echo $OF_THE_OTHER $(pwd) $(ulimit -n)"), 0, self.err)
        self.assertEqual(self.out, "yes /usr 77\n")

    @unittest.skipUnless(os.getuid() == 0, "only root can become another")
    def test_another_user(self):
        other = subprocess.Popen(["sleep", "100"], user="nobody", group="nogroup", extra_groups=[7], cwd="/",
                                 env=self.environment | {MARK: "other"})
        self.addCleanup(other.wait)
        self.addCleanup(other.kill)
        words = ("probe", "--as-pid", other.pid, "--folder")
        self.assertEqual(self.call(*words, "f", "--", "id"), 64)
        self.assertIn(f"cannot pass through {self.folder}", self.err)
        self.folder.chmod(0o755)
        self.assertEqual(self.call(*words, "g", "--", "sh", "-c", "id -un; id -G; echo x > ${NCCL_DEBUG_FILE%/*}/mine && echo wrote"),
                         0, self.err)
        self.assertRegex(self.out, r"\Anobody\n65534 7\nwrote\n\Z")

    def test_no_such_process(self):
        self.assertEqual(self.call("probe", "--as-pid", 2**22 - 1, "--", "true"), 66)

    def unit(self, properties):
        systemctl = self.folder / "bin/systemctl"
        systemctl.parent.mkdir()
        systemctl.write_text(f"#!/bin/sh\ncat <<'END'\n{properties}\nEND\n")
        systemctl.chmod(0o755)
        self.environment["PATH"] = f"{systemctl.parent}:{self.environment['PATH']}"

    def test_a_unit_that_does_not_run(self):
        import grp
        import pwd
        (self.folder / "env").write_text("# of the unit\nB=from file\nC='quoted value'\n")
        user, group = pwd.getpwuid(os.getuid()).pw_name, grp.getgrgid(os.getgid()).gr_name
        self.unit(f"LoadState=loaded\nMainPID=0\nUser={user}\nGroup={group}\nEnvironment=A=1 \"B=in unit\"\n"
                  f"EnvironmentFiles={self.folder}/env (ignore_errors=no)\nWorkingDirectory=/usr\nLimitNOFILE=99\nLimitNOFILESoft=88")
        self.assertEqual(self.call("probe", "--folder", "f", "--as-unit", "x.service", "--", "sh", "-c",
                                   'echo "$A|$B|$C|$(pwd)|$(ulimit -n)"'), 0, self.err)
        self.assertEqual(self.out, "1|from file|quoted value|/usr|88\n")
        self.assertIn("x.service does not run", self.err)

    def test_a_unit_that_is_not_there(self):
        self.unit("LoadState=not-found\nMainPID=0")
        self.assertEqual(self.call("probe", "--as-unit", "x.service", "--", "true"), 66)
        self.assertIn("systemd knows no unit x.service", self.err)


class Run(Case):
    def test_a_good_end_costs_nothing(self):
        self.assertEqual(self.call("run", "--", "sh", "-c", "echo out; exit 0"), 0)
        self.assertEqual((self.out, self.err), ("out\n", ""))
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_a_failure_is_captured(self):
        self.assertEqual(self.call("run", "--folder", "f", "--budget", "5s", "--", "sh", "-c", "exit 3"), 3)
        self.assertIn("the command ended with status 3; capturing what is left to f", self.err)
        self.assertTrue((self.folder / "f/manifest.json").exists())

    def test_a_kill_from_inside_is_captured(self):
        self.assertEqual(self.call("run", "--folder", "f", "--budget", "5s", "--", "sh", "-c", "kill -KILL $$"), 137)
        self.assertIn("was killed by signal 9", self.err)
        self.assertTrue((self.folder / "f/manifest.json").exists())

    def test_signals_are_passed_on_and_sigterm_adds_nothing(self):
        script = "trap 'echo usr1' USR1; trap 'echo term; exit 5' TERM; echo ready; while :; do sleep 0.02; done"
        process = self.start("run", "--", "sh", "-c", script)
        self.assertEqual(process.stdout.readline(), b"ready\n")
        process.send_signal(signal.SIGUSR1)
        self.assertEqual(process.stdout.readline(), b"usr1\n")
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=PATIENCE)
        self.assertEqual((process.returncode, out, err), (5, b"term\n", b""))
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_how_it_ended_is_evidence(self):
        self.assertEqual(self.call("run", "--folder", "f", "--", "sh", "-c", "kill -KILL $$"), 137)
        self.assertLess(self.took, 8, "nothing that could move is waited for")
        command = json.loads((self.folder / "f/manifest.json").read_text())["command"]
        self.assertEqual((command["ended"], command["signal"]), (True, 9))
        self.assertEqual(self.call("diagnose", "--json", "f"), 2, self.err)
        verdict = json.loads(self.out)["verdict"]
        self.assertEqual((verdict["cause"], verdict["state"]), ("process_exited", "dead"))
        self.assertIn("was killed by signal 9 (SIGKILL)", verdict["headline"])

    def test_all_signals_are_passed_on(self):
        numbers = [signal.SIGALRM, signal.SIGUSR2, signal.SIGTSTP, signal.SIGCONT, signal.SIGPWR, signal.SIGRTMIN, signal.SIGRTMAX]
        script = ("import signal, sys, time\n"
                  "for n in map(int, sys.argv[1:]): signal.signal(n, lambda n, _: print(n, flush=True))\n"
                  "print('ready', flush=True)\n"
                  "while True: time.sleep(0.05)\n")
        process = self.start("run", "--", sys.executable, "-c", script, *[str(int(n)) for n in numbers])
        self.assertEqual(process.stdout.readline(), b"ready\n")
        for number in numbers:
            process.send_signal(number)
            self.assertEqual(process.stdout.readline(), f"{int(number)}\n".encode())
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 143)

    def test_an_ignored_sigint_stays_ignored(self):
        ignore = ["sh", "-c", 'trap "" INT; exec "$@"', "sh"]
        done = subprocess.run([*ignore, UNHANG, "run", "--", "grep", "SigIgn", "/proc/self/status"], cwd=self.folder,
                              env=self.environment, stdout=subprocess.PIPE, timeout=PATIENCE, check=True)
        self.assertTrue(int(done.stdout.split()[1], 16) & 1 << (signal.SIGINT - 1), done.stdout)

    def test_killed_the_hard_way_it_ends_the_command(self):
        for name in ("run", "probe"):
            process = self.start(name, "--", "sh", "-c", "echo $$; exec sleep 100")
            pid = int(process.stdout.readline())
            process.kill()
            process.communicate(timeout=PATIENCE)
            end = time.monotonic() + 10
            while os.path.exists(f"/proc/{pid}") and time.monotonic() < end:
                time.sleep(0.05)
            self.assertFalse(os.path.exists(f"/proc/{pid}"), name)

    def test_orphans_are_waited_for(self):
        script = "for i in 1 2 3 4 5; do (sleep 0.05 &) ; done; sleep 0.5; grep -l '^State:.Z' /proc/[0-9]*/status 2>/dev/null | " \
                 "xargs -r grep -h \"^PPid:.$PPID$\" | wc -l"
        self.assertEqual(self.call("run", "--", "sh", "-c", script), 0)
        self.assertEqual(self.out, "0\n")

    def test_what_cannot_be_run(self):
        self.assertEqual(self.call("run", "--", "no-such-program"), 127)
        self.assertEqual(self.call("run", "--", "/etc/passwd"), 126)


if __name__ == "__main__":
    UNHANG = str(pathlib.Path(sys.argv.pop(1)).resolve())
    STUCK = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
