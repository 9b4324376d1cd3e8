"""Damaged archives: whatever bytes are spoiled or missing, path ends with its own exit codes and one
error or counted notes, and what it writes beside the table is still sound."""
import json
import os
import random
import shutil
import sys

from archive import WHERE, ctascope, fresh, generated, otf2_print

ROUNDS = 40


def spoil(trace, chance):
    """Changes, cuts or removes one file of the archive."""
    files = [os.path.join(where, file) for where, _, found in sorted(os.walk(trace))
             for file in sorted(found)]
    path = chance.choice(files)
    data = bytearray(open(path, "rb").read())
    what = chance.randrange(8)
    if what == 0 and not path.endswith(".otf2"):
        os.remove(path)
        return f"{path} removed"
    if what == 1 and data:
        data = data[:chance.randrange(len(data))]
    for _ in range(chance.choice((1, 1, 4, 32)) if what > 1 and data else 0):
        data[chance.randrange(len(data))] = chance.randrange(256)
    open(path, "wb").write(data)
    return f"{path} spoiled in way {what}"


def main():
    fresh(WHERE)
    sources = {mode: os.path.dirname(generated(mode, 400)) for mode in ("drain", "across", "messages")}
    read = 0
    for round_number in range(ROUNDS):
        chance = random.Random(round_number)
        trace, out = os.path.join(WHERE, "spoiled"), os.path.join(WHERE, "out")
        shutil.rmtree(trace, ignore_errors=True)
        shutil.copytree(chance.choice(sorted(sources.values())), trace)
        for _ in range(chance.choice((1, 1, 3))):
            what = spoil(trace, chance)
        fresh(out)
        done = ctascope(trace + "/traces.otf2", "--format", "json", "--enriched", out + "/e",
                        "--chrome", out + "/c.json")
        story = (round_number, what, done.returncode, done.stderr[:600])
        errors = [line for line in done.stderr.splitlines() if line.startswith('{"error"')]
        if done.returncode == 0:
            read += 1
            assert not errors, story
            json.loads(done.stdout)
            json.load(open(out + "/c.json", encoding="utf-8"))
            otf2_print(out + "/e/traces.otf2")
        else:
            assert done.returncode == 1 and len(errors) == 1 and not done.stdout, story
    assert ROUNDS // 4 < read < ROUNDS, f"{read} of {ROUNDS} could be read: too tame or too wild"
    print(f"{read} of {ROUNDS} could be read")
    return 0


sys.exit(main())
