#!/usr/bin/env python3
"""What a recording holds, compared with what the program did: values, the CPU's accesses, names."""
import os
import re
import struct

import support

N = 48


def packed(form, *values):
    """The 64-bit words, lowest first, of values in memory."""
    data = struct.pack("<" + form, *values)
    data += b"\0" * (-len(data) % 8)
    return struct.unpack(f"<{len(data) // 8}Q", data)


class Values(support.RecordTest):
    # variable: what thread k loads or stores there
    EXPECTED = {
        "f": lambda k: packed("f", 0.5 + k),
        "i": lambda k: packed("i", -1000 * k),
        "d": lambda k: packed("d", 1e10 + k),
        "v": lambda k: packed("4f", k, k + 0.25, k + 0.5, k + 0.75),
        "b": lambda k: packed("B", k % 3 == 0),
        "c": lambda k: packed("B", 5 * k % 256),
        "p": lambda k: packed("2h", -k, k + 300),
        "out_f": lambda k: packed("f", 2 * (0.5 + k)),
        "out_i": lambda k: packed("i", -1000 * k - 1),
        "out_d": lambda k: packed("d", (1e10 + k) / 4),
        "out_v": lambda k: packed("4f", k + 0.75, k + 0.5, k + 0.25, k),
        "out_b": lambda k: packed("B", k % 3 != 0),
        "out_c": lambda k: packed("B", 5 * k % 256 ^ 255),
        "out_p": lambda k: packed("2h", k + 300, -k),
    }

    def lanes(self, run, launch):
        """(variable, thread) -> the words of the value; each exactly once."""
        sites = {row["site"]: row for row in self.table(run, "sites")}
        found = {}
        for row in self.records(run, "--lanes", "--launch", str(launch)):
            variable = sites[row["site"]]["variable"]
            key = (variable, 32 * int(row["warp"]) + int(row["lane"]))
            self.assertNotIn(key, found)
            found[key] = tuple(int(word, 16) for word in row["value"].split())
        return found

    def test_values_are_the_data(self):
        program = support.compiled("values.cu", "-O2", "--values")
        for number, options in enumerate(((), ("--threads", "1"), ("--deterministic",))):
            self.record(f"run-{number}", program, options=("--values", *options))
            found = self.lanes(f"run-{number}", 0)
            self.assertEqual(len(found), N * len(self.EXPECTED))
            for (variable, thread), words in found.items():
                self.assertEqual(words, self.EXPECTED[variable](thread), (variable, thread))

    def test_atomics_give_what_was_there_before(self):
        program = support.compiled("values.cu", "-O2", "--values")
        self.record("run", program, options=("--values",))
        found = self.lanes("run", 1)
        before = {thread: words for (name, thread), words in found.items() if name == "counter"}
        self.assertEqual(sorted(words[0] for words in before.values()), list(range(0, 2 * N, 2)))
        stored = {thread: words for (name, thread), words in found.items() if name == "seen"}
        self.assertEqual(stored, before)

    def test_only_on_request(self):
        """Both the compiler and the recorder have to be asked."""
        for number, (flags, options) in enumerate(((("--values",), ()), ((), ("--values",)))):
            program = support.compiled("values.cu", "-O2", *flags)
            self.record(f"run-{number}", program, options=options)
            rows = self.records(f"run-{number}", "--lanes")
            self.assertEqual(len(rows), N * (len(self.EXPECTED) + 2))
            self.assertEqual({row["value"] for row in rows}, {""})


class HostAccesses(support.RecordTest):
    ROUNDS, CTAS, BYTES = 3, 4, 4 * 64 * 4

    def counts(self, run):
        comm = self.comm(run, "--per", "transfer")
        totals = comm["totals"]
        launches = self.ROUNDS + 2
        self.assertEqual(totals["launches"], launches)
        self.assertEqual(totals["global_read_unique_bytes"], launches * self.BYTES)
        self.assertEqual(totals["global_written_unique_bytes"], launches * self.BYTES)
        # only the last launch reads what a kernel wrote, each CTA its own part
        self.assertEqual(totals["received_bytes"], self.BYTES)
        self.assertEqual([(t["writer_cta"], t["reader_cta"], t["bytes"])
                          for t in comm["transfers"]],
                         [(cta, cta, self.BYTES // self.CTAS) for cta in range(self.CTAS)])
        return comm

    def test_seen(self):
        program = support.compiled("managed.cu", "-O2", "--host-accesses")
        done = self.record("run", program, str(self.ROUNDS), options=("--host-accesses",))
        self.assertEqual(done.stdout, "right\n")
        comm = self.counts("run")
        totals = comm["totals"]
        self.assertEqual(totals["from_host_bytes"], (self.ROUNDS + 1) * self.BYTES)
        self.assertEqual(totals["from_nobody_bytes"], 0)
        # the CPU reads the output of every round, and at last all of `in`
        self.assertEqual(totals["host_read_bytes"], (self.ROUNDS + 1) * self.BYTES)
        self.assertEqual(totals["ratio_written_bytes"], (self.ROUNDS + 2) * self.BYTES)
        self.assertEqual(totals["communicated_out_bytes"], self.BYTES)
        self.assertEqual(comm["soundness"]["unseen_allocations"], 0)
        self.assertNotIn("not seen", self.ctascope("comm", "run").stdout)
        in_address, out_address = (row["address"] for row in self.table("run", "allocations"))
        self.assertEqual([(row["is_store"], row["address"], row["size_bytes"])
                          for row in self.table("run", "host_accesses")],
                         [("1", in_address, str(self.BYTES))]
                         + [("0", out_address, str(self.BYTES)),
                            ("1", in_address, str(self.BYTES))] * self.ROUNDS
                         + [("0", in_address, str(self.BYTES))])

    def test_not_seen(self):
        for flags, options in (((), ()), (("--host-accesses",), ())):
            program = support.compiled("managed.cu", "-O2", *flags)
            run = "run" + "".join(flags)
            self.record(run, program, str(self.ROUNDS), options=options)
            comm = self.counts(run)
            self.assertEqual(comm["totals"]["from_host_bytes"], 0)
            self.assertEqual(comm["totals"]["ratio_written_bytes"], 0)
            self.assertEqual(comm["soundness"]["unseen_allocations"], 2)
            self.assertIn("Note: host writes to 2 managed, pinned or mapped allocations were not recorded",
                          self.ctascope("comm", run).stdout)


class Units(support.RecordTest):
    """Two translation units in which one name means different things."""

    def line_of(self, unit, text):
        path = os.path.join(support.HERE, "programs", unit)
        with open(path, encoding="utf-8") as file:
            lines = [number for number, line in enumerate(file, 1) if text in line]
        self.assertEqual(len(lines), 1, text)
        return lines[0]

    def check(self, *flags):
        program = support.compiled("units-a.cu", "units-b.cu", "-O2", *flags)
        done = self.record("run", program)
        self.assertEqual(done.stdout, "766\n")
        self.check_kernels()
        self.check_sites()
        self.check_allocations()
        sources = {os.path.basename(row["path"]): row["text"]
                   for row in self.table("run", "sources")}
        for unit in ("units-a.cu", "units-b.cu"):
            with open(os.path.join(support.HERE, "programs", unit), encoding="utf-8") as file:
                self.assertEqual(sources[unit], file.read())
        self.assertIs(self.comm("run")["soundness"]["lower_bound"], False)

    def check_kernels(self):
        a, b = "units-a.cu", "units-b.cu"
        expected = {  # name, source, line: warp records of its one launch
            ("work(float*, int)", a, self.line_of(a, "void work(")): 4,
            ("stride<float, 1>(float*, int)", a, self.line_of(a, "void stride(")): 8,
            ("stride<double, 2>(double*, int)", a, self.line_of(a, "void stride(")): 4,
            ("shift(float const*, float*, int)", a, self.line_of(a, "void shift(")): 8,
            ("work(float*, int)", b, self.line_of(b, "void work(")): 12,
            ("number(Field, int)", b, self.line_of(b, "void number(")): 4,
        }
        kernels = self.info("run")["kernels"]
        found = {(kernel["name"], os.path.basename(kernel["path"]), kernel["line"]):
                 kernel["records"] for kernel in kernels}
        self.assertEqual({kernel["launches"] for kernel in kernels}, {1})
        lambdas = [key for key in found if key[0].startswith("apply<")]
        self.assertEqual(len(lambdas), 2)
        self.assertEqual({key[1:] for key in lambdas}, {(a, self.line_of(a, "void apply("))})
        self.assertEqual([found.pop(key) for key in lambdas], [8, 8])
        self.assertEqual(found, expected)

    def check_sites(self):
        sources = {row["source"]: os.path.basename(row["path"])
                   for row in self.table("run", "sources")}
        a, b = "units-a.cu", "units-b.cu"
        expected = [
            (a, self.line_of(a, "grid[i] = 2 * i"), "store", "global", "float", "grid"),
            (a, self.line_of(a, "return row[i]"), "load", "global", "float", "row"),
            (a, self.line_of(a, "out[i] = shifted"), "store", "global", "float", "out"),
            (a, self.line_of(a, "data[i] +="), "load", "global", "float", "data"),
            (a, self.line_of(a, "data[i] +="), "store", "global", "float", "data"),
            (a, self.line_of(a, "data[i] +="), "load", "global", "double", "data"),
            (a, self.line_of(a, "data[i] +="), "store", "global", "double", "data"),
            (a, self.line_of(a, "d_grid[i] *= 3"), "load", "global", "float", "d_grid"),
            (a, self.line_of(a, "d_grid[i] *= 3"), "store", "global", "float", "d_grid"),
            (a, self.line_of(a, "d_wide[i] -= 1"), "load", "global", "double", "d_wide"),
            (a, self.line_of(a, "d_wide[i] -= 1"), "store", "global", "double", "d_wide"),
            (b, self.line_of(b, "tile[i] = i"), "store", "shared", "float", "tile"),
            (b, self.line_of(b, "__syncthreads();"), "barrier", "barrier", "", ""),
            (b, self.line_of(b, "grid[i] = tile"), "load", "shared", "float", "tile"),
            (b, self.line_of(b, "grid[i] = tile"), "store", "global", "float", "grid"),
            (b, self.line_of(b, "field.values[i] = i"), "store", "global", "int", "field.values"),
        ]
        sites = self.table("run", "sites")
        found = [(sources[site["source"]], int(site["line"]), site["operation"], site["space"],
                  site["type"], site["variable"]) for site in sites]
        self.assertEqual(sorted(found), sorted(expected))
        self.assertTrue(all(int(site["column"]) > 0 for site in sites))
        inlined = [site["inlined_at"] for site in sites if site["variable"] == "row"]
        call = self.line_of(a, "out[i] = shifted")
        self.assertIn(f"units-a.cu:{call}:", inlined[0])

    def check_allocations(self):
        found = [(row["variable"], row["type"], row["element_bytes"], row["size_bytes"],
                  os.path.basename(row["path"]), int(row["line"]), row["function"],
                  row["freed_op"] != "")
                 for row in self.table("run", "allocations") if row["kind"] == "device"]
        a, b = "units-a.cu", "units-b.cu"
        line = self.line_of
        self.assertEqual(found, [
            ("d_grid", "float", "4", "512", a, line(a, "allocation of d_grid"), "main", False),
            ("d_wide", "double", "8", "1024", a, line(a, "allocation of d_wide"), "main", False),
            ("d_other", "float", "4", "512", b, line(b, "allocation of d_other"),
             "other_unit(int)", True),
            ("field.values", "int", "4", "512", b, line(b, "allocation of field.values"),
             "other_unit(int)", True)])

    def test_units_of_their_own(self):
        self.check()

    def test_relocatable_device_code(self):
        self.check("-rdc=true")


class Helpers(support.RecordTest):
    """Allocations that a function makes for its caller have the name and line of the caller's."""

    def check(self, *flags):
        path = os.path.join(support.HERE, "programs", "helpers.cu")
        expected = []
        with open(path, encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                comment = line.partition("// ")[2]
                expected += [(name, kind, number)
                             for name, kind in re.findall(r"= (\S+) (\w+)", comment)]
        self.assertEqual(self.record("run", support.compiled("helpers.cu", *flags)).stdout, "1\n")
        found = [(row["variable"], row["type"], int(row["line"]))
                 for row in self.table("run", "allocations") if row["kind"] == "device"]
        self.assertEqual(sorted(found), sorted(expected))

    def test_optimised(self):
        self.check("-O2")

    def test_not_optimised(self):
        self.check("-O0", "-g")


if __name__ == "__main__":
    support.main()
