#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Stands in for a distributed launch, for the tests of `unhang probe` and `unhang run`.

    launches.py PLACE            one process that writes NCCL's log and hangs there: before, init, weights, collective
    launches.py tree             processes that hide: setsid, a double fork, some of which ignore SIGTERM
    launches.py many N           N processes
    launches.py flood BYTES      prints so many bytes
    launches.py busy SECONDS     prints 10 MB/s
    launches.py stubborn         ignores SIGTERM
    launches.py uninterruptible  state D, and nothing but SIGKILL ends it
    launches.py works            prints steps with a speed, and ends well
    launches.py quotes           prints what a dead program would have printed, and hangs
    launches.py raises           a rank raises ValueError, and its launcher hangs
    launches.py stubborn-many N  N processes that ignore SIGTERM
    launches.py needs VAR VALUE  hangs in the first collective where VAR has another value, else works
"""

import os
import signal
import socket
import sys
import time


def nccl(text):
    name = os.environ["NCCL_DEBUG_FILE"].replace("%h", socket.gethostname()).replace("%p", str(os.getpid()))
    with open(name, "a", encoding="utf-8") as log:
        log.write(f"{socket.gethostname()}:{os.getpid()}:{os.getpid()} [0] NCCL INFO {text}\n")


COMM = "ncclCommInitRank comm 0x55d0c0ffee00 rank 0 nranks {} cudaDev 0 nvmlDev 0 busId 1c000 commId 0xabc123 - Init {}"


def begin(ranks):
    nccl("NCCL version 2.28.9+cuda12.9")
    nccl("Bootstrap: Using eth0:10.0.0.1<0>")
    nccl(COMM.format(ranks, "START"))


def hang():
    while True:
        time.sleep(60)


def load_weights():
    hang()


def all_reduce():
    hang()


def place(name):
    print("Init torch distributed begin", flush=True)
    if name == "before":
        hang()
    if name == "init":
        begin(2)
        hang()
    begin(1)
    nccl(COMM.format(1, "COMPLETE"))
    if name == "weights":
        print("Loading safetensors checkpoint shards:   0% Completed | 0/4 [00:00<?, ?it/s]", flush=True)
        load_weights()
    nccl("AllReduce: opCount 0 sendbuff 0x7f10 recvbuff 0x7f20 count 1024 datatype 7 op 0 root 0 "
         "comm 0x55d0c0ffee00 [nranks=1] stream 0x55d1")
    all_reduce()


def tree():
    if os.fork() == 0:
        os.setsid()
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        if os.fork() == 0:
            hang()
        os._exit(0)  # the grandchild is an orphan now
    if os.fork() == 0:
        hang()
    hang()


def many(count):
    for _ in range(count - 1):
        if os.fork() == 0:
            hang()
    hang()


def flood(count):
    block = (b"x" * 99 + b"\n") * 10000
    while count > 0:
        count -= os.write(1, block[: min(count, len(block))])


def busy(seconds):
    line, end, due = b"a line of a hundred bytes ".ljust(99, b".") + b"\n", time.monotonic() + seconds, time.monotonic()
    while time.monotonic() < end:
        for _ in range(100):  # one write a line, as print() does on a terminal
            os.write(1, line)
        due += 0.001
        time.sleep(max(0, due - time.monotonic()))


def uninterruptible():
    # The parent of a vfork waits in state D until its child has opened the pipe, which nobody writes to.
    pipe = os.path.join(os.environ.get("TMPDIR", "/tmp"), f"unhang-never-{os.getpid()}")
    os.mkfifo(pipe)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    watcher = os.fork()
    if watcher == 0:
        time.sleep(0.5)
        os.unlink(pipe)
        hang()
    os.posix_spawn("/bin/true", ["true"], {}, file_actions=[(os.POSIX_SPAWN_OPEN, 0, pipe, os.O_RDONLY, 0)])


def quotes():
    print("in the log of node7: Out of memory: Killed process 15617 (python3) total-vm:1kB, anon-rss:1kB", flush=True)
    print("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB", flush=True)
    hang()


def raises():
    if os.fork() == 0:
        raise ValueError("no such model")
    os.wait()
    hang()


def stubborn_many(count):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    many(count)


def works():
    begin(1)
    nccl(COMM.format(1, "COMPLETE"))
    for step in range(3):
        print(f"step {step + 1}/3 loss 2.{step} {10 + step}.5 samples/s", flush=True)


def main():
    what = sys.argv[1]
    if what in ("before", "init", "weights", "collective"):
        place(what)
    elif what == "tree":
        tree()
    elif what == "many":
        many(int(sys.argv[2]))
    elif what == "flood":
        flood(int(sys.argv[2]))
    elif what == "busy":
        busy(float(sys.argv[2]))
    elif what == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        print("ready", flush=True)
        hang()
    elif what == "uninterruptible":
        uninterruptible()
    elif what == "quotes":
        quotes()
    elif what == "raises":
        raises()
    elif what == "stubborn-many":
        stubborn_many(int(sys.argv[2]))
    elif what == "works":
        works()
    elif what == "needs":
        if os.environ.get(sys.argv[2]) == sys.argv[3]:
            works()
        else:
            place("collective")
    else:
        sys.exit(f"what is {what}?")


if __name__ == "__main__":
    main()
