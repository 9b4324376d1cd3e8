"""What the server of `ctascope view` withstands: clients that say nothing or leave, Ctrl-C in the
middle of a question, pages of others, and users who see the arguments of its processes."""
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import unittest

from serve import Server

ctascope, run, generate, work = sys.argv[1:]
del sys.argv[1:]
shutil.rmtree(work, ignore_errors=True)
os.makedirs(work)
CONNECTIONS_KEPT = 48  # as src/view/connections.h says
LONG_SECONDS = 300  # until something that should happen counts as never happening


def wait_until(condition):
    end = time.monotonic() + LONG_SECONDS
    while not condition():
        assert time.monotonic() < end, "waited for ever"
        time.sleep(0.02)


def head_of(server, target, more=""):
    return f"GET {target} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n{more}".encode()


def connect(server, text=b""):
    connection = socket.create_connection((server.host, server.port), timeout=LONG_SECONDS)
    connection.sendall(text)
    return connection


def is_closed(connection):
    """Whether the server has closed it, also by a reset."""
    connection.setblocking(False)
    try:
        return connection.recv(65536) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


class Clients(unittest.TestCase):
    def test_half_open_connections_lock_nobody_out(self):
        with Server(ctascope, run, "--no-open") as server:
            target = f"{server.path}api/run"
            # Without a byte, with half a header, and with a body that does not come.
            texts = (b"", head_of(server, target),
                     head_of(server, target, "Content-Length: 10\r\n\r\n"),
                     head_of(server, "/", "Content-Length: 10\r\n\r\n"))
            silent = [connect(server, texts[i % len(texts)]) for i in range(8 * CONNECTIONS_KEPT)]
            with connect(server, head_of(server, target, "Connection: close\r\n\r\n")) as asking:
                self.assertTrue(asking.recv(100).startswith(b"HTTP/1.1 200 "))
            # The oldest made room for the others.
            wait_until(lambda: all(is_closed(it) for it in silent[:4 * CONNECTIONS_KEPT]))
            for connection in silent:
                connection.close()

    def test_pages_of_others(self):
        with Server(ctascope, run, "--no-open") as server:
            target = f"{server.path}api/run"
            for site, status in (("cross-site", 403), ("same-site", 403), ("", 403), ("x", 403),
                                 ("same-origin", 200), ("none", 200), (None, 200)):
                for path in (target, server.path):
                    got, _, _ = server.request(path, Sec_Fetch_Site=site)
                    self.assertEqual(got, status, (path, site))


class Drip(threading.Thread):
    """A header that never ends, a byte each second: while other tests run, since it takes long."""
    def __init__(self):
        super().__init__(daemon=True)
        self.error = "it has not ended"
        self.start()

    def drip(self, connection):
        try:
            connection.setblocking(True)
            connection.sendall(b"x")
        except OSError:
            return True
        return is_closed(connection) or time.sleep(1)

    def run(self):
        try:
            with Server(ctascope, run, "--no-open") as server:
                with connect(server, head_of(server, f"{server.path}api/run", "X: ")) as dripping:
                    wait_until(lambda: self.drip(dripping))
                server.json("run")
            self.error = None
        except BaseException as error:
            self.error = error


class Questions(unittest.TestCase):
    """Costs are in CPU time, compared with that of the same question about a smaller run."""
    @classmethod
    def setUpClass(cls):
        cls.small, cls.big = f"{work}/small.run", f"{work}/big.run"
        accesses, cls.small_cost = 100000, 0
        while cls.small_cost < 0.15:  # as many as a sanitizer's speed asks for
            accesses *= 2
            cls.generate(cls.small, accesses)
            with Server(ctascope, cls.small, "--no-open") as server:
                before = server.cpu_seconds()
                server.json("communication")
                cls.small_cost = server.cpu_seconds() - before
        cls.generate(cls.big, 30 * accesses)

    @staticmethod
    def generate(path, accesses):
        shutil.rmtree(path, ignore_errors=True)
        subprocess.run([generate, path, str(accesses)], check=True, stdout=subprocess.DEVNULL)

    def ask(self, server):
        """Asks what costs 30 times `small_cost`, and waits until the server computes."""
        before = server.cpu_seconds()
        asking = connect(server, head_of(server, f"{server.path}api/communication", "\r\n"))
        wait_until(lambda: server.cpu_seconds() - before > 2 * self.small_cost)
        return asking

    def test_a_question_whose_asker_has_gone_is_cancelled(self):
        with Server(ctascope, self.big, "--no-open") as server:
            self.ask(server).close()
            last = [-1.0]

            def is_idle():
                before, last[0] = last[0], server.cpu_seconds()
                idle = last[0] - before < 0.02 and not any(server.is_computing() for _ in range(20))
                return idle or time.sleep(1)
            wait_until(is_idle)
            self.assertLess(last[0], 15 * self.small_cost)
            server.json("run")  # it still answers

    def test_ends_in_the_middle_of_a_question(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            server = Server(ctascope, self.big, "--no-open")
            with self.ask(server):
                children = os.times()
                server.stop(number)
                spent = os.times()
                cost = (spent.children_user + spent.children_system -
                        children.children_user - children.children_system)
            self.assertLess(cost, 15 * self.small_cost)
            self.assertEqual(server.error, "")


class Browser(unittest.TestCase):
    def test_the_token_is_never_on_a_command_line(self):
        tools, told, private = f"{work}/tools", f"{work}/told", f"{work}/private"
        os.makedirs(tools)
        os.makedirs(private)
        with open(f"{tools}/xdg-open", "w", encoding="ascii") as script:
            script.write(f'#!/bin/sh\nprintf "%s\\n" "$@" > {told}.new && mv {told}.new {told}\n')
        os.chmod(script.name, 0o755)
        server = Server(ctascope, run, DISPLAY=":0", TMPDIR=private,
                        PATH=f"{tools}:{os.environ['PATH']}")
        token = server.path.strip("/")
        wait_until(lambda: os.path.exists(told))
        with open(told, encoding="utf-8") as file:
            arguments = file.read().splitlines()
        with open(f"/proc/{server.process.pid}/cmdline", encoding="utf-8") as file:
            self.assertNotIn(token, file.read())
        self.assertEqual(len(arguments), 1)
        self.assertNotIn(token, arguments[0])
        self.assertNotIn("http:", arguments[0])
        self.assertEqual(os.path.dirname(arguments[0]), private)
        self.assertEqual(os.stat(arguments[0]).st_mode & 0o777, 0o600)
        with open(arguments[0], encoding="utf-8") as file:
            address = re.search(r'url=(http://[^"]*)"', file.read())[1]
        # A browser says that a file's page is another site.
        start, _, fragment = address.partition("#")
        self.assertEqual((start, fragment), (f"http://127.0.0.1:{server.port}/open", token))
        status, fields, body = server.request("/open", Sec_Fetch_Site="cross-site")
        self.assertEqual(status, 200)
        self.assertNotIn(token.encode(), body)
        nonce = fields["Content-Security-Policy"].split("'nonce-")[1].split("'")[0]
        self.assertIn(f'<script nonce="{nonce}">'.encode(), body)
        server.stop()
        self.assertEqual(os.listdir(private), [])


class Slow(unittest.TestCase):
    """Comes last."""
    def test_the_deadline_of_a_header_that_drips(self):
        drip.join(LONG_SECONDS)
        self.assertIsNone(drip.error)


drip = Drip()
unittest.main(verbosity=2, warnings="ignore")
