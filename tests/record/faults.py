#!/usr/bin/env python3
"""What a GPU ends with an error the CPU device ends with the same error, recorded or not: the
message names kernel, CTA, thread, address, line and what is near."""
import contextlib
import json
import os
import re
import sqlite3

import support

# case -> (line, what the pointer must be a multiple of); see programs/misaligned.cu
MISALIGNED = {0: ("plain", 4), 1: ("vec", 16), 2: ("bytes", 8), 3: ("members", 16),
              4: ("table", 4), 5: ("add", 4), 6: ("cas", 8), 7: ("shared", 4), 8: ("local", 4),
              9: ("constant", 4), 10: ("call", 4), 12: ("walk", 4), 13: ("copy", 16)}


class Faults(support.RecordTest):
    def both(self, program, *arguments):
        """What the program prints on stdout and the fault that is said, recorded and unrecorded;
        they must be the same but for where the process has its stacks and constants. One worker:
        else any CTA may be the first."""
        said = []
        env = support.environment(CTASCOPE_WORKERS=1)
        for record in (False, True):
            done = self.record("run", program, *arguments, options=("--force",), env=env,
                               status=None) if record \
                else self.run_(program, *arguments, env=env, status=None)
            lines = [line for line in done.stderr.splitlines() if line.startswith("ctascope: ")]
            said.append((done.stdout.strip(), lines[0] if lines else ""))
        plain = [(out, re.sub(r"0x[0-9a-f]*", "", line))
                 for out, line in said]
        self.assertEqual(plain[0], plain[1])
        return said[0]

    def line_of(self, source, text):
        with open(f"{support.HERE}/programs/{source}", encoding="utf-8") as file:
            return next(i for i, line in enumerate(file, 1) if text in line)

    def check_misaligned(self, options, cases):
        program = support.compiled("misaligned.cu", *options)
        for case in cases:
            kernel, align = MISALIGNED[case]
            first = self.line_of("misaligned.cu", "float nested(" if kernel == "call"
                                 else f"__global__ void {kernel}(")
            for offset in (align // 2, align):
                out, said = self.both(program, str(case), str(offset))
                if offset % align == 0:
                    self.assertEqual((out, said), ("cudaSuccess", ""), f"{kernel} {offset}")
                    continue
                self.assertEqual(out, "cudaErrorMisalignedAddress", f"{kernel} {offset}")
                self.assertRegex(said, rf"kernel '{kernel}\(.*\)': CTA \(\d,0,0\), thread "
                                 rf"\(\d+,0,0\): misaligned address 0x[0-9a-f]+ of an access that "
                                 rf"needs a multiple of {align} at misaligned.cu:\d+")
                line = int(re.search(r" at misaligned.cu:(\d+)", said)[1])
                self.assertIn(line, range(first + 2, first + 9), said)

    def test_misaligned(self):
        self.check_misaligned(("-O2",), MISALIGNED)

    def test_misaligned_with_values_and_without_optimisation(self):
        self.check_misaligned(("-O0",), (0, 3, 10))
        self.check_misaligned(("-O2", "--values"), (1, 5))

    def test_misaligned_pointer_that_is_not_used(self):
        """The kernel has a misaligned pointer, and reads it in no thread."""
        program = support.compiled("misaligned.cu", "-O2")
        self.assertEqual(self.both(program, "11", "0"), ("cudaSuccess", ""))

    def test_misaligned_names_the_byte(self):
        program = support.compiled("misaligned.cu", "-O2")
        said = self.both(program, "2", "4")[1]
        self.assertIn("0x200000000004 ", said)
        self.assertTrue(said.endswith(": byte 4 of 'g' (65536 B)"), said)

    def test_shared_window(self):
        """1,264 bytes (a, b), of which a GPU allots 1,280; and 1,000 more. The window holds the
        static variables of all kernels of a file."""
        program = support.compiled("windows.cu", "-O2")
        for kernel, sound, bad in (("s", (192,), (197, 100000)),
                                   ("w", (190, 256), (257, 1 << 24))):
            for offset in sound:
                self.assertEqual(self.both(program, kernel, str(offset)), ("cudaSuccess", ""),
                                 f"{kernel} {offset}")
            for offset in bad:
                out, said = self.both(program, kernel, str(offset))
                self.assertEqual(out, "cudaErrorIllegalAddress", f"{kernel} {offset}")
                self.assertIn("B past the CTA's window of ", said)
                self.assertIn(" at windows.cu:", said)
            for offset in (-5000, -(1 << 30)):
                out, said = self.both(program, kernel, str(offset))
                self.assertEqual(out, "cudaErrorIllegalAddress", f"{kernel} {offset}")
                self.assertIn("B before the CTA's window of ", said)

    def test_shared_window_names_the_variable(self):
        program = support.compiled("windows.cu", "-O2")
        said = self.both(program, "w", "5000")[1]
        line = self.line_of("windows.cu", "out[t] = a[t + off]")
        self.assertIn(f" at windows.cu:{line}: shared memory, ", said)
        self.assertTrue(said.endswith(" past 'b'"), said)

    def test_line_of_a_wild_store(self):
        program = support.compiled("outcomes.cu", "-O2")
        line = self.line_of("outcomes.cu", "p[far] = 1")
        for kind in ("wild", "trap"):
            done = self.run_(program, kind, status=None)
            if kind == "trap":
                line = self.line_of("outcomes.cu", "__trap()")
            self.assertIn(f" at outcomes.cu:{line}", done.stderr)

    def test_a_name_of_thousands_of_characters_leaves_room_for_the_place(self):
        program = support.compiled("long-name.cu", "-O2")
        out, said = self.both(program)
        self.assertEqual(out, "cudaErrorIllegalAddress")
        line = self.line_of("long-name.cu", "to[threadIdx.x] = 1")
        self.assertRegex(said, r"kernel '[^']{100,199}': CTA \(\d,0,0\), thread \(\d+,0,0\): .* 0x40"
                         rf".* at long-name.cu:{line}")


class Findings(support.RecordTest):
    """A launch that faulted is a finding, the first, and nothing else is concluded of it."""

    def recorded(self, *arguments):
        program = support.compiled("freed.cu", "-O2")
        self.record("run", program, *arguments, options=("--force",), status=None)
        return json.loads(self.ctascope("access", "run", "--format", "json").stdout)

    def test_only_launch_read_freed_memory(self):
        answer = self.recorded("f")
        fault, = answer["faults"]
        self.assertEqual(fault["kind"], "address")
        self.assertEqual(len(fault["cta"]), 3)
        self.assertEqual(len(fault["thread"]), 3)
        with open(f"{support.HERE}/programs/freed.cu", encoding="utf-8") as file:
            line = next(i for i, text in enumerate(file, 1) if "out[i] = in[i]" in text)
        self.assertEqual((os.path.basename(fault["path"]), fault["line"]), ("freed.cu", line))
        self.assertEqual((answer["findings"], answer["accesses"]), ([], 0))
        self.assertEqual(answer["soundness"]["faulted_launches"], 1)
        text = self.ctascope("access", "run").stdout
        self.assertIn("  1. fault: kernel 'add(float const*, float*, int)': CTA ", text)
        self.assertIn(f"invalid address 0x{fault['address']:x} at freed.cu:{line}", text)
        self.assertIn("No other finding", text)
        self.ctascope("access", "run", "--fail-on", "fault", status=3)
        row, = self.table("run", "faults")
        self.assertEqual(row["text"], fault["text"])
        info = self.ctascope("info", "run").stdout
        self.assertIn("Faults\n", info)
        self.assertIn(fault["text"], info)
        self.assertEqual(json.loads(self.ctascope("info", "run", "--format", "json").stdout)
                         ["faults"], [fault])

    def test_the_sound_launch_before_is_analysed(self):
        both, sound = self.recorded(), self.recorded("s")
        self.assertEqual(len(both["faults"]), 1)
        self.assertEqual(both["faults"][0]["launch"], 1)
        self.assertEqual(both["accesses"], sound["accesses"])
        self.assertEqual(both["sites"], sound["sites"])

    def test_no_fault(self):
        self.assertEqual(self.recorded("s")["faults"], [])
        self.assertNotIn("fault", self.ctascope("access", "run").stdout)
        self.assertNotIn("Faults", self.ctascope("info", "run").stdout)
        self.ctascope("access", "run", "--fail-on", "fault")


class Constants(support.RecordTest):
    def test_not_recorded_is_no_number(self):
        """What the recorder of unmodified GPU programs does not see is null, not 0."""
        self.record("run", support.compiled("freed.cu", "-O2"), "s")
        self.assertEqual(self.comm("run")["totals"]["constant_load_accesses"], 0)
        self.assertTrue(self.info("run")["constant_memory_recorded"])
        with contextlib.closing(sqlite3.connect("run/run.db")) as db:
            db.execute("UPDATE ranks SET recorder = 'inject'")
            db.commit()
        totals = self.comm("run")["totals"]
        for name, value in totals.items():
            if name.startswith("constant_"):
                self.assertIsNone(value, name)
        self.assertGreater(totals["global_load_accesses"], 0)
        self.assertFalse(self.info("run")["constant_memory_recorded"])
        self.assertIn("constant memory are not recorded", self.ctascope("comm", "run").stdout)
        self.assertIn("not recorded", self.ctascope("info", "run").stdout)

    def test_constant_variables(self):
        self.record("run", support.compiled("constants.cu", "-O2"))
        self.assertIsNone(self.comm("run")["totals"]["constant_load_accesses"])
        self.assertFalse(self.info("run")["constant_memory_recorded"])
        self.assertIn("not recorded", self.ctascope("info", "run").stdout)


if __name__ == "__main__":
    support.main()
