#!/usr/bin/env python3
"""Values of recorded accesses: known ones in closed form, and in examples those that were stored
before. contents.py has the elementary types."""
import csv
import os
import sys

import replay
import support

sys.path.insert(0, os.path.join(os.path.dirname(support.HERE), "examples"))
sys.path.insert(1, os.path.dirname(support.HERE))
import programs  # noqa: E402
from count import test_count  # noqa: E402

KEPT_BYTES = 128  # of a wider access


class Kinds(support.RecordTest):
    """values-kinds.cu, whose memory holds one pattern."""

    GLOBAL = {"load": {1, 2, 3, 4, 8, 12, 16, 20, 24, 28, 32, 132, 240},
              "atomic add": {4, 8}, "atomic cas": {2, 4, 8}, "atomic sub": {4}, "atomic inc": {4},
              "atomic dec": {4}}
    GLOBAL["store"] = GLOBAL["load"]
    GLOBAL.update({f"atomic {name}": {4, 8} for name in ("exch", "max", "min", "and", "or", "xor")})

    def records_of(self, *options, flags=("-O2",)):
        program = support.compiled("values-kinds.cu", *flags, "--values")
        done = self.record("run", program, options=("--values", "--force", *options))
        self.one_line(done.stderr, "ctascope record: ")
        return self.records("run", "--lanes")

    @staticmethod
    def pattern(offset, size):
        return bytes((7 * (offset + i) + 3) & 255 for i in range(size))

    def check_pattern(self, rows, allocations):
        """All of global memory; returns operation -> widths."""
        seen = {}
        for row in rows:
            width = int(row["width_bytes"])
            words = [int(word, 16) for word in row["value"].split()]
            kept = min(width, KEPT_BYTES)
            self.assertEqual(len(words), (kept + 7) // 8, row)
            data = b"".join(word.to_bytes(8, "little") for word in words)
            if row["space"] != "global":
                continue
            seen.setdefault(row["operation"], set()).add(width)
            address = int(row["address"], 16)
            base = max(base for base in allocations if base <= address)
            if row["variable"] == "put_function":  # the one thing that is no pattern
                continue
            expected = self.pattern(address - base, kept)
            self.assertEqual(data, expected + bytes(len(data) - kept), row)
        return seen

    def check(self, *options, flags=("-O2",)):
        rows = self.records_of(*options, flags=flags)
        sites = {row["site"]: row for row in self.table("run", "sites")}
        for row in rows:
            row["variable"] = sites[row["site"]]["variable"]
        allocations = [int(row["address"], 16) for row in self.table("run", "allocations")]
        seen = self.check_pattern(rows, allocations)
        lanes, checked = replay.replay(self, "run")
        self.assertEqual(lanes, len(rows))
        self.assertGreater(checked, 10000)
        return seen

    def test_optimised(self):
        self.assertEqual(self.check(), self.GLOBAL)

    def test_cta_after_cta(self):
        self.assertEqual(self.check("--deterministic"), self.GLOBAL)

    def test_not_optimised(self):
        seen = self.check(flags=("-O0",))
        self.assertEqual({key for key in seen if key.startswith("atomic")},
                         {key for key in self.GLOBAL if key.startswith("atomic")})

    def test_local_memory(self):
        self.check(flags=("-O1", "--locals"))
        stored = [row for row in self.records("run", "--lanes")
                  if (row["operation"], row["space"]) == ("store", "local")]
        own = {row["site"] for row in self.table("run", "sites") if row["variable"] == "own"}
        values = {32 * int(row["warp"]) + int(row["lane"]): int(row["value"], 16)
                  for row in stored if row["site"] in own}
        self.assertEqual(values, {i: int.from_bytes(self.pattern(4 * i, 4), "little") ^ 85
                                  for i in range(96)})

    def test_separate_units(self):
        self.check(flags=("-O2", "-rdc=true"))


class Request(support.RecordTest):
    """Both the compiler and the recorder have to be asked (contents.py); what else is said."""

    def test_not_compiled_with_them(self):
        program = support.compiled("values-waiting.cu", "-O2")
        for options, env in ((("--values",), {}), ((), {"CTASCOPE_VALUES": "1"})):
            done = self.record("run", program, options=("--force", *options),
                               env=support.environment(**env))
            first, last = done.stderr.splitlines()
            self.assertRegex(first, "^ctascope: values are not recorded: '.*values-waiting.cu' must "
                             "be compiled with 'ctascope cc --values'$")
            self.assertTrue(last.startswith("ctascope record: "))
            self.assertIn("values are not recorded",
                          self.table("run", "messages")[0]["text"])
            self.assertNotIn("values", {row["key"] for row in self.table("run", "run")})

    def test_units_with_and_without(self):
        """A kernel with values calls a function without, and the other way round."""
        for name, flags in (("a", ("--values",)), ("b", ())):
            path = os.path.join(support.HERE, "programs", f"values-unit-{name}.cu")
            self.ctascope("cc", "-O2", "-rdc=true", "-c", *flags, path, "-o", f"{name}.o")
        self.ctascope("cc", "-rdc=true", "a.o", "b.o", "-o", "units")
        done = self.record("run", "./units", options=("--values",))
        self.assertIn("values-unit-b.cu' must be compiled", done.stderr)
        sites = {row["site"]: os.path.basename(sources["path"])
                 for row in self.table("run", "sites") for sources in self.table("run", "sources")
                 if sources["source"] == row["source"]}
        base = min(int(row["address"], 16) for row in self.table("run", "allocations"))
        lanes = {"values-unit-a.cu": 0, "values-unit-b.cu": 0}
        for row in self.records("run", "--lanes"):
            unit = sites[row["site"]]
            lanes[unit] += 1
            if unit.endswith("b.cu"):
                self.assertEqual(row["value"], "")
            else:
                offset = int(row["address"], 16) - base
                self.assertEqual(int(row["value"], 16), offset // 4 * 3, row)
        self.assertEqual(lanes, {"values-unit-a.cu": 64 * 40 * 2 + 64,
                                 "values-unit-b.cu": 64 * 40 * 2 + 64})


class Exchange(support.RecordTest):
    """A run's values in other tools' files, and back."""

    def setUp(self):
        super().setUp()
        program = support.compiled("values-kinds.cu", "-O2", "--values")
        self.record("run", program, options=("--values", "--deterministic"))

    def lanes(self, run):
        return sorted((int(row["launch"]), int(row["cta"]), int(row["warp"]), int(row["lane"]),
                       row["operation"], row["width_bytes"], row["value"])
                      for row in self.records(run, "--lanes"))

    def test_a_trace_folder_keeps_them(self):
        for options in ((), ("--gzip",)):
            folder = "folder" + "".join(options)
            self.ctascope("export", "run", "-o", folder, "--format", "json", *options)
            self.ctascope("import", folder, "-o", f"{folder}.run")
            self.assertEqual(self.lanes(f"{folder}.run"), self.lanes("run"))
            keys = {row["key"]: row["value"] for row in self.table(f"{folder}.run", "run")}
            self.assertEqual(keys["values"], "1")

    def test_csv_has_them(self):
        self.ctascope("export", "run", "-o", "run.csv", "--format", "csv")
        with open("run.csv", encoding="utf-8") as file:
            exported = [(int(row["launch"]), int(row["warp"]), int(row["lane"]),
                         int(row["value"], 16)) for row in csv.DictReader(file)]
        own = [(int(row["launch"]), int(row["warp"]), int(row["lane"]),
                sum(int(word, 16) << 64 * i for i, word in enumerate(row["value"].split())))
               for row in self.records("run", "--lanes")]
        self.assertEqual(sorted(exported), sorted(own))


class Waiting(support.RecordTest):
    """Threads that give way to others in the middle of an access."""

    def lanes(self, run, launch):
        sites = {row["site"]: row for row in self.table(run, "sites")}
        for row in self.records(run, "--lanes", "--launch", str(launch)):
            yield (sites[row["site"]]["variable"], row["operation"], int(row["lane"]),
                   tuple(int(word, 16) for word in row["value"].split()))

    def test_spinning(self):
        program = support.compiled("values-waiting.cu", "-O2", "--values")
        for options in (("--threads", "1"), ("--threads", "3"), ("--deterministic",)):
            self.record("run", program, options=("--values", "--force", *options))
            # a flag that warp 0 waits for, and data behind it
            rows = list(self.lanes("run", 0))
            flags = [words for name, operation, _, words in rows
                     if (name, operation) == ("flag", "load")]
            self.assertEqual(flags[-1], (5,))
            self.assertEqual(set(flags[:-1]) - {(0,)}, set())
            self.assertGreater(len(flags), 1)
            self.assertEqual(sorted(row for row in rows if row[0] == "data"),
                             [("data", "load", 0, (99,)), ("data", "store", 0, (100,)),
                              ("data", "store", 1, (99,))])
            # a lock that 8 warps take in turn
            counts = sorted(row[3][0] for row in self.lanes("run", 1)
                            if row[:2] == ("count", "load"))
            self.assertEqual(counts, list(range(8)))
            stored = sorted(row[3][0] for row in self.lanes("run", 1)
                            if row[:2] == ("count", "store"))
            self.assertEqual(stored, list(range(1, 9)))
            taken = [row[3][0] for row in self.lanes("run", 1) if row[1] == "atomic cas"]
            self.assertEqual(taken.count(0), 8)
            self.assertEqual(set(taken) - {0, 7}, set())
            self.assertEqual([row[3] for row in self.lanes("run", 1) if row[1] == "atomic exch"],
                             [(7,)] * 8)
            # a warp's sum in volatile shared memory
            sums = [words[0] for name, operation, lane, words in self.lanes("run", 2)
                    if (name, operation, lane) == ("s", "store", 0)]
            self.assertEqual(sums[-1], sum(100 * i + 1 for i in range(32)))


class Examples(support.RecordTest):
    """What an example loads must be what it stored."""

    # the histogram reads a MiB, and that byte by byte
    NAMES = ("fft", "gaussian", "reduction", "spmv", "transpose") + test_count((), ("histogram",))

    def check(self, name):
        program = support.compiled(f"{name}.cu", "-O2", "--values", example=True)
        arguments = list(map(str, programs.PROGRAMS[name][0]))
        done = self.record(name, program, *arguments, options=("--values", "--deterministic"))
        self.assertEqual(done.stdout, f"{name}: right\n")
        lanes, checked = replay.replay(self, name)
        self.assertGreater(lanes, 1000)
        self.assertGreater(checked, 10000)


def add_test(name):
    setattr(Examples, f"test_{name}", lambda self: self.check(name))


for example in Examples.NAMES:
    add_test(example)

if __name__ == "__main__":
    support.main()
