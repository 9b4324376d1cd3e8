#!/usr/bin/env python3
"""`comm` and `partition` do not deny what CTAs exchange inside a cooperative launch: they say that
it is not counted; where launches exchange it, they count it.
exchange.py BUILD_DIR"""
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


def run(*arguments):
    return subprocess.run(arguments, stdout=subprocess.PIPE, check=True, text=True,
                          env=dict(os.environ, COLUMNS="300")).stdout


def main():
    ctascope = os.path.join(sys.argv[1], "bin", "ctascope")
    with tempfile.TemporaryDirectory() as where:
        program = os.path.join(where, "exchange")
        run(ctascope, "cc", "-O2", "--device=cpu", os.path.join(HERE, "exchange.cu"), "-o", program)
        texts = []
        for arguments in ["inside"], []:
            path = os.path.join(where, f"{len(arguments)}.run")
            run(ctascope, "record", "-o", path, "--", program, *arguments)
            texts.append((run(ctascope, "comm", path), run(ctascope, "partition", path, "-n", "2")))
    (comm, partition), (other_comm, other_partition) = texts
    inside = 'inside 1 cooperative launch (up to 4.00 KiB of "unknown writers"'
    assert inside in comm, comm
    assert "what CTAs of one launch exchange is not counted" in partition, partition
    assert "not counted" not in other_comm, other_comm
    assert "No traffic" not in other_partition, other_partition
    return 0


if __name__ == "__main__":
    sys.exit(main())
