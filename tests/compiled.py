#!/usr/bin/env python3
"""Programs that several tests run, compiled once for all of them.

    compiled.py CTASCOPE [OPTION...] SOURCE... -o PROGRAM      as `ctascope cc` with these words

A test whose subject is the compiler calls `ctascope cc` itself. Programs stay in the build's folder
tests/compiled; another one is made when the words, a source, a header next to it, or any part of
ctascope that takes part in a compile has changed. From Python: compiled(CTASCOPE, WORD...).
"""
import fcntl
import glob
import hashlib
import os
import shutil
import subprocess
import sys


def _state(paths):
    return [(path, os.stat(path).st_mtime_ns, os.stat(path).st_size) for path in paths if os.path.isfile(path)]


def _tools(ctascope):
    """Changes when what compiles programs does."""
    top = os.path.dirname(os.path.dirname(ctascope))
    return _state([ctascope] + sorted(glob.glob(f"{top}/lib/ctascope/*")) +
                  sorted(glob.glob(f"{top}/share/ctascope/cpu/**/*", recursive=True)))


def _texts(words):
    """The sources, and the headers that they may include by name."""
    sources = [word for word in words if word.endswith((".cu", ".cpp", ".c"))]
    headers = [path for source in sources for path in sorted(glob.glob(f"{os.path.dirname(source) or '.'}/*.h"))]
    for path in sources + headers:
        with open(path, "rb") as file:
            yield path, file.read()


def compiled(ctascope, *words):
    """The path of the program that `ctascope cc WORDS` makes."""
    ctascope = os.path.abspath(ctascope)
    words = [os.path.abspath(word) if os.path.exists(word) else word for word in words]
    words.sort(key=lambda word: word.endswith((".cu", ".cpp", ".c")))  # sources last: one order, one program
    key = (words, _tools(ctascope), list(_texts(words)))
    digest = hashlib.sha256(repr(key).encode()).hexdigest()[:16]
    stem = next(os.path.basename(word)[:-3] for word in words if word.endswith(".cu"))
    folder = os.path.join(os.path.dirname(os.path.dirname(ctascope)), "tests", "compiled")
    program = os.path.join(folder, f"{stem}-{digest}")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, f"{stem}.lock"), "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.exists(program):
            subprocess.run([ctascope, "cc", *words, "-o", program + ".new"], check=True)
            os.rename(program + ".new", program)
    return program


def main():
    ctascope, *words = sys.argv[1:]
    at = words.index("-o")
    program = words[at + 1]
    del words[at:at + 2]
    shutil.copy(compiled(ctascope, *words), program)


if __name__ == "__main__":
    main()
