#!/usr/bin/env python3
"""Recording changes no result.

Same:       programs that print the bits of what their kernels compute print the same recorded and
            unrecorded, at every optimisation, on one worker and on several.
SameMemory: all programs of tests/ and examples/ leave the same bytes in every allocation and every
            device variable: with CTASCOPE_DETERMINISTIC=1 all of them; without it those whose
            unrecorded runs on one worker and on three leave the same, and that are not in
            ORDER_WITHIN_A_CTA. A few in the gate, all under --long.
"""
import glob
import os
import re
import subprocess
import unittest

import support

ROOT = os.path.dirname(os.path.dirname(support.HERE))
LONG = os.environ.get("CTS_TEST_LONG", "0") not in ("", "0")

# Folders whose .cu files are a program each, and folders of programs with all their sources.
SINGLE = ("examples", "examples/timeline", "bench", "tests/access", "tests/access/pairs",
          "tests/programs", "tests/lang/programs", "tests/runtime/programs",
          "tests/record/programs", "tests/timeline/programs", "tests/view")
WHOLE = ("tests/suites/*",)
QUICK = ("examples/reduction.cu", "examples/spmv.cu", "tests/record/programs/blocks.cu",
         "tests/record/programs/order.cu", "tests/record/programs/digits.cu",
         "tests/programs/one-pass-reduction.cu")
# At other optimisations, too.
LEVELS = ("tests/record/programs/blocks.cu", "tests/record/programs/digits.cu",
          "examples/nbody.cu", "examples/fft.cu", "tests/programs/spectra.cu",
          "tests/programs/linear-algebra.cu", "tests/programs/fluid.cu")
# What these leave depends on the order of the threads of one CTA (atomics whose old value is used,
# races), which the number of workers does not change.
ORDER_WITHIN_A_CTA = ("tests/record/programs/order.cu", "tests/lang/programs/atomics.cu")


class Same(support.RecordTest):
    def check(self, words, *arguments, status=0):
        program = support.compiled(*words)
        for deterministic in ("1", "0"):
            env = support.environment(CTASCOPE_DETERMINISTIC=deterministic)
            plain = self.run_(program, *arguments, env=env, status=status).stdout
            self.assertTrue(plain)
            run = f"run-{deterministic}"
            done = self.record(run, program, *arguments, env=env, status=status,
                               options=("--force",))
            self.assertEqual(done.stdout, plain, f"{words} deterministic {deterministic}")
            self.assertGreater(self.info(run)["totals"]["accesses"], 0)

    def test_digits(self):
        for level in ("-O0", "-O2", "-O3"):
            self.check(("digits.cu", level))

    def test_digits_without_fused_operations(self):
        self.check(("digits.cu", "-O2", "-fmad=false"))

    def test_blocks(self):
        for words in (("-O0",), ("-O3",), ("-O2", "--use_fast_math"), ("-O2", "--values")):
            self.check(("blocks.cu", *words))

    def test_integers(self):
        self.check(("launches.cu", "-O2"), "20", "8", status=3)

    def test_deterministic_order(self):
        """A full log changes whose turn it is; a deterministic run does the same unrecorded."""
        program = support.compiled("order.cu", "-O2")
        env = support.environment(CTASCOPE_DETERMINISTIC="1")
        plain = self.run_(program, env=env).stdout
        self.assertEqual(self.record("run", program, env=env).stdout, plain)
        skipped = self.record("skipped", program, env=env, options=("--launch-skip", "1"))
        self.assertEqual(skipped.stdout, plain)


def programs():
    """Path -> sources."""
    found = {}
    for folder in SINGLE:
        for path in sorted(glob.glob(os.path.join(ROOT, folder, "*.cu"))):
            found[os.path.relpath(path, ROOT)] = [path]
    for folder in WHOLE:
        for path in sorted(glob.glob(os.path.join(ROOT, folder))):
            sources = [source for end in ("*.cu", "*.cpp", "*.c")
                       for source in sorted(glob.glob(os.path.join(path, end)))]
            if sources:
                found[os.path.relpath(path, ROOT)] = sources
    return found


class SameMemory(support.RecordTest):
    def compile(self, sources, level):
        """The program's path, or None: it does not compile without more. Without -no-pie, addresses
        of tables of virtual functions would differ from run to run."""
        with open(sources[0], encoding="utf-8") as file:
            options = re.findall("^// options: (.*)$", file.read(), re.MULTILINE)
        program = os.path.abspath("program")
        words = level.split() + " ".join(options).split()
        done = subprocess.run([support.ctascope_path, "cc", *words,
                               "-no-pie", "-I", os.path.dirname(sources[0]), "-o", program, *sources],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        return program if done.returncode == 0 else None

    def memory(self, program, record=False, **variables):
        """What the program leaves: exit status, and a sorted line for each allocation. None: it
        took too long unrecorded; recording it may take ten times as long, and only ends if it hangs."""
        sums = os.path.abspath("sums")
        if os.path.exists(sums):
            os.unlink(sums)
        env = support.environment(CTASCOPE_MEMORY_SUMS=sums, **variables)
        command = [support.ctascope_path, "record", "--force", "-o", "run", "--"] if record else []
        try:
            done = self.run_(*command, program, env=env, status=None,
                             timeout=6000 if record else 300, stdin=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            if record:
                raise
            return None
        lines = []
        if os.path.exists(sums):
            with open(sums, encoding="utf-8") as file:
                lines = sorted(file.read().splitlines())
        return done.returncode, lines

    def check(self, name, sources, level):
        """Whether the program could be compared."""
        program = self.compile(sources, level)
        if not program:
            return False
        plain = self.memory(program, CTASCOPE_DETERMINISTIC=1)
        if not plain or not plain[1]:
            return False
        if LONG and self.memory(program, CTASCOPE_DETERMINISTIC=1) != plain:
            return False  # addresses of the host in its memory: device malloc, texture objects
        recorded = self.memory(program, record=True, CTASCOPE_DETERMINISTIC=1)
        self.assertEqual(recorded, plain, f"{name} {level}, deterministic")
        if name in ORDER_WITHIN_A_CTA:
            return True
        one, three = (self.memory(program, CTASCOPE_WORKERS=n) for n in (1, 3))
        if one and one == three:
            recorded = self.memory(program, record=True, CTASCOPE_WORKERS=3)
            if recorded != three and self.depends_on_order(program, three):
                return True
            self.assertEqual(recorded, three, f"{name} {level}")
        return True

    def depends_on_order(self, program, expected):
        """Whether unrecorded runs differ after all: two that agree may have done so by chance, above
        all where three workers share two processors."""
        return any(self.memory(program, CTASCOPE_WORKERS=2 + n) != expected for n in range(8))

    def test_programs(self):
        found = programs()
        names = sorted(found) if LONG else QUICK
        compared = 0
        for name in names:
            with self.subTest(program=name):
                compared += self.check(name, found[name], "-O2")
        self.assertGreaterEqual(compared, 100 if LONG else len(QUICK))

    @unittest.skipUnless(LONG, "long")
    def test_levels(self):
        found = programs()
        for level in ("-O0", "-O3", "-O2 --use_fast_math", "-Ofast", "-G -O2"):
            for name in LEVELS:
                with self.subTest(program=name, level=level):
                    self.assertTrue(self.check(name, found[name], level))


if __name__ == "__main__":
    support.main()
