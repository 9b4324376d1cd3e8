"""A running `ctascope view`, for the tests beside this file."""
import json
import os
import signal
import socket
import struct
import subprocess
import urllib.error
import urllib.parse
import urllib.request


class Server:
    """with Server(ctascope, run) as server: server.json("run")"""

    def __init__(self, ctascope, *arguments, **variables):
        environment = {key: value for key, value in os.environ.items()
                       if key not in ("DISPLAY", "WAYLAND_DISPLAY")} | variables
        self.process = subprocess.Popen([ctascope, "view", *arguments], stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, env=environment)
        self.url = self.process.stdout.readline().strip()
        if not self.url:
            raise AssertionError(self.process.stderr.read())
        parts = urllib.parse.urlsplit(self.url)
        self.host, self.port, self.path = parts.hostname, parts.port, parts.path

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.stop()

    def stop(self, number=signal.SIGINT):
        """Ends it. An end with another status than 0 fails the test, and shows what it said: a
        sanitizer's report is among that."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        code = self.process.wait(timeout=1200)
        self.error = self.process.stderr.read()
        if code != 0:
            raise AssertionError(f"'ctascope view' ended with status {code} and said:\n{self.error}")

    def cpu_seconds(self):
        """What it has cost until now, which other work on the machine hardly changes."""
        with open(f"/proc/{self.process.pid}/stat", encoding="ascii") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def is_computing(self):
        """Whether a thread of it runs, or would if it had a processor: on a busy machine it may get none
        for seconds."""
        states = []
        for task in os.listdir(f"/proc/{self.process.pid}/task"):
            try:
                with open(f"/proc/{self.process.pid}/task/{task}/stat", encoding="ascii") as file:
                    states.append(file.read().rsplit(")", 1)[1].split()[0])
            except FileNotFoundError:  # it has ended
                pass
        return any(state in "RD" for state in states)

    def raw(self, request):
        """The whole answer to some bytes."""
        with socket.create_connection((self.host, self.port), timeout=1200) as connection:
            connection.sendall(request)
            answer = b""
            while True:
                more = connection.recv(65536)
                if not more:
                    return answer
                answer += more

    def request(self, target, method="GET", **headers):
        """Status, headers and body, of a request with these headers (host=None: without)."""
        lines = {"Host": f"127.0.0.1:{self.port}", "Connection": "close"}
        for key, value in headers.items():
            lines[key.replace("_", "-")] = value
        text = f"{method} {target} HTTP/1.1\r\n"
        text += "".join(f"{key}: {value}\r\n" for key, value in lines.items() if value is not None)
        answer = self.raw(text.encode("latin-1") + b"\r\n")
        head, _, body = answer.partition(b"\r\n\r\n")
        first, *rest = head.decode("latin-1").split("\r\n")
        fields = dict(line.split(": ", 1) for line in rest if ": " in line)
        return int(first.split()[1]), fields, body

    def get(self, question, prefix="", **query):
        texts = {key: value for key, value in query.items() if value is not None}
        target = f"{self.path}{prefix}api/{question}?{urllib.parse.urlencode(texts)}"
        return self.request(target)

    def json(self, question, prefix="", **query):
        status, _, body = self.get(question, prefix, **query)
        if status != 200:
            raise AssertionError((question, query, status, body))
        return json.loads(body)

    def columns(self, question, **query):
        status, _, body = self.get(question, **query)
        if status != 200:
            raise AssertionError((question, query, status, body))
        return decode(body)


def decode(body):
    """Numbers and columns of a binary answer (docs/view-protocol.md)."""
    assert body[:8] == b"CTSVIEW1"
    number_count, column_count = struct.unpack_from("<II", body, 8)
    numbers = struct.unpack_from(f"<{number_count}d", body, 16)
    table = 16 + 8 * number_count
    at, columns = table + 16 * column_count, []
    for column in range(column_count):
        kind, zero, count = struct.unpack_from("<IIQ", body, table + 16 * column)
        size, letter = {1: (1, "B"), 2: (2, "H"), 3: (4, "I"), 4: (8, "d")}[kind]
        assert zero == 0 and at % 8 == 0
        columns.append(struct.unpack_from(f"<{count}{letter}", body, at))
        at += (size * count + 7) // 8 * 8
    assert at == len(body)
    return list(numbers), columns
