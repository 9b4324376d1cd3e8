#!/usr/bin/env python3
"""Which launches are recorded: those in NVTX ranges that the user chose, and those between cts_start()
and cts_stop(). Launch n of programs/ranges.cu and ranges-cpp.cu makes n + 1 accesses."""
import unittest

import support


class Chosen(support.RecordTest):
    program, launches = ("-O2", "ranges.cu"), 8

    def start_recording(self, *options, status=0):
        program = support.compiled("--device=cpu", *self.program)
        return self.record("run", program, options=("--force", *options), status=status).stderr

    def recorded(self, *options):
        """The numbers of the launches that are in the run."""
        self.start_recording(*options)
        rows = self.table("run", "launches")
        self.assertEqual(len(rows), self.launches)
        for row in rows:
            self.assertEqual(row["recorded"], "all" if int(row["accesses"]) else "none")
        return [int(row["accesses"]) - 1 for row in rows if int(row["accesses"])]


class Ranges(Chosen):
    def test_a_name_chooses_ranges_of_both_kinds_and_what_is_in_them(self):
        self.assertEqual(self.recorded("--nvtx-include", "solve"), [2, 3, 5])
        self.assertEqual(self.recorded("--nvtx-include", "warm-up"), [1, 2, 3, 4])

    def test_pushed_ranges_alone(self):
        self.assertEqual(self.recorded("--nvtx-include", "solve/"), [2, 3])

    def test_a_domain(self):
        self.assertEqual(self.recorded("--nvtx-include", "library@solve"), [6])
        self.assertIn("all excluded by filters",
                      self.start_recording("--nvtx-include", "other@solve"))

    def test_an_expression(self):
        self.assertEqual(self.recorded("--nvtx-include", "regex:^(inner|w)"), [1, 2, 3, 4])

    def test_several(self):
        self.assertEqual(self.recorded("--nvtx-include", "inner", "--nvtx-include=library@solve"),
                         [3, 6])

    def test_with_other_filters(self):
        self.assertEqual(self.recorded("--nvtx-include", "solve", "--launch-skip", "1",
                                       "--launch-count", "1"), [3])

    def test_with_a_timeline_beside(self):
        self.assertEqual(self.recorded("--nvtx-include", "solve", "--timeline", "--memory"),
                         [2, 3, 5])

    def test_the_programs_own_options_are_its_own(self):
        program = support.compiled("--device=cpu", "-O2", "ranges.cu")
        self.record("run", program, "--nvtx-include", "solve")
        self.assertEqual(len([row for row in self.table("run", "launches")
                              if row["recorded"] == "all"]), 8)

    def test_bad_choices(self):
        for text in ("", "domain@", "regex:(", "a\nb"):
            self.start_recording("--nvtx-include", text, status=2)


class RangesOfCpp(Chosen):
    program, launches = ("-O2", "-std=c++11", "-Wall", "-Wextra", "-Werror", "ranges-cpp.cu"), 9

    def test_a_name(self):
        self.assertEqual(self.recorded("--nvtx-include", "solve"), [3, 5, 7])

    def test_a_function(self):
        self.assertEqual(self.recorded("--nvtx-include", "refine"), [1, 2])

    def test_a_domain(self):
        self.assertEqual(self.recorded("--nvtx-include", "library@solve"), [6])
        self.assertEqual(self.recorded("--nvtx-include", "library@refine"), [2])

    def test_ranges_are_regions_of_a_timeline(self):
        self.start_recording("--timeline")
        text = self.ctascope("dump", "run", "--timeline", "--format", "csv").stdout
        for name in ("solve", "refine", "library: solve", "library: refine"):
            self.assertIn(f"LEAVE,region={name}\n", text)


if __name__ == "__main__":
    support.main()
