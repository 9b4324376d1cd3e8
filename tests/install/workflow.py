#!/usr/bin/env python3
"""The shell commands of the workflow in docs/ci.md, step by step, as a script for a container:

    workflow.py CI.MD PACKAGES REPOSITORY BASE

PACKAGES is where its `curl` finds the packages, REPOSITORY a clone that stands for what actions/checkout leaves,
with origin/BASE. Before each step the script prints 'step: NAME'."""
import re
import shlex
import sys

page, packages, repository, base = sys.argv[1:]
with open(page) as file:
    workflow = re.search(r"```yaml\n(.*?)```", file.read(), re.S)[1]
steps = re.split(r"\n      - ", workflow.split("    steps:")[1])[1:]
count = 0
print(f"set -eu\nexport GITHUB_BASE_REF={shlex.quote(base)} PACKAGES={shlex.quote(packages)}\nmkdir -p /work/runner && cd /work/runner")
for step in steps:
    name = re.match(r"name: (.*)", step)
    block = re.search(r"\n        run: \|\n((?:          .*\n|\n)+)", step + "\n")
    line = re.search(r"\n        run: (?!\|)(.*)", step)
    if step.startswith("uses: actions/checkout"):
        print(f"rm -rf checkout && cp -a {shlex.quote(repository)} checkout && cd checkout")
    if not block and not line:
        continue
    count += 1
    print(f"echo 'step: {name[1]}'")
    # The shell of a runner stops at the first command that fails.
    print(re.sub(r"(?m)^          ", "", block[1]) if block else line[1])
if count < 4:
    sys.exit(f"'{page}': its workflow has {count} steps with commands")
