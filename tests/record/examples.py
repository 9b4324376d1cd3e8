#!/usr/bin/env python3
"""Every example, plain and recorded, with one and four workers, under --long also with two: the
program computes the same, and the recorded volumes do not depend on how its CTAs were spread."""
import os
import sys

import support

sys.path.insert(0, os.path.join(os.path.dirname(support.HERE), "examples"))
sys.path.insert(1, os.path.dirname(support.HERE))
import programs  # noqa: E402
from count import test_count  # noqa: E402

WORKERS = (1,) + test_count((), (2,)) + (4,)


class Examples(support.RecordTest):
    def volumes(self, run):
        comm = self.comm(run)
        self.assertIs(comm["soundness"]["lower_bound"], False)
        self.assertEqual(comm["soundness"]["dropped_accesses"], 0)
        return comm["totals"]

    def check(self, name):
        program = support.compiled(f"{name}.cu", "-O2", example=True)
        arguments = list(map(str, programs.PROGRAMS[name][0]))
        outputs, volumes = {}, {}
        for workers in WORKERS:
            env = support.environment(CTASCOPE_WORKERS=workers)
            outputs["plain", workers] = self.run_(program, *arguments, env=env).stdout
            run = f"{name}-{workers}"
            done = self.record(run, program, *arguments, env=env)
            outputs["recorded", workers] = done.stdout
            self.one_line(done.stderr, "ctascope record: ")
            volumes[workers] = self.volumes(run)
        self.assertEqual(set(outputs.values()), {f"{name}: right\n"})
        for workers in WORKERS[1:]:
            self.assertEqual(volumes[workers], volumes[1], f"{workers} workers")


def add_test(name):
    setattr(Examples, f"test_{name}", lambda self: self.check(name))


for example in programs.PROGRAMS:
    add_test(example)

if __name__ == "__main__":
    support.main()
