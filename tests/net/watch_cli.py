#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs `unhang watch` against an engine and a RAS service that are played here, and looks at what it says.

    tests/net/watch_cli.py UNHANG

A stall is judged by the number of readings, not by seconds: the machine may be slow.
"""

import concurrent.futures
import json
import pathlib
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "schema"))
from validate import Validator  # noqa: E402
from watch_servers import Engine, Ras, Raw  # noqa: E402

SCHEMA = Validator(json.loads((pathlib.Path(__file__).parents[2] / "docs/schema/watch-1.json").read_text()))

UNHANG = sys.argv[1] if len(sys.argv) > 1 else "unhang"
PATIENCE = 90  # seconds that anything may take on a loaded machine


class Watch:
    """A running watch whose readings are read as they come."""

    def __init__(self, *arguments, interval="500ms"):
        self.process = subprocess.Popen([UNHANG, "watch", "--json", "--interval", interval, *arguments],
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.lines = queue.Queue()
        self.readings = []
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            reading = json.loads(line)  # a line that is no JSON, or not as the schema says, ends the test
            errors = list(SCHEMA.errors(reading))
            assert not errors, errors[:3]
            self.lines.put(reading)
        self.lines.put(None)

    def next(self, event="state"):
        while True:
            reading = self.lines.get(timeout=PATIENCE)
            assert reading is not None, f"it ended: {self.process.stderr.read().decode()}"
            assert reading["schema"] == "unhang.watch/1"
            if reading["event"] == event:
                self.readings.append(reading)
                return reading

    def until(self, state, most=40):
        """The reading with this state, and how many came before it."""
        for count in range(most):
            reading = self.next()
            if reading["state"] == state:
                return reading, count
        raise AssertionError(f"no '{state}' in {most} readings: {[r['state'] for r in self.readings]}")

    def end(self):
        self.process.send_signal(signal.SIGINT)
        code = self.process.wait(timeout=PATIENCE)
        assert self.process.stderr.read() == b"", "Ctrl-C is no error"
        return code


def run(*arguments, interval="200ms"):
    done = subprocess.run([UNHANG, "watch", "--interval", interval, *arguments], capture_output=True, timeout=PATIENCE,
                          check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def stall_of(kind):
    engine = Engine(kind)
    watch = Watch("--engine", engine.url)
    watch.until("advancing")
    for _ in range(3):
        assert watch.next()["state"] == "advancing"
    engine.freeze()
    engine.waiting = 5
    reading, before = watch.until("stopped")
    # One reading may still see what was made before the stall; two see nothing.
    assert before <= 3, f"{kind}: stopped after {before} other readings"
    assert reading["moved_last"] == "engine" and reading["changed"] is True
    assert reading["signals"][0]["usable"] is True
    assert any("answers 200 all the while" in text for text in watch.next()["findings"])
    engine.thaw()
    watch.until("advancing")
    for _ in range(3):
        assert watch.next()["state"] == "advancing"
    engine.freeze()
    # It was silent before and came back: now it gets half as long again.
    watch.until("stopped")
    assert watch.end() == 2


def idle_is_idle():
    engine = Engine(running=0)
    engine.freeze()
    code, out, err = run("--engine", engine.url, "--count", "5", "--name", "chat")
    assert code == 0 and err == "", (code, out, err)
    assert out.count("\n") == 1 and "chat: idle" in out, out


def a_young_engine_starts():
    engine = Engine(running=1, age=5, made=0)
    engine.freeze()
    engine.made = 0
    code, out, _ = run("--engine", engine.url, "--count", "8")
    assert code == 0 and "starting" in out and "stopped" not in out, (code, out)


def a_prompt_has_its_time():
    engine = Engine(running=1)
    engine.freeze()
    code, out, _ = run("--engine", engine.url, "--count", "10")
    assert code == 3 and "stopped" not in out, (code, out)


def blind_ras_says_nothing():
    engine, ras = Engine(), Ras()
    ras.freeze(laggard=3)
    watch = Watch("--engine", engine.url, "--ras", ras.address)
    for _ in range(12):
        reading = watch.next()
        assert reading["state"] != "stopped", reading
        if not reading["signals"][1]["usable"] and "CUDA graphs" in (reading["signals"][1]["why_not"] or ""):
            break
    else:
        raise AssertionError(f"not seen to be blind: {watch.readings[-1]}")
    assert watch.readings[-1]["state"] == "advancing"
    assert watch.end() == 0


def both_signals_name_the_laggard():
    engine, ras = Engine(), Ras()
    watch = Watch("--engine", engine.url, "--ras", ras.address)
    watch.until("advancing")
    for _ in range(3):
        watch.next()
    engine.freeze()
    ras.freeze(laggard=3)
    reading, before = watch.until("stopped")
    assert before <= 3, f"after {before} other readings"
    reading = watch.next()
    assert reading["lags"] == "rank 3 of b79ec9689dde9dc4 (8)", reading
    assert watch.end() == 2


def equal_counts_alone_are_unknown():
    ras = Ras()
    ras.freeze()
    code, out, _ = run("--ras", ras.address, "--count", "8", "--json")
    assert code == 3 and "stopped" not in out and "second signal" in out, (code, out)


def moving_counts_alone_advance():
    ras = Ras()
    watch = Watch("--ras", ras.address)
    watch.until("advancing")
    ras.freeze(laggard=5)
    reading, _ = watch.until("stopped")
    assert "rank 5" in reading["lags"], reading
    assert watch.end() == 2


def failing_sources_reduce_coverage_only():
    engine = Engine()
    gone = Engine()
    gone.server.shutdown()
    gone.server.server_close()
    code, out, err = run("--engine", f"good={engine.url}", "--engine", f"bad={gone.url}", "--count", "4")
    assert code == 3, (code, out, err)
    assert "good: advancing" in out.replace("good: unknown -> advancing", "good: advancing"), out
    assert "bad: unknown" in out and "connection refused" in out.lower(), out


def hostile_servers_end():
    servers = [Raw([b"garbage\n" * 10]), Raw([], close=False), Raw([b"HTTP/1.1 200 OK\r\n"], close=False),
               Raw([b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\nx"]),
               Raw([b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"]),
               Raw([b"HTTP/1.1 200 OK\r\n\r\n"] + [b"v"] * 5, pause=0.05, close=False),
               Raw([b"HTTP/1.1 200 OK\r\n\r\n"] + [b"\0\xff<>" * 200000] * 30)]
    flags = [word for number, server in enumerate(servers) for word in ("--engine", f"s{number}={server.url}")]
    begin = time.monotonic()
    code, out, err = run(*flags, "--count", "2", interval="1s")
    assert code == 3 and err == "", (code, out, err)
    for number in range(len(servers)):
        assert f"s{number}: unknown" in out, out
    assert time.monotonic() - begin < PATIENCE / 2


def pages_are_found():
    trtllm = Engine("trtllm")
    for engine in (trtllm, Engine(chunked=True), Engine(redirect=True), Engine()):
        watch = Watch("--engine", engine.url)
        watch.until("advancing")
        assert watch.end() == 0
    assert trtllm.paths.count("/metrics") == 1, "the statistics of others are not taken away again and again"
    page = Engine("trtllm")
    watch = Watch("--engine", page.url + "/prometheus/metrics")
    watch.until("advancing")
    watch.next()
    assert watch.end() == 0
    assert "/health" in page.paths and "/metrics" not in page.paths, page.paths


def a_file_is_read_anew():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "page.txt"
        engine = Engine()
        path.write_text(engine.page(), encoding="utf-8")
        watch = Watch("--engine", f"file://{path}")
        watch.next()
        engine.made += 100
        path.with_suffix(".new").write_text(engine.page(), encoding="utf-8")
        path.with_suffix(".new").replace(path)
        watch.until("advancing")
        assert watch.end() in (0, 3)


def a_stall_is_captured():
    with tempfile.TemporaryDirectory() as folder:
        engine = Engine()
        watch = Watch("--engine", engine.url, "--name", "chat/1", "--on-stall", "capture", "--capture-dir", folder,
                      "--capture-budget", "3s", "--silence", "2s")
        watch.until("advancing")
        watch.next()
        engine.freeze()
        watch.until("stopped")
        done = watch.next("capture")
        assert done["trouble"] is None, done
        bundle = pathlib.Path(done["folder"])
        assert bundle.parent == pathlib.Path(folder) and bundle.name.startswith("unhang-chat_1-"), bundle
        assert any("manifest" in path.name for path in bundle.iterdir()), list(bundle.iterdir())
        assert any("vllm:num_requests_running" in path.read_text(errors="replace")
                   for path in bundle.rglob("*") if path.is_file()), "the page is not in the bundle"
        assert watch.end() == 2


def wrong_use_is_said():
    for arguments, words in ((["--count", "1"], "nothing to watch"), (["--engine", "ftp://x"], "no address"),
                             (["--engine", "http://a:8000", "--interval", "1ms"], "--interval"),
                             (["--ras", "a:x"], "--ras"), (["--engine", "http://:8000"], "no address")):
        done = subprocess.run([UNHANG, "watch", *arguments], capture_output=True, timeout=PATIENCE, check=False)
        assert done.returncode == 64 and words in done.stderr.decode(), (arguments, done)


def main():
    tests = [lambda: stall_of("vllm"), lambda: stall_of("sglang"), idle_is_idle, a_young_engine_starts,
             a_prompt_has_its_time, blind_ras_says_nothing, both_signals_name_the_laggard, equal_counts_alone_are_unknown,
             moving_counts_alone_advance, failing_sources_reduce_coverage_only, hostile_servers_end, pages_are_found,
             a_file_is_read_anew, a_stall_is_captured, wrong_use_is_said]
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(max_workers=4) as pool:
        running = [(test.__name__, pool.submit(test)) for test in tests]
        for name, future in running:
            try:
                future.result(timeout=PATIENCE * 4)
            except Exception as error:  # each test tells of its own failure
                failed += 1
                print(f"{name}: {type(error).__name__}: {error}")
    print(f"watch: {len(tests)} tests, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
