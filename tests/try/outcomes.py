#!/usr/bin/env python3
"""What `ctascope try` does with each kind of stretch: outcomes.cu has a case for each."""
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
UNDONE = "nothing was tried: the program ended with status 137 before the stretch was complete"

# case: options, exit status, what standard error has, what standard output has
REFUSED = {
    "host-function": ((), 4, "the stretch contains a host function (cudaLaunchHostFunc)"),
    "fault": ((), 4, "a kernel of the stretch failed"),
    "never": ((), 2, "the program does not call cudaProfilerStart"),
    "killed": ((), 1, UNDONE),
    "killed-before": ((), 1, UNDONE),
    "pinned-late": ((), 4, "the pinned source of copy 1 changed between the call and the copy"),
    "plain": (("--launches", "9-9"), 2, "the program has no launch 9: it has 2 launches"),
    "large": (("--memory-limit", "64M"), 4, "saving the memory takes more than"),
    "threads": (("--drop", "launch:9"), 2, "launch 9 is not in the stretch, which has numbers 0 to 3"),
    "pool": (("--order", "needed"), 0, "", "not tried: --order needed needs to know what data requires"),
    "status": (("--drop", "memset:0"), 2, "memset 0 is not in the stretch, which has none"),
}


class Tester:
    def __init__(self, build, folder):
        self.ctascope = os.path.join(build, "bin", "ctascope")
        self.folder, self.failures = folder, 0
        self.binary = os.path.join(folder, "outcomes")
        subprocess.run([self.ctascope, "cc", "-O1", os.path.join(HERE, "outcomes.cu"), "-o", self.binary],
                       check=True)

    def run(self, case, *options):
        environment = dict(os.environ, CTASCOPE_SPIN_LIMIT="1", **({"CTASCOPE_WORKERS": "1"} if case == "first" else {}))
        return subprocess.run([self.ctascope, "try", "--replays", "10", *options, "--", self.binary, case],
                              capture_output=True, text=True, check=False, env=environment, timeout=300)

    def expect(self, good, case, what):
        if not good:
            self.failures += 1
            print(f"{case}: {what}")

    def answer(self, case, *options):
        ran = self.run(case, "--format", "json", *options)
        self.expect(ran.returncode == 0, case, f"exit {ran.returncode}: {ran.stderr}")
        return json.loads(ran.stdout) if ran.returncode == 0 else None

    def refusals(self):
        for case, (options, status, text, *printed) in REFUSED.items():
            ran = self.run(case, *options)
            good = ran.returncode == status and text in ran.stderr
            self.expect(good and all(words in ran.stdout for words in printed), case,
                        f"{options}: exit {ran.returncode}, '{ran.stderr.strip()}' {ran.stdout}")

    def unchanged(self):
        for case in ("plain", "printf", "variable", "freed", "pool", "threads", "index", "open", "status", "exits"):
            answer = self.answer(case)
            if answer:
                unchanged = answer["unchanged"]
                self.expect(unchanged["can_judge"] and not unchanged["varying_bytes"], case, unchanged)
                self.expect(unchanged["replays"] == 10, case, unchanged)
        self.expect(self.answer("status")["program_status"] == 3, "status", "the program's status is lost")
        self.expect(self.answer("exits")["program_status"] == 7, "exits", "the program's status is lost")
        ran = self.run("printf")
        self.expect(ran.stdout.count("from the device") == 1, "printf", f"printed again: {ran.stdout}")
        self.expect("printf: 2\n" in ran.stdout, "printf", f"the program's own output: {ran.stdout}")

    def unjudged(self):
        varying = self.answer("clock")["unchanged"]
        self.expect(not varying["can_judge"] or 0 < varying["varying_bytes"] <= 8, "clock", varying)
        self.expect(varying["varying_bytes"] > 0, "clock", varying)
        managed = self.answer("managed")["unchanged"]
        self.expect(not managed["can_judge"] and managed["differs_at"], "managed", managed)

    def trials(self):
        dropped = self.answer("index", "--drop", "copy:1")["trials"][0]
        self.expect(dropped["result"] == "fails" and "follow" in dropped["verdict"], "index", dropped)
        stuck = self.answer("flag", "--drop", "launch:1")["trials"][0]
        self.expect(stuck["result"] == "fails", "flag", stuck)
        kept = self.answer("variable", "--repeat", "launch:1")["trials"][0]
        self.expect(kept["result"] == "differs" and "state" in kept["differs_at"] and
                    kept["first_written_by"] == "launch 1", "variable", kept)
        freed = self.answer("freed", "--repeat", "launch:2")["trials"][0]
        self.expect(freed["result"] == "same", "freed", freed)

    def stretches(self):
        for options, launches, drop in ((("--range", "step"), 2, "launch:1"),
                                        (("--iteration", "1"), 3, "launch:4"),
                                        (("--launches", "4-5"), 2, "launch:4")):
            answer = self.answer("ranges", *options, "--drop", drop)
            self.expect(answer and answer["stretch"]["launches"] == launches, "ranges", f"{options}: {answer}")
            self.expect(answer and answer["trials"][0]["result"] == "differs", "ranges", f"{options}: {answer}")
        self.expect("no launch, copy or memset lies in" in self.run("ranges", "--range", "other").stderr, "ranges",
                    "another range")

    def changes(self):
        for options in (("--priority", "0"), ("--pdl", "1")):
            trial = self.answer("plain", *options)["trials"][0]
            self.expect(trial["result"] == "not tried" and trial["verdict"].endswith(
                f"{options[0]} cannot be tried on the ctascope CPU device"), options, trial)
        for order in ("row", "column", "zorder", "grouped:3", "launch:1,column"):
            trial = self.answer("plain", "--cta-order", order)["trials"][0]
            self.expect(trial["result"] == "same", order, trial)
        self.cta_files()
        for name, error in (("nothing", "the stretch has no memory 'nothing'; it has"), ("x,,y", "no memory ''")):
            ran = self.run("plain", "--live", name)
            self.expect(ran.returncode == 2 and error in ran.stderr, "--live", ran.stderr)
        for live, result in (("x", "same"), ("x,y", "differs"), ("y", "differs")):
            trial = self.answer("plain", "--live", live, "--drop", "launch:1")["trials"][0]
            self.expect(trial["result"] == result, live, trial)

    def cta_files(self):
        """The CTAs of `first`, where each sees how many began before it, in the order of a file."""
        path = os.path.join(self.folder, "ctas")
        for lines, text in (("0\n1\n", "lists 2 CTAs; the launch has 16"), ("x\n", "line 1: 'x' is no index"),
                            ("", "lists no CTA"), ("16\n" * 16, "entry 1: no CTA 16"),
                            ("3\n" * 16, "entry 2: CTA 3 occurs twice")):
            with open(path, "w", encoding="utf-8") as file:
                file.write(lines)
            ran = self.run("plain", "--cta-order", path)
            self.expect(text in ran.stderr + ran.stdout and path in ran.stderr + ran.stdout.replace("\n  ", " "),
                        lines, ran.stderr + ran.stdout)
        with open(path, "w", encoding="utf-8") as file:
            file.write("# last first\n" + "".join(f"{i}\n" for i in reversed(range(16))))
        trial = self.answer("first", "--cta-order", path)["trials"][0]
        self.expect(trial["result"] == "differs" and trial["first_written_by"] == "launch 1", "first", trial)
        trial = self.answer("first", "--cta-order", "row")["trials"][0]
        self.expect(trial["result"] == "same", "first", trial)

    def full_output(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            ran = subprocess.run([self.ctascope, "try", "--format", "json", "--", self.binary, "plain"],
                                 stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        self.expect(ran.returncode == 1 and "No space left" in ran.stderr, "/dev/full",
                    f"exit {ran.returncode}: {ran.stderr}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        tester = Tester(sys.argv[1], folder)
        tester.refusals()
        tester.unchanged()
        tester.unjudged()
        tester.trials()
        tester.stretches()
        tester.changes()
        tester.full_output()
    print(f"{tester.failures} failures")
    return tester.failures > 0


if __name__ == "__main__":
    sys.exit(main())
