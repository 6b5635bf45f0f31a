#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plays NCCL's RAS service over TCP, with recorded or made answers.

    tests/net/ras_server.py --json FILE… --text FILE… [--verbose-text FILE] [--events FILE] [--port N] [--ipv6] [--mute N] [--share-port]

Prints "listening on HOST:PORT" and serves until it is ended. Of several files of one kind, each STATUS gets the next one,
the last one for ever. Without --json it refuses SET FORMAT, as releases before 2.28.7 do. The first --mute connections
are accepted and never answered. With --share-port several of these share a port, as the processes of a job do.
"""

import argparse
import os
import pathlib
import socket
import socketserver
import sys
import threading


PID = b"987654321"  # in an answer: the pid of this process


class Answers:
    """The files of one kind, one after the other."""

    def __init__(self, paths):
        self.answers = [pathlib.Path(path).read_bytes() for path in paths]
        self.next = 0
        self.lock = threading.Lock()

    def take(self):
        with self.lock:
            answer = self.answers[min(self.next, len(self.answers) - 1)]
            self.next += 1
        return answer


class Ras(socketserver.StreamRequestHandler):
    def say(self, text):
        self.wfile.write(text.encode() + b"\n")

    def handle(self):
        server = self.server
        with server.lock:
            server.muted -= 1
            muted = server.muted >= 0
        if muted:
            self.rfile.read()  # until the client goes
            return
        form = "text"
        for raw in self.rfile:
            line = raw.decode("ascii", "replace").rstrip("\r\n")
            server.heard(line)
            if line.startswith("CLIENT PROTOCOL "):
                self.say("SERVER PROTOCOL 2")
            elif line.startswith("TIMEOUT "):
                self.say("OK")
            elif line == "SET FORMAT json" and server.json:
                form = "json"
                self.say("OK")
            elif line == "STATUS" or line == "VERBOSE STATUS":
                verbose = line.startswith("V") and server.verbose
                answers = server.json if form == "json" else server.verbose if verbose else server.text
                self.wfile.write(answers.take().replace(PID, str(os.getpid()).encode()))
                return
            elif line.startswith("MONITOR") and server.events:
                self.say("OK")
                self.wfile.write(server.events.take())
                return
            else:
                self.say(f"ERROR: Unknown command {line}")


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, options):
        if options.ipv6:
            self.address_family = socket.AF_INET6
        self.json = Answers(options.json) if options.json else None
        self.text = Answers(options.text) if options.text else None
        self.verbose = Answers(options.verbose_text) if options.verbose_text else None
        self.events = Answers(options.events) if options.events else None
        self.muted = options.mute
        self.lock = threading.Lock()
        self.log = open(options.log, "w", encoding="ascii", buffering=1) if options.log else None
        self.share_port = options.share_port
        super().__init__(("::1" if options.ipv6 else "127.0.0.1", options.port), Ras)

    def server_bind(self):
        if self.share_port:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        super().server_bind()

    def heard(self, line):
        if self.log:
            with self.lock:
                self.log.write(line + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", nargs="+", default=[])
    parser.add_argument("--text", nargs="+", default=[])
    parser.add_argument("--verbose-text", nargs="+", default=[])
    parser.add_argument("--events", nargs="+", default=[])
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--ipv6", action="store_true")
    parser.add_argument("--share-port", action="store_true")
    parser.add_argument("--mute", type=int, default=0)
    parser.add_argument("--log", help="write every line that was asked there")
    server = Server(parser.parse_args())
    host, port = server.server_address[:2]
    print(f"listening on {'[' + host + ']' if ':' in host else host}:{port}", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass
    return 0


if __name__ == "__main__":
    sys.exit(main())
