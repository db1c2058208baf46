"""measure_server.py PROGRAM [SECONDS] -- memory of `view` under hostile traffic.

A recording and a running scene are served. Clients without manners send at once, for SECONDS (20) each: pipelined requests
whose answers are not read, heads and bodies that arrive byte by byte, heads and bodies that are far too large, malformed,
cut and random requests (seeded), upgrades to WebSocket, and streams that are not read. Meanwhile a well-behaved client
asks for the page. Printed: the largest resident memory, and the longest that the well-behaved client waited. An error is:
memory of 64 MB or more, a server that ends, or an answer without the key."""

import os
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

program = sys.argv[1]
seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 20.0
MOST = 64 * 2**20  # bytes


def connect(port):
    client = socket.create_connection(("127.0.0.1", port), timeout=2)
    client.settimeout(0.2)
    return client


def peak_of(pid):
    """Largest resident memory of a process and its children [bytes]: files are read, and served, in a child."""
    with open(f"/proc/{pid}/status", encoding="ascii") as text:
        peak = 1024 * int(re.search(r"VmHWM:\s+(\d+)", text.read())[1])
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as text:
        return peak + sum(peak_of(int(child)) for child in text.read().split())


def read_some(client):
    try:
        return client.recv(65536)
    except (TimeoutError, OSError):
        return b""


class Attack:
    """Threads that each send one kind of request until the time is up."""

    def __init__(self, port, key):
        self.port, self.key = port, key
        self.end = time.monotonic() + seconds
        self.sent, self.leaks = 0, []
        host = f"Host: 127.0.0.1:{port}\r\n"
        self.good = f"GET /?key={key} HTTP/1.1\r\n{host}\r\n".encode()
        self.run = f"GET /run?key={key} HTTP/1.1\r\n{host}\r\n".encode()
        self.events = f"GET /events?key={key} HTTP/1.1\r\n{host}\r\n".encode()
        self.post = f"POST /control HTTP/1.1\r\n{host}X-Stiction: {key}\r\n".encode()
        self.host = host.encode()

    def again(self, talk, seed):
        rng = random.Random(seed)
        while time.monotonic() < self.end:
            try:
                with connect(self.port) as client:
                    talk(client, rng)
            except OSError:
                time.sleep(0.01)

    def send(self, client, data):
        client.sendall(data)
        self.sent += len(data)

    def pipelined(self, client, rng):
        self.send(client, rng.choice((self.good, self.run)) * 3000)
        time.sleep(rng.uniform(0, 1))

    def slow(self, client, rng):
        for byte in (self.post + b"Content-Length: 4000\r\n\r\n" if rng.random() < 0.5 else self.good[:-2] + b"X: y\r\n" * 900):
            self.send(client, bytes([byte]))
            time.sleep(0.01)
            if time.monotonic() > self.end:
                return

    def huge(self, client, rng):
        kind = rng.randrange(4)
        if kind == 0:
            self.send(client, self.good[:-2] + b"X-A: " + b"a" * 2**22)
        elif kind == 1:
            self.send(client, self.post + b"Content-Length: 999999999999\r\n\r\n" + b"a" * 2**22)
        elif kind == 2:
            self.send(client, b"GET /" + b"a" * 2**22)
        else:
            self.send(client, self.post + b"Transfer-Encoding: chunked\r\n\r\n" + b"fffff\r\n" * 2**18)

    def malformed(self, client, rng):
        text = bytearray(rng.choice((self.good, self.run, self.events, self.post + b"Content-Length: 9\r\n\r\nlog_h=nan",
                                     b"GET / HTTP/1.1\r\n" + self.host + b"\r\n", b"OPTIONS * HTTP/1.1\r\n\r\n",
                                     b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03")))
        keyed = self.key.encode() in text
        for _ in range(rng.randrange(8)):
            at = rng.randrange(len(text) + 1)
            kind = rng.randrange(3)
            if kind == 0:
                text[at:at] = bytes(rng.randrange(256) for _ in range(rng.randrange(40)))
            elif kind == 1:
                del text[at:at + rng.randrange(30)]
            else:
                text[at:at + 1] = bytes([rng.randrange(256)])
        self.send(client, bytes(text))
        if rng.random() < 0.5:
            client.shutdown(socket.SHUT_WR)
        answer = read_some(client)
        if not keyed and b" 200 " in answer[:20]:
            self.leaks.append(bytes(text))

    def websocket(self, client, rng):
        self.send(client, (self.events if rng.random() < 0.5 else self.good)[:-2] +
                  b"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n")
        for _ in range(20):
            self.send(client, bytes([0x82, 0xFF]) + b"\xff" * 8 + bytes(rng.randrange(256) for _ in range(4000)))

    def unread(self, client, rng):
        self.send(client, self.events)
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        for _ in range(20):
            self.send(client, self.post + b"Content-Length: 7\r\n\r\ndo=step")
            time.sleep(0.1)
            if time.monotonic() > self.end:
                return

    def wait_for_page(self):
        """Seconds that a well-behaved client waits for the page at most."""
        longest = 0.0
        while time.monotonic() < self.end:
            start = time.monotonic()
            answer = b""
            while not answer.startswith(b"HTTP/1.1 200") and time.monotonic() < start + 30:
                try:
                    with connect(self.port) as client:
                        client.sendall(self.good)
                        answer = read_some(client)
                except OSError:
                    pass
            longest = max(longest, time.monotonic() - start)
            time.sleep(0.2)
        return longest


def measure(command, what):
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True,
                             preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    found = re.search(r":(\d+)/\?key=(\w+)", child.stdout.readline())
    attack = Attack(int(found[1]), found[2])
    kinds = (attack.pipelined, attack.slow, attack.huge, attack.malformed, attack.websocket, attack.unread)
    crowd = [threading.Thread(target=attack.again, args=(kind, 10 * k + n)) for k, kind in enumerate(kinds) for n in range(6)]
    for thread in crowd:
        thread.start()
    longest = attack.wait_for_page()
    for thread in crowd:
        thread.join()
    if child.poll() is not None:
        sys.exit(f"{what}: the server ended with status {child.returncode}")
    peak = peak_of(child.pid)
    child.send_signal(signal.SIGINT)
    child.wait(timeout=30)
    print(f"{what}: {attack.sent / 2**20:.0f} MB received, {peak / 2**20:.1f} MB of memory at most, the page came within {longest:.2f} s",
          flush=True)
    if attack.leaks:
        sys.exit(f"{what}: answered without the key: {attack.leaks[0]}")
    if peak >= MOST:
        sys.exit(f"{what}: more than 64 MB")


with tempfile.TemporaryDirectory() as folder:
    recording = os.path.join(folder, "run.h5")
    subprocess.run([program, "run", "world/wall", "-q", "-o", recording, "--set", "simulation/end=1"], check=True)
    measure([program, "view", recording, "--no-browser"], "recording")
    measure([program, "view", "world/wall", "--live", "--no-browser"], "live")
