#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a log of training and serving jobs, one after the other, in which every second line is NCCL's: same bytes every time.

    bench/log_lines.py FILE --megabytes 256

A job has 64 ranks on 8 hosts and two communicators a rank. It is told as NCCL tells it: bootstrap, network, graph, channels,
collectives with their tuning, then an end; every fourth job ends with a network error and the watchdogs of its ranks. Between
NCCL's lines stand those of PyTorch, vLLM, SGLang, Ray, the kernel, a training loop and plain text. Jobs take turns in what
their lines begin with: nothing, the times of kubectl, the tags of mpirun, the task of srun, `[rankN]:`. Wordings as in
NCCL 2.21 to 2.28 and PyTorch 2.5 to 2.8; names and addresses are made up.
"""

import argparse
import pathlib
import random

HOSTS, GPUS = 8, 8
RANKS = HOSTS * GPUS
ROUNDS = 200  # rounds of collectives in a job: with it about 13 MB
START = 1796022000  # seconds: the day and the hour are all that is printed of it


class Rank:
    def __init__(self, number, chance):
        self.number, self.local, self.node = number, number % GPUS, number // GPUS
        self.host = f"gpu-a-{self.node:03d}"
        self.address = f"10.20.{self.node}.{10 + self.local}"
        self.pid = chance.randrange(2000, 4000000)
        self.comms = [chance.randrange(1 << 44, 1 << 46) << 4 for _ in range(2)]
        self.bus = f"{0x1a + 0x11 * self.local:x}000"
        self.main = f"{self.host}:{self.pid}:{self.pid + 901} [{self.local}]"
        self.proxy = f"{self.host}:{self.pid}:{self.pid + 977} [{self.local}]"
        self.info = self.main + " NCCL INFO "
        self.proxy_info = self.proxy + " NCCL INFO "


class Job:
    """One job: its ranks, its clock, and the outer prefix of its lines."""

    def __init__(self, number, chance):
        self.number, self.chance = number, chance
        self.ranks = [Rank(rank, chance) for rank in range(RANKS)]
        self.ids = [chance.randrange(1 << 63, 1 << 64) for _ in range(2)]
        self.microseconds = (START + number * 600) * 1000000
        self.fails = number % 4 == 1
        self.failed = False

    def clock(self):
        """Time of day, moved on a little at every call."""
        self.microseconds += 37 + self.microseconds % 61
        seconds, fraction = divmod(self.microseconds, 1000000)
        minutes = seconds // 60
        return f"{minutes // 60 % 24:02d}:{minutes % 60:02d}:{seconds % 60:02d}", fraction

    def prefix(self, rank):
        style = self.number % 5
        if style == 1:
            time, fraction = self.clock()
            return f"2026-11-30T{time}.{fraction:06d}000Z "
        if style == 2:
            return f"[1,{rank.number}]<stdout>:"
        if style == 3:
            return f"{rank.number}: "
        if style == 4:
            return f"[rank{rank.number}]:"
        return ""


def opening(job, rank, which):
    """INFO of one rank from the bootstrap to Init START; `which`: the first communicator or the split one."""
    d, comm, say = rank.local, rank.comms[which], rank.info
    if which == 0:
        yield say + f"Bootstrap: Using eth0:{rank.address}<0>"
        yield say + "cudaDriverVersion 12080"
        yield say + "NCCL version 2.27.5+cuda12.9"
        yield say + "NCCL_DEBUG set by environment to INFO."
        yield say + "NCCL_SOCKET_IFNAME set by environment to eth0"
        yield say + "NCCL_IB_HCA set to mlx5"
        yield say + "NCCL_IB_TIMEOUT set by environment to 22."
        yield say + "NET/Plugin: Could not find: libnccl-net.so. Using internal network plugin."
        yield say + ("NET/IB : Using " + " ".join(f"[{n}]mlx5_{n}:1/IB" for n in range(8)) + f" [RO]; OOB eth0:{rank.address}<0>")
        yield say + f"NET/Socket : Using [0]eth0:{rank.address}<0> [1]docker0:172.17.0.1<0>"
        yield say + "Using network IB"
        yield say + "DMA-BUF is available on GPU device " + str(d)
        yield say + (f"ncclCommInitRankConfig comm {comm:#x} rank {rank.number} nranks {RANKS} cudaDev {d} nvmlDev {d} busId {rank.bus} "
                     f"commId {job.ids[0]:#x} - Init START")
    else:
        yield say + (f"ncclCommSplit comm {comm:#x} rank {rank.number} nranks {RANKS} cudaDev {d} nvmlDev {d} busId {rank.bus} "
                     f"parent {rank.comms[0]:#x} splitCount 1 color 1734 key {rank.number}- Init START")
    yield say + "RAS client listening socket at 127.0.0.1<28028>"
    yield say + "Bootstrap timings total 0.041870 (create 0.000031, send 0.000154, recv 0.000271, ring 0.039410, delay 0.000000)"


def graph(job, rank, which):
    """INFO of one rank from the topology to Init COMPLETE."""
    d, n, comm, say = rank.local, rank.number, rank.comms[which], rank.info
    yield say + f"Setting affinity for GPU {d} to 0-47,96-143"
    yield say + f"NVLS multicast support is available on dev {d} (NVLS_NCHANNELS 16)"
    yield say + f"comm {comm:#x} rank {n} nRanks {RANKS} nNodes {HOSTS} localRanks {GPUS} localRank {d} MNNVL 0"
    yield say + "=== System : maxBw 360.0 totalBw 360.0 ==="
    yield say + "CPU/0-0 (1/1/2)"
    yield say + "+ PCI[48.0] - PCI/0-15000 (1000c0301000ffff)"
    yield say + "              + PCI[48.0] - GPU/0-1a000 (0)"
    yield say + "+ NVL[360.0] - NVS/0"
    yield say + f"GPU/0-{rank.bus} :GPU/0-1a000 (2/360.0/NVL) NVS/0-0 (1/360.0/NVL) CPU/0-0 (2/48.0/PHB) NET/0-0 (3/48.0/PXB)"
    yield say + "Pattern 4, crossNic 0, nChannels 8, bw 48.000000/48.000000, type NVL/PXB, sameChannels 0"
    yield say + " 0 : NET/0-0 GPU/0-1a000 GPU/0-2b000 GPU/0-3c000 GPU/0-4d000 GPU/0-5e000 GPU/0-6f000 NET/0-0"
    yield say + f"Ring 00 : {(n - 1) % RANKS} -> {n} -> {(n + 1) % RANKS}"
    if n == 0:
        for channel in range(16):
            yield say + f"Channel {channel:02d}/16 : " + "".join(f"{peer:4d}" for peer in range(RANKS))
    yield say + "Trees " + " ".join(f"[{c}] {(n + 1) % RANKS}/{-1 if c % 2 else (n + 8) % RANKS}/-1->{n}->{n - 1}" for c in range(16))
    yield say + "P2P Chunksize set to 131072"
    yield rank.proxy_info + f"[Proxy Service] Device {d} CPU core {4 + d}"
    yield rank.proxy_info + f"[Proxy Service UDS] Device {d} CPU core {5 + d}"
    nxt = (n + 1) % RANKS
    for channel in range(16):
        if nxt % GPUS:
            yield say + f"Channel {channel:02d}/0 : {n}[{d}] -> {nxt}[{nxt % GPUS}] via P2P/{'CUMEM' if which else 'IPC/read'}"
        else:
            yield say + f"Channel {channel:02d}/0 : {n}[{d}] -> {nxt}[0] [send] via NET/IB/{channel % 8}/GDRDMA"
            yield say + f"Channel {channel:02d}/0 : {(n - 8) % RANKS}[7] -> {n - 7}[0] [receive] via NET/IB/{channel % 8}(7)/GDRDMA/Shared"
    yield say + f"Channel 00/1 : {n}[{d}] -> {n ^ 1}[{d ^ 1}] via SHM/direct/direct"
    yield say + "Connected all rings, use ring PXN 0 GDR 1"
    yield say + "Connected all trees"
    yield say + f"NVLS comm {comm:#x} headRank {d} nHeads 8 nvlsRanks 8 buffSize 1048576 nvlsPerRankSize 33554432 nvlsTotalSize 268435456"
    yield say + "threadThresholds 8/8/64 | 512/8/64 | 512 | 512"
    yield say + "16 coll channels, 16 collnet channels, 16 nvls channels, 16 p2p channels, 2 p2p channels per peer"
    yield say + "TUNER/Plugin: Could not find: libnccl-tuner.so. Using internal tuner plugin."
    name = "ncclCommSplit" if which else "ncclCommInitRankConfig"
    of = f"parent {rank.comms[0]:#x} splitCount 1 color 1734 key {n}" if which else f"commId {job.ids[0]:#x}"
    yield say + f"{name} comm {comm:#x} rank {n} nranks {RANKS} cudaDev {d} nvmlDev {d} busId {rank.bus} {of} - Init COMPLETE"
    yield say + (f"Init timings - {name}: rank {n} nranks {RANKS} total 1.87 (kernels 0.21, alloc 0.33, bootstrap 0.04, "
                 "allgathers 0.02, topo 0.41, graphs 0.05, connections 0.72, rest 0.09)")


def collectives(job, rank, count):
    """COLL, TUNING, CALL and TRACE of one rank for its `count`-th round."""
    comm, say = rank.comms[count % 2], rank.info
    send = 0x7f3a00000000 + (rank.pid << 9) + count * 4096
    name, kind = (("AllReduce", 9), ("AllGather", 9), ("ReduceScatter", 7), ("Broadcast", 4))[count % 4]
    elements = 1 << (10 + count % 17)
    yield say + (f"{name}: opCount {count // 2:x} sendbuff {send:#x} recvbuff {send + elements:#x} count {elements} datatype {kind} op 0 root 0 "
                 f"comm {comm:#x} [nranks={RANKS}] stream {rank.comms[0] + 64:#x}")
    if job.number % 2:
        yield say + f"{name}: {elements * 2} Bytes -> Algo RING proto SIMPLE channel{{Lo..Hi}}={{0..15}}"
    else:
        yield say + f"{elements * 2} Bytes -> Algo 1 proto 2 time {elements / 811.0:.6f}"
    if count % 8 == 5:
        peer = (rank.number + 8) % RANKS
        yield say + (f"Send: opCount {count // 2:x} sendbuff {send:#x} recvbuff (nil) count 4096 datatype 9 op 0 root {peer} "
                     f"comm {comm:#x} [nranks={RANKS}] stream {rank.comms[0] + 64:#x}")
        yield f"{rank.host}:{rank.pid}:{rank.pid} NCCL CALL ncclGroupStart()"
        yield f"{rank.main} {count * 813.127:.6f} enqueue.cc:1381 NCCL TRACE Launch kernel"
    if count % 16 == 9:
        yield rank.proxy_info + f"register comm {comm:#x} buffer {send:#x} size {elements}"


def warning(job, rank, place, text):
    """A WARN as it is printed: an empty line, then the line, with a time in every second job."""
    time, _ = job.clock()
    stamp = f"[2026-11-30 {time}] " if job.number % 2 else ""
    yield ""
    yield f"{stamp}{rank.proxy} {place} NCCL WARN {text}"


def ending(job, rank):
    """The last lines of one rank: the network error and its unwinding, or an orderly end."""
    comm, say = rank.comms[0], rank.info
    if job.fails and rank.node == 3:
        yield from warning(job, rank, "transport/net_ib.cc:2196",
                           f"NET/IB: Got completion from peer 10.20.5.{10 + rank.local}<51{rank.number:03d}> with status=12 opcode=32698 len=0 "
                           f"vendor err 129 (Recv) localGid ::ffff:{rank.address} remoteGids::ffff:10.20.5.{10 + rank.local} hca mlx5_{rank.local}")
    elif job.fails:
        yield from warning(job, rank, "misc/socket.cc:881", f"socketProgress: Connection closed by remote peer gpu-a-003.cluster<4{rank.number:04d}>")
    if job.fails:
        for place in ("transport/net.cc:1388", "proxy.cc:729", "proxy.cc:913 [Progress Thread]"):
            file, _, tag = place.partition(" ")
            yield rank.proxy_info + f"{file} -> 6{' ' + tag if tag else ''}"
        yield say + f"comm {comm:#x} rank {rank.number} nranks {RANKS} cudaDev {rank.local} busId {rank.bus} - Abort COMPLETE"
        return
    yield rank.proxy_info + f"[Service thread] Connection closed by localRank {rank.local}"
    for each in reversed(rank.comms):
        yield say + f"comm {each:#x} rank {rank.number} nranks {RANKS} cudaDev {rank.local} busId {rank.bus} - Destroy COMPLETE"


def nccl(job):
    """(rank, line) of a whole job, the ranks in turn at every step, as they come out of one terminal."""
    yield job.ranks[0], "NCCL version 2.27.5+cuda12.9"
    for stage in (opening, graph):
        for which in (0, 1) if stage is graph else (0,):
            if which:
                yield from in_turn(job, lambda rank: opening(job, rank, 1))
            yield from in_turn(job, lambda rank, stage=stage, which=which: stage(job, rank, which))
    for rank in job.ranks[:: GPUS]:
        for line in warning(job, rank, "transport/p2p.cc:275", "P2P is disabled between NVLINK connected GPUs 1 and 0. This should not be the case "
                            "given their connectivity, and is probably due to a hardware issue."):
            yield rank, line
    for count in range(ROUNDS):
        yield from in_turn(job, lambda rank, count=count: collectives(job, rank, count))
    job.failed = job.fails
    yield from in_turn(job, lambda rank: ending(job, rank))


def in_turn(job, lines_of):
    """One line of each rank, then the next of each. Some ranks are ahead: their lines come in twos."""
    waiting = [(rank, lines_of(rank)) for rank in job.ranks]
    while waiting:
        left = []
        for rank, lines in waiting:
            for _ in range(1 + (job.chance.random() < 0.2)):
                line = next(lines, None)
                if line is None:
                    break
                yield rank, line
            else:
                left.append((rank, lines))
        waiting = left


def watchdog(job, rank, time, fraction):
    """What PyTorch says of one rank after its collective did not finish."""
    glog = f"1130 {time}.{fraction:06d}417 ProcessGroupNCCL.cpp"
    group = f"[PG ID 0 PG GUID 0(default_pg) Rank {rank.number}]"
    work = "WorkNCCL(SeqNum=7753, OpType=ALLREDUCE, NumelIn=1048576, NumelOut=1048576, Timeout(ms)=600000)"
    yield f"[E{glog}:688] {group} Watchdog caught collective operation timeout: {work} ran for 600061 milliseconds before timing out."
    yield f"[E{glog}:2271] {group}  failure detected by watchdog at work sequence id: 7753 PG status: last enqueued work: 7755, last completed work: 7752"
    yield f"[E{glog}:730] Stack trace of the failed collective not found, potentially because FlightRecorder is disabled."
    yield f"[E{glog}:744] {group} Some NCCL operations have failed or timed out. Due to the asynchronous nature of CUDA kernels, subsequent GPU operations might run on corrupted/incomplete data."
    yield f"[E{glog}:2068] {group} Process group watchdog thread terminated with exception: [Rank {rank.number}] {work} ran for 600061 milliseconds before timing out."
    yield "frame #0: c10::Error::Error(c10::SourceLocation, std::string) + 0x98 (0x7f2b1c0785e8 in /opt/torch/lib/libc10.so)"
    yield f"terminate called after throwing an instance of 'c10::DistBackendError'"


def others(job):
    """(rank, line) without end: everything that is not NCCL's."""
    told = False
    number = 0
    while True:
        if job.failed and not told:
            told = True
            for rank in job.ranks:
                time, fraction = job.clock()
                for line in watchdog(job, rank, time, fraction):
                    yield rank, f"[rank{rank.number}]:{line}" if job.number % 5 != 4 else line
        number += 1
        rank = job.ranks[number * 7 % RANKS]
        time, fraction = job.clock()
        yield rank, OTHER[job.chance.randrange(len(OTHER))](rank, number, time, fraction)


# One line each: (rank, running number, time of day, microseconds). Repeated entries are met more often.
STEP = [lambda r, n, t, f: f" [2026-11-30 {t}] iteration {n:8d}/  500000 | consumed samples: {n * 1024:12d} | elapsed time per iteration (ms): {800 + f % 97}.{f % 10} | learning rate: 1.5E-04 | lm loss: {2 + f / 1e6:.6E} | grad norm: 0.{f % 1000:03d} |",
        lambda r, n, t, f: f"step={n} loss={2 + f / 1e6:.4f} lr=3.0e-05 tokens/s/gpu={11000 + f % 999} mem=61.2GiB(77.3%) mfu=41.{f % 100:02d}%"]
OTHER = STEP * 6 + [
    lambda r, n, t, f: f"(EngineCore_DP0 pid={r.pid}) INFO 11-30 {t} [loggers.py:123] Engine 000: Avg prompt throughput: {f % 9000}.1 tokens/s, Avg generation throughput: {f % 4000}.7 tokens/s, Running: {n % 64} reqs, Waiting: 0 reqs, GPU KV cache usage: {n % 100}.3%, Prefix cache hit rate: 12.5%",
    lambda r, n, t, f: f"(Worker_TP{r.local} pid={r.pid}) INFO 11-30 {t} [gpu_model_runner.py:2338] Model loading took 17.{f % 100:02d} GiB and 21.{f % 100:02d} seconds",
    lambda r, n, t, f: f"INFO:     10.20.9.{n % 250}:{40000 + f % 9000} - \"POST /v1/chat/completions HTTP/1.1\" 200 OK",
    lambda r, n, t, f: f"[2026-11-30 {t} TP{r.local}] Decode batch. #running-req: {n % 48}, #token: {f % 90000}, token usage: 0.{f % 100:02d}, cuda graph: True, gen throughput (token/s): {f % 3000}.52, #queue-req: 0,",
    lambda r, n, t, f: f"[2026-11-30 {t} TP{r.local}] Prefill batch. #new-seq: 1, #new-token: {f % 4096}, #cached-token: 0, token usage: 0.00, #running-req: {n % 48}, #queue-req: 0,",
    lambda r, n, t, f: f"(RayWorkerWrapper pid={r.pid}, ip={r.address}) INFO 11-30 {t} [worker.py:267] Memory profiling takes 4.{f % 100:02d} seconds",
    lambda r, n, t, f: f"(RayWorkerWrapper pid={r.pid}, ip={r.address}) Loading safetensors checkpoint shards: {n % 100}% Completed [repeated 6x across cluster]",
    lambda r, n, t, f: f"Nov 30 {t} {r.host} kernel: pcieport 0000:00:0{r.local}.0: AER: Corrected error received: 0000:00:0{r.local}.0",
    lambda r, n, t, f: f"[{1843 + n}.{f:06d}] mlx5_core 0000:ab:00.0 ens1f0np0: Link up",
    lambda r, n, t, f: f"Nov 30 {t} {r.host} systemd[1]: Started Session {n} of user trainer.",
    lambda r, n, t, f: f"Nov 30 {t} {r.host} kernel: nvidia-uvm: Loaded the UVM driver, major device number 511.",
    lambda r, n, t, f: f"[W1130 {t}.{f:06d}113 Module.cpp:165] symbolizing C++ stack trace for exception; if this hangs, rerun with TORCH_DISABLE_ADDR2LINE=1...",
    lambda r, n, t, f: f"I1130 {t}.{f:06d} {r.pid} ProcessGroupNCCL.cpp:843] [PG ID 0 PG GUID 0(default_pg) Rank {r.number}] ProcessGroupNCCL initialization options: size: {RANKS}, global rank: {r.number}, TIMEOUT(ms): 600000",
    lambda r, n, t, f: f"/opt/conda/lib/python3.11/site-packages/torch/utils/checkpoint.py:{f % 900}: UserWarning: the use_reentrant parameter should be passed explicitly.",
    lambda r, n, t, f: f"  File \"/workspace/train/model.py\", line {f % 900}, in forward",
    lambda r, n, t, f: f"Epoch 1:  {n % 100}%|{'#' * (n % 40)}| {n}/100000 [{t}<11:12:13,  1.{f % 100:02d}it/s, loss=2.{f % 1000:03d}]",
    lambda r, n, t, f: f"{{\"level\": \"info\", \"ts\": \"2026-11-30T{t}Z\", \"msg\": \"saved shard\", \"rank\": {r.number}, \"bytes\": {f * 1024}}}",
    lambda r, n, t, f: f"2026-11-30 {t},{f // 1000:03d} - trainer.data - INFO - prefetched batch {n} of shard {f % 512} in {f % 90} ms",
    lambda r, n, t, f: f"saving checkpoint at iteration {n:7d} to /checkpoints/run-7 in torch_dist format",
    lambda r, n, t, f: "the quick evaluation of the validation set is done, going on with training",
    lambda r, n, t, f: "",
]


def write(path, megabytes):
    """Writes the log, whole lines up to `megabytes` (10^6 bytes), beside its name first: a file that is there is complete."""
    chance = random.Random(20261130)
    limit, size, pending, waiting, number = megabytes * 1000000, 0, [], 0, 0
    part = path.with_suffix(".part")
    with open(part, "w", encoding="ascii", newline="\n") as out:
        while size + waiting < limit:
            job = Job(number, chance)
            number += 1
            other, ahead = others(job), 0
            burst = chance.randrange(1, 12)
            for rank, line in nccl(job):
                line = job.prefix(rank) + line + "\n"
                pending.append(line)
                waiting += len(line)
                ahead += 1
                if ahead < burst:
                    continue
                for _ in range(ahead):
                    rank, line = next(other)
                    line = job.prefix(rank) + line + "\n"
                    pending.append(line)
                    waiting += len(line)
                ahead, burst = 0, chance.randrange(1, 12)
                if len(pending) > 50000:
                    out.write("".join(pending))
                    size, waiting, pending = size + waiting, 0, []
                if size + waiting >= limit:
                    break
        out.write("".join(pending))
    part.rename(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("--megabytes", default=256, type=int)
    options = parser.parse_args()
    write(options.file, options.megabytes)


if __name__ == "__main__":
    main()
