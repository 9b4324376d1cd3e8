#!/usr/bin/env python3
"""What the memory recorder says where it cannot record, without a GPU: a driver and a Sanitizer that are
none. The program's own result and status stay what they were, and one line says why.

    check.py CTASCOPE PROGRAM FAKES WORK CASE
"""
import os
import shutil
import subprocess
import sys

# name: the driver, the Sanitizer (None: missing), environment, options, what is said
CASES = {
    "no-gpu": (None, "new", {}, [], "no recorder ran in"),
    "no-launch": ("new", "new", {}, [], "launched no kernel"),
    "missing": ("new", None, {}, [], "CTASCOPE_SANITIZER: /nowhere/libsanitizer-public.so"),
    "old-sanitizer": ("new", "old", {}, [], "has no sanitizerStreamSynchronize: it is too old"),
    "old-driver": ("old", "new", {}, [], "the driver has no cuCtxPushCurrent"),
    "another": ("new", "new", {"FAKE_SUBSCRIBE": "10"}, [], "another tool uses the Sanitizer"),
    "refuses": ("new", "new", {"FAKE_SUBSCRIBE": "13"}, [],
                "refuses: Sanitizer is unable to initialize"),
    "unsupported": ("new", "new", {"FAKE_ENABLE": "14"}, [], "refuses: The attempted operation"),
    "large-ring": ("new", "new", {}, ["--ring-size", "64G"],
                   "a ring of 65536 MiB is more than half of the "),
    "spaces": ("new", "new", {"CTASCOPE_SPACES": "shared"}, [], "global memory is always recorded"),
    "bad-value": ("new", "new", {"CTASCOPE_RING_SIZE": "tiny"}, [], "CTASCOPE_RING_SIZE='tiny'"),
    "launcher": ("new", "new", {}, [], "no recorder ran in"), # MPI's are no ranks of the run
    "no-patches": ("new", "new", {}, [], "no patches at"),
}


def fail(text, done):
    sys.exit(f"{text}\n{done.stdout}{done.stderr}")


def record(ctascope, words, environment):
    return subprocess.run([ctascope, "record", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, env=environment, timeout=60)


def main():
    ctascope, program, fakes, work, case = sys.argv[1:]
    driver, sanitizer, variables, options, text = CASES[case]
    run = os.path.join(work, case)
    shutil.rmtree(run, ignore_errors=True)
    os.makedirs(work, exist_ok=True)
    environment = {key: value for key, value in os.environ.items()
                   if not key.startswith("CTASCOPE_")}
    environment["CTASCOPE_SANITIZER"] = os.path.join(fakes, sanitizer, "libsanitizer-public.so") \
        if sanitizer else "/nowhere/libsanitizer-public.so"
    if driver:
        environment["LD_LIBRARY_PATH"] = os.path.join(fakes, driver)
    environment.update(variables)
    if case == "large-ring" and os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") > 1 << 37:
        return # it fits
    if case == "launcher":
        program = shutil.copy(program, os.path.join(work, "mpirun.any"))
    if case == "no-patches": # an installation without them
        own = os.path.join(work, "installation")
        shutil.rmtree(own, ignore_errors=True)
        shutil.copytree(os.path.join(os.path.dirname(ctascope), "..", "lib"), os.path.join(own, "lib"),
                        ignore=shutil.ignore_patterns("*.fatbin", "*plugin*", "*.bc"))
        os.mkdir(os.path.join(own, "bin"))
        ctascope = shutil.copy(ctascope, os.path.join(own, "bin"))
    elif not os.path.exists(os.path.join(os.path.dirname(ctascope), "..", "lib", "ctascope",
                                         "ctascope_patches.fatbin")):
        text = "no patches at" if case in ("no-launch", "another", "refuses", "unsupported") else text
    said = "CUDA works" if driver else "no CUDA"
    done = record(ctascope, ["-o", run, *options, "--", program], environment)
    if done.stdout.strip() != said:
        fail("the program did not do what it does", done)
    if done.returncode != 125 or done.stderr.count("\n") != 1 or text not in done.stderr:
        fail(f"ended with {done.returncode}; '{text}' is not the one line", done)
    own = record(ctascope, ["--force", "-o", run, *options, "--", program, "fails"], environment)
    if own.returncode != 7 or own.stdout.strip() != said:
        fail(f"ended with {own.returncode}, not with the program's 7", own)


if __name__ == "__main__":
    main()
