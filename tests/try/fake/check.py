#!/usr/bin/env python3
"""What `ctascope try` does with programs of the CUDA driver: program.c has a case for each, fake-cuda.c is
the driver. check.py BUILD PROGRAM"""
import json
import os
import subprocess
import sys
import tempfile

REFUSED = {
    "host-function": "the stretch contains a host function (cuLaunchHostFunc)",
    "copy-2d": "the stretch contains cuMemcpy2DAsync_v2, which replays cannot make",
    "peer": "the stretch contains cuMemcpyPeerAsync",
    "wait-value": "the stretch contains cuStreamWaitValue32_v2",
    "update": "the stretch contains cuGraphExecUpdate_v2",
    "extra": "the parameters of a kernel are passed in a way that is not supported",
    "crash": "the driver reports an error when the stretch ends",
}
BEFORE = ("host-function", "copy-2d", "peer", "wait-value", "update")


class Tester:
    def __init__(self, build, program):
        self.ctascope, self.program = os.path.join(build, "bin", "ctascope"), program
        self.failures = 0

    def run(self, case, *options, **variables):
        return subprocess.run([self.ctascope, "try", "--replays", "10", *options, "--", self.program, case],
                              capture_output=True, text=True, check=False, timeout=300,
                              env=dict(os.environ, CTASCOPE_CUPTI="/none", **variables))

    def expect(self, good, case, what):
        if not good:
            self.failures += 1
            print(f"{case}: {what}")

    def answer(self, case, *options, **variables):
        ran = self.run(case, "--format", "json", *options, **variables)
        self.expect(ran.returncode == 0, case, f"{options}: exit {ran.returncode}: {ran.stderr}")
        return json.loads(ran.stdout) if ran.returncode == 0 else None

    def trial(self, case, *options, **variables):
        answer = self.answer(case, *options, **variables)
        return answer["trials"][0] if answer else {"result": None, "verdict": ""}

    def is_same(self, case, *options):
        self.expect(self.trial(case, *options)["result"] == "same", case, options)

    def differs(self, case, where, origin, *options):
        trial = self.trial(case, *options)
        self.expect(trial["result"] == "differs" and trial["differs_at"] and where in trial["differs_at"] and
                    trial["first_written_by"] == origin, case, f"{options}: {trial}")

    def untried(self, case, text, *options, **variables):
        trial = self.trial(case, *options, **variables)
        self.expect(trial["result"] == "not tried" and text in trial["verdict"], case, f"{options}: {trial}")

    def refusals(self):
        for case, text in REFUSED.items():
            ran = self.run(case)
            self.expect(ran.returncode == 4 and text in ran.stderr, case, f"exit {ran.returncode}: {ran.stderr}")
        for case in BEFORE:  # what comes before the stretch does not matter
            self.expect(self.answer(f"before-{case}"), case, "before the stretch")
        ran = self.run("never")
        self.expect(ran.returncode == 2 and "does not call cudaProfilerStart" in ran.stderr and
                    "(it has 1 launch)" in ran.stderr, "never", ran.stderr)
        ran = self.run("large", "--memory-limit", "64M")
        self.expect(ran.returncode == 4 and "takes more than" in ran.stderr, "large", ran.stderr)

    def unchanged(self):
        for case in ("plain", "streams", "graph", "freed", "chase", "copies"):
            answer = self.answer(case)
            unchanged, stretch = answer["unchanged"], answer["stretch"]
            self.expect(unchanged["can_judge"] and not unchanged["varying_bytes"], case, unchanged)
            self.expect(stretch["busy_ns"] and stretch["device"] == "no GPU", case, stretch)
        varying = self.answer("tick")["unchanged"]
        self.expect(0 < varying["varying_bytes"] <= 8, "tick", varying)

    def stretches(self):
        for options, launches, drop in ((("--range", "step"), 2, "launch:1"),
                                        (("--iteration", "1"), 3, "launch:4"),
                                        (("--launches", "4-5"), 2, "launch:4")):
            answer = self.answer("ranges", *options, "--drop", drop)
            self.expect(answer and answer["stretch"]["launches"] == launches, "ranges", f"{options}: {answer}")
            self.expect(answer and answer["trials"][0]["result"] == "differs", "ranges", f"{options}: {answer}")
        ran = self.run("ranges", "--range", "other")
        self.expect("no launch, copy or memset lies in" in ran.stderr, "ranges", ran.stderr)
        ran = self.run("ranges", "--iteration", "7")
        self.expect("--iteration 7 is not among them" in ran.stderr, "ranges", ran.stderr)

    def changes(self):
        for case in ("streams", "graph", "copies", "chase"):
            self.is_same(case, "--graph")
            self.is_same(case, "--graph", "--no-sync")
            self.is_same(case, "--serial")
            self.is_same(case, "--priority", "launch:1")
            self.is_same(case, "--repeat", "launch:1")
        self.differs("plain", "allocation:2", "launch 1", "--swap", "launch:1,launch:2")
        self.differs("plain", "allocation:2", "launch 2", "--drop", "launch:2")
        self.differs("graph", "allocation:0", "launch 0", "--drop", "launch:0", "--live", "allocation:0")
        self.untried("streams", "the device has no priorities", "--priority", "launch:1", FAKE_NO_PRIORITIES="1")
        self.untried("streams", "--cta-order is tried on the CPU device", "--cta-order", "column")
        for option in (("--order", "needed"), ("--order", "true"), ("--second-buffer", "allocation:1"),
                       ("--copy-away", "copy:3")):
            self.untried("copies", "give a recording of the program with --run", *option)

    def recorded(self):
        """Changes that need to know what data requires: the CPU device records recorded.cu."""
        with tempfile.TemporaryDirectory() as folder:
            binary, run = os.path.join(folder, "recorded"), os.path.join(folder, "run")
            source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "recorded.cu")
            for command in (["cc", "-O1", source, "-o", binary], ["record", "-o", run, "--", binary]):
                subprocess.run([self.ctascope, *command], check=True, capture_output=True)
            for options in (("--copy-away", "copy:3"), ("--order", "needed"), ("--streams", "2"),
                            ("--second-buffer", "allocation:1"), ("--second-buffer", "y", "--order", "needed"),
                            ("--second-buffer", "y", "--second-buffer", "z", "--streams", "3"), ("--live", "z,y"),
                            ("--second-buffer", "y", "--graph", "--order", "needed")):
                if "--live" in options:
                    options = (*options, "--drop", "memset:4")
                self.is_same("copies", "--run", run, *options)
            self.untried("copies", "--order true: copy 5 writes 'z', which launch 1 uses before", "--run", run,
                         "--order", "true")
            self.differs("copies", "z[4095]", "launch 3", "--run", run, "--drop", "launch:3")  # the rest is dead
            findings = self.answer("copies", "--run", run, "--all-findings")["trials"]
            tried = [f["result"] for f in findings if f["result"] != "not tried"]
            self.expect(tried and all(result == "same" for result in tried), "findings", findings)

    def compared(self):
        self.is_same("copies", "--drop", "memset:4")  # a later launch writes all of it
        dropped = ("--drop", "launch:2")
        trial = self.trial("plain", "--live", "allocation:0,state", *dropped)
        self.expect(trial["result"] == "same" and trial["differing_dead_bytes"], "--live", trial)
        self.differs("plain", "allocation:2", "launch 2", "--live", "allocation:2", *dropped)
        ran = self.run("copies", "--live", "allocation:7")
        self.expect(ran.returncode == 2 and "the stretch has no memory 'allocation:7'; it has" in ran.stderr and
                    "state" in ran.stderr, "--live", ran.stderr)


def main():
    tester = Tester(*sys.argv[1:3])
    tester.refusals()
    tester.unchanged()
    tester.stretches()
    tester.changes()
    tester.compared()
    tester.recorded()
    print(f"{tester.failures} failures")
    return tester.failures > 0


if __name__ == "__main__":
    sys.exit(main())
