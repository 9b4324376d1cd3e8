"""Who may ask the server what: token, host, origin, method, paths, and questions without sense."""
import os
import shutil
import signal
import socket
import subprocess
import sys
import time

from serve import Server

ctascope, run, generate, work = sys.argv[1:]
shutil.rmtree(work, ignore_errors=True)
os.makedirs(work)
POLICY = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff",
          "Referrer-Policy": "no-referrer", "X-Frame-Options": "DENY",
          "Cross-Origin-Resource-Policy": "same-origin"}


def expect(server, status, target, method="GET", text=None, **headers):
    got, fields, body = server.request(target, method, **headers)
    assert got == status, (target, method, headers, got, body[:200])
    for key, value in POLICY.items():
        assert fields.get(key) == value, (target, key, fields)
    assert "default-src 'none'" in fields["Content-Security-Policy"], fields
    assert "Access-Control-Allow-Origin" not in fields
    if text is not None:
        assert text.encode() in body, (target, body)
    if status >= 400 and method != "HEAD":
        assert body.startswith(b'{"error": "') and fields["Content-Type"] == "application/json", body
    return fields, body


def check_access(server):
    token, page = server.path.strip("/"), server.path
    assert len(token) == 32 and int(token, 16) >= 0
    fields, body = expect(server, 200, page)
    assert fields["Content-Type"].startswith("text/html")
    assert b'"mode":"server"' in body.replace(b" ", b"") and b"@@" not in body
    nonce = fields["Content-Security-Policy"].split("'nonce-")[1].split("'")[0]
    assert f'<script nonce="{nonce}">'.encode() in body
    assert nonce not in expect(server, 200, page)[0]["Content-Security-Policy"]
    for path in ("/", "/api/run", f"/{token}", f"/{'0' * 32}/", f"/{token[:-1]}/", f"/{token}0/",
                 f"/{token.upper()}x/", "//", f"//{token}/", f"/{token[:31]}g/api/run"):
        expect(server, 403, path, text="token")
    run_path = f"{page}api/run"
    expect(server, 200, run_path)
    for host in ("evil.example", f"evil.example:{server.port}", "127.0.0.1", "localhost:1", "", None,
                 f"127.0.0.1:{server.port}.evil.example", f"[::1]:{server.port}"):
        if host is None:  # HTTP/1.1 wants a host: the library itself refuses
            assert server.request(run_path, Host=None)[0] in (400, 403)
        else:
            expect(server, 403, run_path, Host=host)
    expect(server, 200, run_path, Host=f"localhost:{server.port}")
    for origin in ("http://evil.example", "null", "https://127.0.0.1", "http://127.0.0.1:1",
                   f"https://127.0.0.1:{server.port}", "file://"):
        expect(server, 403, run_path, Origin=origin)
    expect(server, 200, run_path, Origin=f"http://127.0.0.1:{server.port}")
    for method in ("POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "BREW"):
        fields, _ = expect(server, 405, run_path, method)
        assert fields["Allow"] == "GET, HEAD"
    fields, body = expect(server, 200, run_path, "HEAD")
    assert body == b"" and int(fields["Content-Length"]) > 100
    # Nothing but questions has an address; no text of a request is a path.
    for path in ("../../etc/passwd", "..%2f..%2fetc%2fpasswd", "run.db", "api/", "api/../run",
                 "api/%2e%2e/run.db", "api/source/etc/passwd", "other/api/run", "index.html",
                 "api/run/", "api//run"):
        status, _, body = server.request(f"{page}{path}")
        assert status in (400, 403, 404), (path, status, body[:100])


def check_questions(server):
    page = server.path
    launch = server.json("launches")["rows"][0]["launch"]
    good = f"{page}api/records?launch={launch}"
    for query, text in (
            ("", "'launch' is missing"), ("?launch=", "'launch'"), ("?launch=x", "'launch'"),
            ("?launch=-1", "'launch'"), ("?launch=1e3", "'launch'"),
            ("?launch=4294967295", "'launch'"), ("?launch=99999999999999999999999", "'launch'"),
            ("?launch=4000000000", "there is no launch 4000000000")):
        for question in ("launch", "records", "position?index=0", "groups?by=line"):
            mark = "&" if "?" in question and query else ""
            more = mark + query.lstrip("?") if mark else query
            expect(server, 400, f"{page}api/{question}{more}", text=text)
    for query in ("count=16385", "count=-1", "count=99999999999999999999", "from=x",
                  "from=99999999999999999999", "ctas=1-", "ctas=-", "ctas=1,,2", "ctas=a",
                  "ctas=4294967296", "warps=1-2-3", "sites=1-2", "sites=x", "lines=1", "lines=1:",
                  "lines=1:2:3", "kinds=read", "only=constant", "range=global", "range=global:1",
                  "range=global:1-", "range=mars:1-2", "range=global:1-2x", "partial=2",
                  "ctas=" + "1," * 10000 + "1"):
        expect(server, 400, f"{good}&{query}")
    expect(server, 200, f"{good}&ctas=" + "1," * 9999 + "1")
    for question in ("density?space=global&first=0", "density?space=global&first=9&last=1",
                     "density?space=global&first=0&last=9&cells=0",
                     "density?space=global&first=0&last=9&cells=65537",
                     "density?space=moon&first=0&last=9",
                     "order?space=global&first=0&last=9&toRecord=9&columns=16384&rows=16384",
                     "order?space=global&first=0&last=9&toRecord=9&columns=0",
                     "order?space=global&first=0&last=9",
                     "touching?space=global&first=0&last=9&count=10001",
                     "touching?space=global&first=9&last=0", "groups?by=colour", "groups",
                     "groups?by=line&count=10001", "conflicts?space=global&count=1001",
                     "position?index=x"):
        mark = "&" if "?" in question else "?"
        expect(server, 400, f"{page}api/{question}{mark}launch={launch}")
    for question in ("source?source=99", "source", "source?source=../../etc/passwd",
                     "lines?source=99", "lines?launch=0", "findings?launch=77777", "launches?sort=name",
                     "timeline?bins=10001", "timeline?bins=0", "timeline?from=9&to=3",
                     "launches?count=1001"):
        expect(server, 400, f"{page}api/{question}")
    # All addresses and all records at once, in one part: their number does not fit into 64 bits.
    every = f"launch={launch}&space=global&first=0&last={2**64 - 1}"
    for question in ("density?cells=1", "density?cells=1&countWarps=1", "density?cells=3", "touching?count=1",
                     f"order?toRecord={2**53}&columns=1&rows=1", f"order?toRecord={2**53}&columns=1&rows=2"):
        expect(server, 200, f"{page}api/{question}&{every}")
    expect(server, 404, f"{page}api/nonsense", text="unknown question 'nonsense'")
    expect(server, 404, f"{page}api/diff", text="no other run")
    # Longer than any question: refused, whoever refuses it.
    answer = server.raw(f"GET {good}&x={'y' * 400000} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
                        "\r\n".encode())
    assert answer.split()[1] in (b"400", b"414", b"431", b"413"), answer[:100]


def check_binding(server):
    listening = []
    for name in ("tcp", "tcp6"):
        with open(f"/proc/net/{name}", encoding="ascii") as table:
            listening += [line.split()[1] for line in table.readlines()[1:]
                          if line.split()[3] == "0A"]
    mine = [address for address in listening if address.endswith(f":{server.port:04X}")]
    assert mine == [f"0100007F:{server.port:04X}"], mine


def check_impatience(server):
    """Clients that go away leave a server that answers; what they asked is not computed to its end."""
    target = f"{server.path}api/conflicts?launch=0&space=global"
    begun = server.cpu_seconds()
    server.request(target)
    cost = server.cpu_seconds() - begun
    for _ in range(20):
        with socket.create_connection((server.host, server.port)) as connection:
            connection.sendall(f"GET {target} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n\r\n"
                               .encode())
    server.json("run")
    assert server.cpu_seconds() - begun < 10 * cost + 1, "computed for nobody"


IDLE_SECONDS = 20


def open_idle(server):
    """Connections that nothing comes from: without a request, with half of one, after an answer."""
    target = f"{server.path}api/launches"
    head = f"GET {target} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
    connections = []
    for text in ("", head, head + "\r\n"):
        connection = socket.create_connection((server.host, server.port), timeout=1200)
        connection.sendall(text.encode())
        connections.append(connection)
    assert connections[2].recv(65536).startswith(b"HTTP/1.1 200")
    return time.monotonic(), connections


def check_idle(begun, connections):
    for connection in connections:
        while connection.recv(65536):
            pass
        connection.close()
    assert time.monotonic() - begun > IDLE_SECONDS / 2, "closed too early"


def check_endings():
    for number in (signal.SIGINT, signal.SIGTERM):
        server = Server(ctascope, run, "--no-open")
        server.stop(number)
        assert server.error == ""
    first = Server(ctascope, run, "--no-open")
    second = Server(ctascope, run, "--no-open")
    assert first.path != second.path
    for arguments, code, text in (
            ([run, "--port", str(first.port)], 1, f"cannot serve on port {first.port}"),
            ([work + "/nothing"], 1, "nothing"), ([work], 1, work), ([run, "--port", "65536"], 2, ""),
            ([run, work], 1, work), ([run, run, run], 2, ""), ([], 2, ""),
            ([run, "--memory-limit", "x"], 2, "")):
        done = subprocess.run([ctascope, "view", *arguments], capture_output=True, text=True,
                              timeout=1200)
        assert done.returncode == code, (arguments, done)
        assert text in done.stderr and done.stdout == "", done
        assert code == 2 or len(done.stderr.splitlines()) == 1, done.stderr
    first.stop()
    second.stop()


big = f"{work}/big.run"
subprocess.run([generate, big, "3000000"], check=True, stdout=subprocess.DEVNULL)
with Server(ctascope, run) as one:
    idle = open_idle(one)
    check_access(one)
    check_questions(one)
    check_binding(one)
    check_idle(*idle)
with Server(ctascope, big) as one:
    check_impatience(one)
check_endings()
