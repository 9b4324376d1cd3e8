"""The commands of README.md and docs/*.md print what those pages say.

pages.py CTASCOPE SOURCE WORK: runs, in order, each block of a page that begins with '$', if the programs that it
compiles are there to compile (SOURCE/examples); README.md's blocks come first, and the other pages may use its
runs. The lines that a page shows must be there in that order, with a run of others for '...'. Times are this
machine's: of a timeline only the first line and the headings of tables are compared."""

import glob
import os
import re
import shutil
import subprocess
import sys

program, source, work = sys.argv[1:4]


def blocks(page):
    """The (command, expected lines) of each block that begins with a command."""
    with open(os.path.join(source, page)) as file:
        for block in re.findall(r"^```\n(\$ .*?)^```", file.read(), re.S | re.M):
            steps = []
            for line in block.splitlines():
                if line.startswith("$ "):
                    steps.append((line[2:], []))
                elif line.strip():
                    steps[-1][1].append(line)
            yield steps


def runnable(steps):
    """What the commands read is an example, or made before."""
    made = set(os.listdir("."))
    for command, _ in steps:
        command = command.split("#")[0]
        words = command.split()
        inputs = [w for w in words if re.search(r"\.(cu|run)$", w)]
        made.update(w for option, w in zip(words, words[1:]) if option == "-o")
        if not all(w in made or os.path.exists(w) for w in inputs):
            return False
    return True


def find(shown, printed):
    """The first of the shown lines that is not printed where it should be, or None; neither has blank lines."""
    at, skip = 0, False
    for line in shown:
        if line.strip() == "...":
            skip = True
            continue
        wanted = line.rstrip()
        while at < len(printed) and skip and printed[at].rstrip() != wanted:
            at += 1
        if at == len(printed) or printed[at].rstrip() != wanted:
            return line
        at, skip = at + 1, False
    return None


def of_timeline(lines):
    """What a page about time says that does not depend on the machine; columns are as wide as their numbers."""
    kept = [squeezed(line) for line in lines[:1]]
    for line in lines[1:]:
        if re.match(r"\s+(activity|pattern|What to make faster)\b", line):
            kept += ["...", squeezed(line)]
    return kept


def squeezed(line):
    return " ".join(line.split())


def run(page, steps, timeline):
    for command, shown in steps:
        done = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{page}: '{command}' ends with status {done.returncode}:\n{done.stdout}{done.stderr}")
        printed = [line for line in done.stdout.splitlines() if line.strip()]
        if timeline and shown:
            shown, printed = of_timeline(shown), [squeezed(line) for line in printed]
        missing = find(shown, printed)
        if missing is not None:
            sys.exit(f"{page}: '{command}' does not print, or not there:\n{missing}\nbut:\n{done.stdout}")


shutil.rmtree(work, ignore_errors=True)
os.makedirs(work)
os.chdir(work)
os.symlink(os.path.join(source, "examples"), "examples")
os.environ["PATH"] = os.path.dirname(program) + ":" + os.environ["PATH"]
pages = ["README.md"] + sorted(os.path.relpath(page, source) for page in glob.glob(source + "/docs/*.md"))
done = set()
for page in pages:
    for steps in blocks(page):
        if not runnable(steps):
            print(f"{page}: left out: {steps[0][0]}")
            continue
        timeline = any("--timeline" in command for command, _ in steps)
        # The same recording on several pages is made once.
        steps = [step for step in steps if step[1] or step[0] not in done]
        done.update(command for command, _ in steps)
        run(page, steps, timeline)
        print(f"{page}: {steps[-1][0]}")
if len(done) < 8:
    sys.exit(f"only {len(done)} commands were found in the pages")
