#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`unhang capture --hosts/--pods/--slurm` with ssh, kubectl and srun that run the command here, or behave badly.

    tests/net/fan_out_cli.py UNHANG
"""

import io
import json
import os
import pathlib
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "tests/schema"))
from validate import Validator  # noqa: E402

SCHEMA = Validator(json.loads((ROOT / "docs/schema/bundle-1.json").read_text()))
UNHANG = None

# What the machine `$host` does with the command line in `$line`.
MACHINES = r"""
case "$host" in
refuses) echo "ssh: connect to host $host port 22: Connection refused" >&2; exit 255 ;;
hangs) trap '' TERM; while :; do sleep 1000; done ;;
mute) echo "Warning: added $host" >&2; exec sleep 1000 ;;
garbage) while :; do echo "this is no tar at all, only a login that never ends"; done ;;
talks*) echo "no capture for you"; exit 0 ;;
evil*) exec cat "$FAKES/$host.tar" ;;
arm*) PATH="$FAKES/arm:/usr/bin:/bin" ;;
has*) PATH="$FAKES/has:/usr/bin:/bin" ;;
home*) PATH="$FAKES/has:/usr/bin:/bin"; HOME="$FAKES/$host"; export HOME ;;
breaks*) PATH="$FAKES/has:/usr/bin:/bin"; sh -c "$line" | head -c 3000; exit 255 ;;
welcome*) PATH="$FAKES/has:/usr/bin:/bin"; echo "Welcome to $host, manifest.json" ;;
*) PATH="/usr/bin:/bin" ;;
esac
export PATH
echo "$host" >>"$FAKES/asked"
"""
SSH = """#!/bin/sh
[ "$1 $2 $3 $4" = "-T -o BatchMode=yes -o" ] && [ "$6" = "--" ] || exit 99
host=$7 line=$8
""" + MACHINES + 'exec sh -c "$line"\n'
KUBECTL = """#!/bin/sh
if [ "$1" = get ]; then cat "$FAKES/pods.json"; exit; fi
[ "$1 $2" = "exec -i" ] || exit 99
host=$3; shift 3
while [ "$1" != "--" ]; do echo "$1" >>"$FAKES/words"; shift; done; shift
""" + MACHINES + 'exec "$@"\n'
SRUN = """#!/bin/sh
for word; do case "$word" in --nodelist=*) host=${word#*=};; --jobid=42) job=1;; esac; done
[ -n "$job" ] || exit 99
while [ "$1" != sh ]; do shift; done
""" + MACHINES + 'exec "$@"\n'


def tar_of(*members):
    """A tar of (name, bytes or the type of a member without bytes)."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, content in members:
            info = tarfile.TarInfo(name)
            if isinstance(content, bytes) and len(content) == 1:
                info.type, info.linkname = content, "/etc/passwd"
                tar.addfile(info)
                continue
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return out.getvalue()


MANIFEST = json.dumps({"schema": "unhang.bundle/1", "host": "evil", "sources": [], "processes": []}).encode()


class FanOut(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="unhang-fan-out-")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.fakes = self.folder / "fakes"
        for name in ("bin", "arm", "has", "tmp"):
            (self.fakes / name).mkdir(parents=True)
        self.program("bin/ssh", SSH)
        self.program("bin/kubectl", KUBECTL)
        self.program("bin/srun", SRUN)
        self.program("bin/squeue", "#!/bin/sh\necho 'node[1-2]'\n")
        self.program("arm/uname", "#!/bin/sh\necho riscv64\n")
        self.program("has/unhang", f'#!/bin/sh\necho "$1" >>"$FAKES/installed"\nexec {UNHANG} "$@"\n')
        self.environment = dict(os.environ, FAKES=str(self.fakes), TMPDIR=str(self.fakes / "tmp"),
                                PATH=f"{self.fakes}/bin:/usr/bin:/bin")
        # A machine that has a counter, so that something is found.
        self.sys = self.folder / "sys"
        counter = self.sys / "class/net/eth0/statistics/rx_bytes"
        counter.parent.mkdir(parents=True)
        counter.write_text("7\n")
        (self.folder / "proc").mkdir()
        self.bundle = self.folder / "bundle"

    def program(self, name, text):
        path = self.fakes / name
        path.write_text(text)
        path.chmod(0o755)

    def words(self, *who, budget="20s"):
        return [UNHANG, "capture", "-o", str(self.bundle), "--budget", budget, "--proc", str(self.folder / "proc"),
                "--sys", str(self.sys), "--sources", "nic", "--samples", "1", *who]

    def capture(self, *who, budget="20s"):
        began = time.monotonic()
        done = subprocess.run(self.words(*who, budget=budget), env=self.environment, capture_output=True, text=True,
                              timeout=120)
        self.elapsed = time.monotonic() - began
        self.assertEqual(list((self.fakes / "tmp").iterdir()), [], "nothing is left on the members")
        return done

    def sources(self):
        manifest = json.loads((self.bundle / "manifest.json").read_text())
        return {source["id"].removeprefix("member-"): source for source in manifest["sources"]}

    def statuses(self):
        return {name: source["status"] for name, source in self.sources().items()}

    def has_member(self, name):
        manifest = json.loads((self.bundle / "members" / name / "manifest.json").read_text())
        files = [file for source in manifest["sources"] for file in source["files"]]
        self.assertIsNotNone(manifest["ended"])
        self.assertTrue(files)
        for file in files:
            self.assertEqual((self.bundle / "members" / name / file["path"]).stat().st_size, file["bytes"])

    def test_all_answer_with_and_without_the_program_installed(self):
        done = self.capture("--hosts", "node[1-2],has1,welcome1", "--label", "note=it's \"$HOME\" `id`")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(set(self.statuses().values()), {"answered"})
        for name in ("node1", "node2", "has1", "welcome1"):
            self.has_member(name)
        inner = json.loads((self.bundle / "members/node1/manifest.json").read_text())
        self.assertEqual(inner["labels"], {"note": "it's \"$HOME\" `id`"})
        self.assertEqual((self.fakes / "installed").read_text().split().count("capture"), 2)
        self.assertIn("next: unhang diagnose", done.stdout)
        said = subprocess.run([UNHANG, "diagnose", "-v", str(self.bundle)], capture_output=True, text=True)
        self.assertNotIn("not in the manifest", said.stdout + said.stderr)
        self.assertNotIn("changed", said.stdout + said.stderr)

    def test_who_does_not_answer_is_in_the_ledger_and_costs_the_others_nothing(self):
        done = self.capture("--hosts", "has1,refuses,hangs,mute,arm1,talks,garbage", budget="4s")
        self.assertEqual(done.returncode, 0)
        self.assertLess(self.elapsed, 5.0)
        self.assertEqual(self.statuses(), {"has1": "answered", "refuses": "refused", "hangs": "silent", "mute": "silent",
                                           "arm1": "failed", "talks": "failed", "garbage": "failed"})
        reasons = {name: source.get("reason", "") for name, source in self.sources().items()}
        self.assertIn("Connection refused", reasons["refuses"])
        self.assertIn("no answer in its time", reasons["hangs"])
        self.assertIn("architecture there is riscv64", reasons["arm1"])
        self.assertIn("no bundle: no capture for you", reasons["talks"])
        self.assertIn("what it sent is no bundle", reasons["garbage"])
        self.has_member("has1")
        said = subprocess.run([UNHANG, "diagnose", "--json", str(self.bundle)], capture_output=True, text=True)
        self.assertIn("host hangs: silent, no answer in its time", said.stdout)
        said = subprocess.run([UNHANG, "diagnose", "--json", "--anonymize", str(self.bundle)], capture_output=True, text=True)
        self.assertNotIn("hangs", said.stdout)
        self.assertNotIn("refuses", said.stdout)

    def test_all_members_are_read_as_one_incident(self):
        dumps = self.folder / "dumps"
        subprocess.run([UNHANG, "simulate", "-o", dumps, "--ranks", "4", "--culprit", "2"], check=True, capture_output=True)
        for rank in range(4):
            home = self.fakes / f"home{rank // 2}/.cache/torch"
            home.mkdir(parents=True, exist_ok=True)
            (dumps / f"nccl_trace_rank_{rank}").rename(home / f"comm_lib_trace_rank_{rank}")
        done = self.capture("--hosts", "home[0-1],refuses", "--sources", "flight-recorder")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        said = subprocess.run([UNHANG, "diagnose", "--json", str(self.bundle)], capture_output=True, text=True)
        verdict = json.loads(said.stdout)
        self.assertEqual((verdict["verdict"]["category"], verdict["verdict"]["cause"]),
                         ("collective_desync", "rank_not_entered"))
        self.assertIn("host refuses: refused", said.stdout)
        self.assertEqual([culprit["rank"] for culprit in verdict["culprits"]], [2])

    def test_nothing_evil_is_unpacked(self):
        first = ("manifest.json", MANIFEST)
        evil = {"evil1": tar_of(first, ("../../../evil", b"bad")), "evil2": tar_of(first, ("/tmp/evil-unhang", b"bad")),
                "evil3": tar_of(first, ("link", tarfile.SYMTYPE), ("link/x", b"bad")),
                "evil4": tar_of(first, ("hard", tarfile.LNKTYPE)), "evil5": tar_of(("manifest.json", b"{}")),
                "evil6": tar_of(first, ("a/b", b"bad"), ("a", b"bad")), "evil7": tar_of(first, ("a", b"xx"), ("a", b"yy")),
                "evil8": tar_of(first, (".hidden", b"bad")), "evil9": tar_of(first, ("fifo", tarfile.FIFOTYPE))}
        huge = bytearray(tar_of(first, ("huge", b"xx")))
        at = huge.find(b"huge\0")
        huge[at + 124:at + 136] = b"77777777777\0"
        huge[at + 148:at + 156] = b" " * 8
        huge[at + 148:at + 156] = b"%06o\0 " % sum(huge[at:at + 512])
        evil["evil10"] = bytes(huge)
        for name, content in evil.items():
            (self.fakes / f"{name}.tar").write_bytes(content)
        done = self.capture("--hosts", ",".join(evil))
        self.assertNotIn("answered", self.statuses().values())
        self.assertEqual(set(self.statuses()), set(evil))
        self.assertEqual([path for path in self.folder.rglob("*evil") if path.is_file()], [])
        self.assertFalse(pathlib.Path("/tmp/evil-unhang").exists())
        self.assertEqual([path for path in self.bundle.rglob("*") if path.is_symlink()], [])
        self.assertIn("too large", self.sources()["evil10"]["reason"])
        self.assertEqual(done.stderr, "")

    def test_what_arrived_before_a_break_is_kept(self):
        done = self.capture("--hosts", "breaks1")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        source = self.sources()["breaks1"]
        self.assertEqual(source["status"], "partial")
        self.assertIn("; what had arrived until then is kept", source["reason"])
        json.loads((self.bundle / "members/breaks1/manifest.json").read_text())
        said = subprocess.run([UNHANG, "diagnose", "--json", str(self.bundle)], capture_output=True, text=True)
        self.assertIn("host breaks1: partial", said.stdout)

    def test_more_members_than_are_asked_at_once_keep_the_budget(self):
        self.capture("--hosts", "mute,has1,talks[001-150]", budget="6s")
        self.assertLess(self.elapsed, 7.0)
        self.assertEqual(len(self.sources()), 152)
        self.assertEqual(self.statuses()["has1"], "answered")
        self.assertEqual(self.statuses()["mute"], "silent")
        self.assertEqual(list(SCHEMA.errors(json.loads((self.bundle / "manifest.json").read_text()))), [])

    def test_pods_by_their_labels(self):
        pods = [{"metadata": {"name": f"serve-{i}", "namespace": "prod"}, "status": {"phase": phase},
                 "spec": {"containers": [{"name": "vllm"}]}} for i, phase in enumerate(["Running", "Running", "Pending"])]
        (self.fakes / "pods.json").write_text(json.dumps({"items": pods}))
        done = self.capture("--pods", "app=vllm", "-n", "prod")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(self.statuses(), {"serve-0": "answered", "serve-1": "answered", "serve-2": "failed"})
        self.assertIn("Pending", self.sources()["serve-2"]["reason"])
        self.assertEqual(sorted((self.fakes / "words").read_text().split()),
                         ["--container=vllm"] * 2 + ["--namespace=prod"] * 2)
        self.has_member("serve-1")

    def test_nodes_of_a_slurm_job(self):
        done = self.capture("--slurm", "42")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(self.statuses(), {"node1": "answered", "node2": "answered"})
        self.has_member("node2")

    def test_an_interrupt_leaves_what_has_arrived(self):
        child = subprocess.Popen(self.words("--hosts", "has1,mute"), env=self.environment, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, text=True)
        for _ in range(300):
            if (self.bundle / "members/has1/nic").is_dir() and self.statuses()["has1"] == "answered":
                break
            time.sleep(0.05)
        began = time.monotonic()
        child.send_signal(signal.SIGINT)
        child.communicate(timeout=30)
        self.assertLess(time.monotonic() - began, 3)
        self.assertEqual(child.returncode, 0)
        self.assertEqual(self.statuses(), {"has1": "answered", "mute": "silent"})
        self.assertTrue(json.loads((self.bundle / "manifest.json").read_text())["interrupted"])

    def test_wrong_calls_write_nothing(self):
        for who in (["--hosts", "a", "--slurm", "1"], ["-n", "x"], ["--hosts", "-oProxyCommand=id"],
                    ["--hosts", "a b"], ["--hosts", "a", "--pid", "1"], ["--hosts", "a", "--stream"]):
            self.assertEqual(self.capture(*who).returncode, 64, who)
            self.assertFalse(self.bundle.exists())


if __name__ == "__main__":
    UNHANG = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
