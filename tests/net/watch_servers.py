# SPDX-License-Identifier: Apache-2.0
"""An engine and a RAS service to watch, for tests: what they show is changed while they run."""

import http.server
import json
import socketserver
import threading
import time

PAGES = {
    "vllm": """# HELP vllm:num_requests_running Number of requests in model execution batches.
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{{engine="0",model_name="m"}} {running}.0
# TYPE vllm:num_requests_waiting gauge
vllm:num_requests_waiting{{engine="0",model_name="m"}} {waiting}.0
# TYPE vllm:prompt_tokens_total counter
vllm:prompt_tokens_total{{engine="0",model_name="m"}} {prompt}.0
# TYPE vllm:generation_tokens_total counter
vllm:generation_tokens_total{{engine="0",model_name="m"}} {tokens}.0
# TYPE vllm:iteration_tokens_total histogram
vllm:iteration_tokens_total_count{{engine="0",model_name="m"}} {tokens}.0
process_start_time_seconds {start}
""",
    "sglang": """sglang:num_running_reqs{{model_name="m",tp_rank="0"}} {running}.0
sglang:num_queue_reqs{{model_name="m",tp_rank="0"}} {waiting}.0
sglang:gen_throughput{{model_name="m",tp_rank="0"}} 512.0
sglang:generation_tokens_total{{model_name="m"}} {tokens}.0
process_start_time_seconds {start}
""",
    "trtllm": """trtllm_num_requests_running{{model_name="m"}} {running}.0
trtllm_num_requests_waiting{{model_name="m"}} {waiting}.0
trtllm_generation_tokens_total{{model_name="m"}} {tokens}.0
process_start_time_seconds {start}
""",
}


class Engine:
    """Makes 100 tokens a second while it streams."""

    def __init__(self, kind="vllm", running=4, waiting=0, age=86400.0, made=5000, chunked=False, redirect=False):
        self.kind, self.running, self.waiting = kind, running, waiting
        self.chunked, self.redirect = chunked, redirect
        self.health = 200
        self.start = time.time() - age
        self.made, self.since = made, time.monotonic()
        self.streams = True
        self.paths = []
        engine = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                engine.answer(self)

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            request_queue_size = 128
            daemon_threads = True

        self.server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def tokens(self):
        return self.made + (int((time.monotonic() - self.since) * 100) if self.streams else 0)

    def freeze(self):
        self.made, self.streams = self.tokens(), False

    def thaw(self):
        self.since, self.streams = time.monotonic(), True

    def page(self):
        return PAGES[self.kind].format(running=self.running, waiting=self.waiting, tokens=self.tokens(), start=self.start,
                                       prompt=1000 if self.made else 0)

    def answer(self, handler):
        path = handler.path
        self.paths.append(path)
        status, body, headers = 404, "no such page\n", {}
        metrics = "/prometheus/metrics" if self.kind == "trtllm" else "/metrics/" if self.redirect else "/metrics"
        if path == "/health":
            status, body = self.health, ""
        elif path == metrics:
            status, body = 200, self.page()
        elif path == "/metrics" and self.redirect:
            status, body, headers = 307, "", {"Location": "/metrics/"}
        elif path == "/metrics" and self.kind == "trtllm":
            status, body = 200, json.dumps([{"iter": self.tokens(), "iterLatencyMS": 1.0, "numActiveRequests": self.running}])
        data = body.encode()
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name, value)
        if self.chunked:
            handler.send_header("Transfer-Encoding", "chunked")
            handler.end_headers()
            for at in range(0, len(data), 37):
                part = data[at:at + 37]
                handler.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
            handler.wfile.write(b"0\r\n\r\n")
        else:
            handler.send_header("Content-Length", str(len(data)))
            handler.end_headers()
            handler.wfile.write(data)
        handler.close_connection = True


class Raw:
    """Answers every connection with the same bytes, piece by piece, and then keeps it open (or closes it)."""

    def __init__(self, pieces, pause=0.0, close=True):
        class Handler(socketserver.BaseRequestHandler):
            def handle(self):
                try:
                    for piece in pieces:
                        self.request.sendall(piece)
                        time.sleep(pause)
                    if not close:
                        self.request.recv(1 << 16)
                        time.sleep(60)
                except OSError:
                    pass

        class Server(socketserver.ThreadingTCPServer):
            allow_reuse_address = True
            daemon_threads = True

        self.server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


class Ras:
    """A communicator of `size` ranks; `count(rank)` says what each has launched."""

    def __init__(self, size=8):
        self.size = size
        self.begin = time.monotonic()
        self.frozen_at = None
        self.laggard = None
        ras = self

        class Handler(socketserver.StreamRequestHandler):
            def handle(self):
                for raw in self.rfile:
                    line = raw.decode("ascii", "replace").strip()
                    if line.startswith("CLIENT PROTOCOL"):
                        self.wfile.write(b"SERVER PROTOCOL 2\n")
                    elif line.startswith(("TIMEOUT", "SET FORMAT json")):
                        self.wfile.write(b"OK\n")
                    elif line.endswith("STATUS"):
                        self.wfile.write(ras.report().encode())
                        return

        class Server(socketserver.ThreadingTCPServer):
            allow_reuse_address = True
            daemon_threads = True
            request_queue_size = 128

        self.server = Server(("127.0.0.1", 0), Handler)
        self.address = f"127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def freeze(self, laggard=None):
        self.frozen_at, self.laggard = time.monotonic(), laggard

    def report(self):
        launched = 1000 + int(((self.frozen_at or time.monotonic()) - self.begin) * 50)
        ranks = []
        for rank in range(self.size):
            count = launched - (1 if rank == self.laggard else 0)
            ranks.append({
                "rank": rank, "host": "10.0.0.1", "pid": 4000 + rank, "cuda_dev": rank, "nvml_dev": rank,
                "status": {"init_state": 0, "async_error": 0, "finalize_called": False, "destroy_flag": False,
                           "abort_flag": False},
                "collective_counts": {"Broadcast": 0, "Reduce": 0, "AllGather": 0, "ReduceScatter": 0, "AllReduce": count}})
        return json.dumps({
            "nccl_version": "2.30.7", "cuda_runtime_version": 12080, "cuda_driver_version": 12080,
            "timestamp": "2026-11-29 15:06:20", "communicators_count": 1,
            "communicators": [{"hash": "0xb79ec9689dde9dc4", "secondary_hash": "0x8ed963a631fd1c8b:0xedb8784c5e8e313e",
                               "size": self.size, "ranks_count": self.size, "missing_ranks_count": 0, "ranks": ranks,
                               "missing_ranks": []}],
            "ras": {"collection_time_sec": 0.0, "timeouts_count": 0}}, indent=2) + "\n"
