#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `unhang watch` costs: 64 addresses asked once a second, all played here.

    bench/watch.py UNHANG [--kind engine|ras] [--readings 60] [--sockets 64]

Each engine page is as long as vLLM's (47 kB); each RAS answer has one communicator of 8 ranks. Prints the processor time of the
watch alone. The first readings cost more (names are resolved, /health is asked): take many.
"""

import argparse
import asyncio
import pathlib
import resource
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests/net"))
import watch_servers  # noqa: E402

HISTOGRAMS = ("time_to_first_token", "e2e_request_latency", "request_queue_time", "request_prefill_time",
              "request_decode_time", "inter_token_latency", "request_inference_time")
FILLING = "".join(f'vllm:{name}_seconds_bucket{{engine="0",le="{step * 0.25}",model_name="org/model-70b"}} {step * 3}.0\n'
                  for name in HISTOGRAMS for step in range(70))


def page(begin):
    return watch_servers.PAGES["vllm"].format(running=4, waiting=0, prompt=1000, start=begin - 9999,
                                              tokens=int((time.time() - begin) * 100)) + FILLING


def engine_server():
    begin = time.time()

    async def handle(reader, writer):
        request = await reader.readuntil(b"\r\n\r\n")
        body = b"" if b" /health " in request else page(begin).encode()
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: close\r\n\r\n" % len(body) + body)
        await writer.drain()
        writer.close()
    return handle


def ras_server():
    job = watch_servers.Ras(8)

    async def handle(reader, writer):
        while line := (await reader.readline()).strip():
            if line.endswith(b"STATUS"):
                writer.write(job.report().encode())
                await writer.drain()
                break
            writer.write(b"SERVER PROTOCOL 2\n" if line.startswith(b"CLIENT") else b"OK\n")
            await writer.drain()
        writer.close()
    return handle


async def measure(options):
    flags = []
    for number in range(options.sockets):
        handle = engine_server() if options.kind == "engine" else ras_server()
        server = await asyncio.start_server(handle, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        flags += ["--engine", f"i{number}=http://127.0.0.1:{port}"] if options.kind == "engine" else \
                 ["--ras", f"i{number}=127.0.0.1:{port}"]
    begin = time.monotonic()
    watch = await asyncio.create_subprocess_exec(options.unhang, "watch", "--interval", "1s", "--json", "--count",
                                                 str(options.readings), *flags, stdout=asyncio.subprocess.DEVNULL)
    code = await watch.wait()
    wall = time.monotonic() - begin
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = used.ru_utime + used.ru_stime
    print(f"{options.kind}: {options.sockets} sockets, {options.readings} readings in {wall:.1f} s: {seconds:.2f} s of a processor "
          f"= {100 * seconds / wall:.2f} % of a core, {used.ru_maxrss // 1024} MiB, exit {code}")
    return 0 if code == 0 else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("unhang")
    parser.add_argument("--kind", choices=("engine", "ras"), default="engine")
    parser.add_argument("--readings", type=int, default=60)
    parser.add_argument("--sockets", type=int, default=64)
    return asyncio.run(measure(parser.parse_args()))


if __name__ == "__main__":
    sys.exit(main())
