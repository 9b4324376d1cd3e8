#!/usr/bin/env python3
"""Random programs: unchanged replays are bit-identical, and the verdict of each change is that of really
executing the changed program.

    programs.py BUILD [SEED] [--cuda INTERPRETER [--cpu INTERPRETER]] [--count N]

--cuda: interpreter.cu as nvcc compiled it, for a GPU; --cpu: as 'ctascope cc' did, for recordings.

The programs are scripts of interpreter.cu, free of races unless they are made with one.
"""
import argparse
import json
import os
import random
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(1, os.path.join(HERE, ".."))
from count import test_count  # noqa: E402

BUFFERS = 8
LAUNCHES = {"set", "mix", "add", "advance", "count"}
COPIES = {"copy", "zero", "down", "up"}


def random_line(rng):
    op = rng.choice(["set", "mix", "mix", "add", "add", "advance", "count", "copy", "zero", "down", "up"])
    a, b, c = rng.sample(range(BUFFERS), 3)
    if op in ("set", "zero", "down", "up"):
        b, c = rng.randrange(256), rng.randrange(256)
    if op == "mix":
        c = rng.randrange(20)
    return f"{op} {a} {b} {c} {rng.randrange(4)}"


def random_script(rng):
    lines = [random_line(rng) for _ in range(rng.randrange(4))] + ["begin"]
    for _ in range(rng.randrange(6, 25)):
        lines.append(f"sync {rng.randrange(2)} 0 0 {rng.randrange(4)}" if rng.random() < 0.12
                     else random_line(rng))
    return lines + ["end"]


def written(line):
    """The buffer that a line of a script rewrites; None: none."""
    op, *numbers = line.split()
    place = {"set": 0, "zero": 0, "up": 0, "mix": 1, "copy": 1, "add": 2}.get(op)
    return None if place is None else int(numbers[place]) % BUFFERS


class Script:
    def __init__(self, folder, lines, binary):
        self.path = os.path.join(folder, "script")
        self.lines, self.binary = lines, binary
        with open(self.path, "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")

    def names(self):
        """By line of the stretch: the operation as `try` calls it."""
        launches, copies, waits, inside, names = 0, BUFFERS, 1, False, {}
        for number, line in enumerate(self.lines):
            word, *rest = line.replace("bare ", "").split()
            if word in ("begin", "end"):
                inside = word == "begin"
                waits += 1
            elif word == "sync":
                if inside:
                    names[number] = f"wait:{waits}"
                waits += 1
            elif word in LAUNCHES:
                if inside:
                    names[number] = f"launch:{launches}"
                launches += 1
            else:
                if inside:
                    names[number] = f"{'memset' if word == 'zero' else 'copy'}:{copies}"
                copies += 1
                waits += word in ("up", "down") and int(rest[1]) % 2
        return names

    def run(self, *options):
        return subprocess.run([self.binary, self.path, *options], capture_output=True, text=True,
                              check=True).stdout


class Tester:
    def __init__(self, arguments, folder):
        self.ctascope = os.path.join(arguments.build, "bin", "ctascope")
        self.folder = folder
        self.failures = 0
        self.counts = {}
        self.recorded = arguments.cpu or os.path.join(folder, "interpreter")
        if not arguments.cpu:
            subprocess.run([self.ctascope, "cc", "-O1", os.path.join(HERE, "interpreter.cu"), "-o",
                            self.recorded], check=True)
        self.binary = arguments.cuda or self.recorded

    def attempt(self, script, *options):
        ran = subprocess.run([self.ctascope, "try", "--format", "json", "--replays", "10", "--pace", "free",
                              *options, "--", self.binary, script.path],
                             capture_output=True, text=True, check=False)
        if ran.returncode != 0:
            self.fail(script, options, f"exit {ran.returncode}: {ran.stderr.strip()[-300:]}")
            return None
        return json.loads(ran.stdout)

    def fail(self, script, options, what):
        self.failures += 1
        print(f"{what}\n  options: {' '.join(options)}\n  script: {'; '.join(script.lines)}")

    def judge(self, script, options, answer, real_same, what):
        if answer is None:
            return
        got = answer["trials"][0]["result"]
        expected = "same" if real_same else "differs"
        self.counts[what, expected] = self.counts.get((what, expected), 0) + 1
        if got != expected:
            self.fail(script, options, f"{what}: '{got}', the changed program: '{expected}' "
                                       f"({answer['trials'][0]['verdict']})")

    def check_unchanged(self, script, plain):
        answer = self.attempt(script)
        if answer is None:
            return
        unchanged = answer["unchanged"]
        if not unchanged["can_judge"] or unchanged["varying_bytes"] or unchanged["differs_at"]:
            self.fail(script, (), f"unchanged replays differ: {unchanged}")
        if answer["program_status"] != 0:
            self.fail(script, (), f"the program's status is {answer['program_status']}")

    def check_changes(self, script, plain, rng):
        names = script.names()
        numbers = sorted(names)
        number = rng.choice(numbers)
        self.judge(script, ("--drop", names[number]), self.attempt(script, "--drop", names[number]),
                   script.run("--skip", str(number)) == plain, "drop")
        work = [n for n in numbers if not names[n].startswith("wait")]
        number = rng.choice(work)
        if not script.lines[number].startswith("down"):
            self.judge(script, ("--repeat", names[number]), self.attempt(script, "--repeat", names[number]),
                       script.run("--twice", str(number)) == plain, "repeat")
        pairs = [n for n in work if n + 1 in names and not names[n + 1].startswith("wait") and
                 script.lines[n].split()[-1] == script.lines[n + 1].split()[-1] and
                 not {"up", "down"} & {script.lines[n].split()[0], script.lines[n + 1].split()[0]}]
        if pairs:
            number = rng.choice(pairs)
            option = f"{names[number]},{names[number + 1]}"
            self.judge(script, ("--swap", option), self.attempt(script, "--swap", option),
                       script.run("--swap", f"{number},{number + 1}") == plain, "swap")

    def check_late(self, script, plain, rng):
        """The second of two neighbours no longer waits for the first, which begins late: whether the two
        may be exchanged decides, not who is faster."""
        names = script.names()
        able = [n for n in names if script.lines[n].split()[0] in LAUNCHES | {"copy", "zero"}]
        number = rng.choice(able) if able else None
        if number is not None:
            self.judge_late(script, plain, names, (number,), "delay")
        pairs = [n for n in able if n + 1 in able and not {"up", "down"} & set(script.lines[n + 1].split()[:1])]
        if pairs:
            number = rng.choice(pairs)
            self.judge_late(script, plain, names, (number, number + 1), "overlap")

    def judge_late(self, script, plain, names, numbers, what):
        """On a loaded machine others may come later than the delay: a longer one decides."""
        for late in (3000, 30000, 300000):
            options, changes = ["--delay", f"{names[numbers[0]]},{late}"], ["--delay", f"{numbers[0]},{late}"]
            if len(numbers) > 1:
                options += ["--overlap", ",".join(names[n] for n in numbers)]
                changes += ["--overlap", ",".join(map(str, numbers))]
            answer, real_same = self.attempt(script, *options), script.run(*changes) == plain
            if answer is None or (answer["trials"][0]["result"] == "same") == real_same:
                break
        self.judge(script, options, answer, real_same, what)

    def check_waits(self, script, plain):
        """Without the host's waits: programs that use the pinned buffer need them."""
        if any(line.split()[0] in ("up", "down") for line in script.lines):
            return
        self.judge(script, ("--no-sync",), self.attempt(script, "--no-sync"), script.run("--no-sync") == plain,
                   "no-sync")

    def check_away(self, script, plain, rng, run):
        """Readers of a copy read its source; not where something changes the copy in place."""
        names, lines = script.names(), [line.split() for line in script.lines]
        copies = [n for n in names if lines[n][0] == "copy" and lines[n][1] != lines[n][2] and
                  not any(line[0] in ("advance", "count") and line[{"advance": 1, "count": 2}[line[0]]] == lines[n][2]
                          for line in lines[n + 1:] if len(line) > 2)]
        if not copies:
            return
        number = rng.choice(copies)
        self.judge(script, ("--copy-away", names[number]),
                   self.attempt(script, "--run", run, "--copy-away", names[number]),
                   script.run("--away", str(number)) == plain, "copy-away")

    def check_buffers(self, script, run):
        """Every buffer gets others, as many as it needs: then RAW is enough."""
        addresses = script.run("--addresses").split()[:BUFFERS]
        wishes, inside = [], script.lines[script.lines.index("begin"):]
        for i, address in enumerate(addresses):
            versions = sum(written(line) == i for line in inside)
            wishes += ["--second-buffer", address] * versions
        if not wishes or len(wishes) > 60:
            return
        for order in ((), ("--order", "true")):
            answer = self.attempt(script, "--run", run, *wishes, *order)
            if answer and answer["trials"][0]["result"] == "not tried":
                verdict = answer["trials"][0]["verdict"]
                self.counts["second buffer", "not tried"] = self.counts.get(("second buffer", "not tried"), 0) + 1
                if "rewrites" not in verdict and "--order true" not in verdict:
                    self.fail(script, wishes, verdict)
                continue
            self.judge(script, (*wishes, *order), answer, True, " ".join(("second buffer", *order)))

    def check_graph(self, script, plain):
        self.judge(script, ("--graph",), self.attempt(script, "--graph"), script.run("--graph") == plain, "graph")

    def check_ctas(self, script):
        """No kernel of the interpreter depends on the order of its CTAs."""
        if self.binary != self.recorded:
            return
        for order in ("column", "zorder", "grouped:2"):
            self.judge(script, ("--cta-order", order), self.attempt(script, "--cta-order", order), True, "CTAs")

    def record(self, script):
        run = os.path.join(self.folder, "run")
        subprocess.run([self.ctascope, "record", "--force", "-o", run, "--", self.recorded, script.path],
                       capture_output=True, check=True)
        return run

    def check_order(self, script, run):
        self.judge(script, ("--order",), self.attempt(script, "--run", run, "--order", "needed"), True, "order")
        self.judge(script, ("--streams",), self.attempt(script, "--run", run, "--streams", "2"), True, "streams")
        self.judge(script, ("--serial",), self.attempt(script, "--serial"), True, "serial")

    def check_race(self):
        """Two writers of a buffer in two streams with nothing but time between them: late, the first wins. On
        a busy machine, that may happen in unchanged replays, too."""
        script = Script(self.folder, ["begin", "set 0 5 1 1", "pause 20", "bare set 0 9 2 2", "end"],
                        self.binary)
        for first, expected in ("launch:0", "differs"), ("launch:1", "same"):
            answer = self.attempt(script, "--pace", "recorded", "--delay", f"{first},100000")
            if answer and answer["unchanged"]["can_judge"] and answer["trials"][0]["result"] != expected:
                self.fail(script, ("--delay", first), f"a race: {answer['trials'][0]}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("seed", type=int, nargs="?", default=20)
    parser.add_argument("--cuda")
    parser.add_argument("--cpu")
    parser.add_argument("--count", type=int, default=test_count(5, 100))
    arguments = parser.parse_args()
    rng = random.Random(arguments.seed)
    with tempfile.TemporaryDirectory() as folder:
        tester = Tester(arguments, folder)
        tester.check_race()
        for _ in range(arguments.count):
            script = Script(folder, random_script(rng), tester.binary)
            plain = script.run()
            tester.check_unchanged(script, plain)
            tester.check_changes(script, plain, rng)
            run = tester.record(script)
            tester.check_order(script, run)
            tester.check_late(script, plain, rng)
            tester.check_waits(script, plain)
            tester.check_away(script, plain, rng, run)
            tester.check_graph(script, plain)
            if not arguments.cuda:
                tester.check_buffers(script, run)
                tester.check_ctas(script)
        print(f"{tester.failures} failures; " +
              ", ".join(f"{what} {kind}: {n}" for (what, kind), n in sorted(tester.counts.items())))
    return tester.failures > 0


if __name__ == "__main__":
    sys.exit(main())
