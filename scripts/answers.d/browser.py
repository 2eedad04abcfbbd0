"""Asks a library for browsers in headless Chromium: browser.py QUESTIONS NPM NAME VERSION ID...; one line of JSON an answer."""

import http.server
import json
import pathlib
import subprocess
import sys
import tempfile
import threading
import urllib.parse

questions, npm, name, version, *ids = sys.argv[1:]
# As web/test/browser.mjs has them: SwiftShader for WebGPU and for the page.
FLAGS = ["--headless", "--no-sandbox", "--disable-dev-shm-usage", "--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader", "--ignore-gpu-blocklist",
         "--enable-features=Vulkan", "--use-vulkan=swiftshader", "--use-angle=swiftshader", "--disable-vulkan-surface", "--no-first-run"]
KINDS = {".html": "text/html", ".js": "text/javascript", ".mjs": "text/javascript", ".wasm": "application/wasm", ".json": "application/json"}
answered = threading.Semaphore(0)


class Server(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        path = urllib.parse.urlparse(self.path).path
        here = {"/": pathlib.Path(__file__).with_name("browser.html"), "/questions.json": pathlib.Path(questions)}.get(path)
        file = here or (pathlib.Path(npm) / path[5:] if path.startswith("/npm/") else pathlib.Path("../../models") / path[1:])
        if not file.is_file():
            return self.send_error(404)
        self.send_response(200)
        self.send_header("Content-Type", KINDS.get(file.suffix, "application/octet-stream"))
        self.end_headers()
        self.wfile.write(file.read_bytes())

    def do_POST(self):
        print(self.rfile.read(int(self.headers["Content-Length"])).decode(), flush=True)
        self.send_response(204)
        self.end_headers()
        answered.release()


print(json.dumps({"version": version}), flush=True)
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
threading.Thread(target=server.serve_forever, daemon=True).start()
query = urllib.parse.urlencode({"name": name, "ids": ",".join(ids)})
with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
    browser = subprocess.Popen(["chromium", *FLAGS, f"--user-data-dir={profile}", f"http://127.0.0.1:{server.server_port}/?{query}"],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for _ in ids:
        answered.acquire()
    browser.terminate()
    browser.wait()
