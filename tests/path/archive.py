"""Traces for the tests of this folder: generated ones, and those beside the repository."""
import glob
import os
import shutil
import subprocess
import sys

CTASCOPE, GENERATE, WHERE = sys.argv[1:4]
SHARED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../shared/traces")


def fresh(folder):
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    return folder


def generated(mode, events=3000, ranks=2):
    folder = os.path.join(WHERE, mode)
    subprocess.run([GENERATE, mode, str(events), str(ranks), folder], check=True,
                   stdout=subprocess.DEVNULL)
    return os.path.join(folder, "traces.otf2")


def traces():
    """All modes of the generator, and recorded traces of less than 10 MB."""
    found = [generated(mode) for mode in ("drain", "across", "free", "messages")]
    for folder in sorted(glob.glob(os.path.join(SHARED, "*/"))):
        size = sum(os.path.getsize(os.path.join(where, file))
                   for where, _, files in os.walk(folder) for file in files)
        if size < 10e6:
            found += sorted(glob.glob(os.path.join(folder, "**/*.otf2"), recursive=True))[:1]
    return found


def ctascope(*arguments, before=(), env=None):
    return subprocess.run([*before, CTASCOPE, "path", *arguments], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, env=env, timeout=1200)


def otf2_print(trace, sound=True):
    """What otf2-print says; of a sound trace it says nothing else."""
    done = subprocess.run(["otf2-print", trace], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True)
    assert done.returncode == 0 and not (sound and done.stderr), (trace, done.returncode, done.stderr[:500])
    return done.stdout
