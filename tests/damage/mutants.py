#!/usr/bin/env python3
"""Mutants of runs: every file of three small runs cut, flipped, zeroed, swapped, lost, and rows of the
catalogue changed; whatever a verb then says must be true.

    mutants.py CTASCOPE PROGRAM_DIRECTORY ARCHIVE_PROGRAM TIMELINE_LIBRARY [COUNT [FIRST]]

The runs: of memory, of time, and one of memory whose recorder was killed, which has a journal.
Mutant N is made from the seed N alone: `mutants.py ... 1 N` makes it again and prints what the
verbs said. Each verb ends by itself within a limit of CPU time, and
  a. prints what it prints of the whole run, or
  b. exits with 0 and names what is missing, or
  c. exits with 1 and one line that names the run and the reason.
"""
import json
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(1, os.path.join(HERE, ".."))
sys.path.insert(1, os.path.join(HERE, "..", "record"))
import support  # noqa: E402
from count import test_count  # noqa: E402

CTASCOPE = support.ctascope_path
ARCHIVE_PROGRAM, TIMELINE_LIBRARY = sys.argv[3:5]
CPU_LIMIT_S = 60
VERBS = {
    "info": "info run --format json",
    "comm": "comm run --format json",
    "access": "access run --format json",
    "flow": "flow run --format json",
    "partition": "partition run --format json",
    "rows": "dump run --format json",
    "records": "dump run --accesses --format json",
    "path": "path run --format json",
    "report": "report run -o page.html",
}
QUICK_VERBS = 3  # of these, in the gate


# ---- runs ----

def record_runs():
    """The whole runs, in the current directory: memory, its twin (of other launches), time, cut."""
    program = support.compiled("launches.cu", "-O2")
    environment = support.environment()
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "env": environment}
    for name, launches in (("memory", "4"), ("twin", "3")):
        subprocess.run([CTASCOPE, "record", "-o", name, "--deterministic", "--", program, launches,
                        "2"], check=False, **quiet)
    subprocess.run([CTASCOPE, "record", "--timeline", "-o", "time", "--", ARCHIVE_PROGRAM,
                    TIMELINE_LIBRARY, "well", "20"], check=False, **quiet)
    record_cut_run(program, environment)


def record_cut_run(program, environment):
    """A run whose program and whose `record` got SIGKILL behind the fourth launch."""
    process = subprocess.Popen(
        [CTASCOPE, "record", "-o", "cut", "--deterministic", "--", program, "8", "2", "100000000"],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment,
        start_new_session=True)
    assert process.stdout.readline() == "done 0\n"
    with open(f"/proc/{process.pid}/task/{process.pid}/children", encoding="ascii") as file:
        children = [int(word) for word in file.read().split()]
    os.kill(process.pid, signal.SIGKILL)
    for child in children:
        os.kill(child, signal.SIGKILL)
    process.stdout.close()
    process.wait()


def files_of(run):
    return sorted(os.path.join(folder, name) for folder, _, names in os.walk(run) for name in names)


# ---- mutants of files ----

def read(path):
    with open(path, "rb") as file:
        return bytearray(file.read())


def write(path, data):
    with open(path, "wb") as file:
        file.write(data)


def rewritten(change):
    """A mutant that changes the bytes of one file, which must have some."""
    def mutate(chance, run, path):
        data = read(path)
        if not data:
            return None
        text = change(chance, data)
        write(path, data)
        return f"{path.removeprefix(run + '/')}: {text}"
    return mutate


def some_place(chance, data):
    """Half of the time near the beginning, where headers are."""
    return chance.randrange(min(len(data), 256) if chance.random() < 0.5 else len(data))


def flip(chance, data):
    place, bit = some_place(chance, data), chance.randrange(8)
    data[place] ^= 1 << bit
    return f"bit {bit} of byte {place} flipped"


def set_byte(chance, data):
    place, value = some_place(chance, data), chance.choice((0, 1, 0x7F, 0x80, 0xFF))
    data[place] = value
    return f"byte {place} set to {value}"


def fill(chance, data):
    place = some_place(chance, data)
    length = min(1 << chance.randrange(13), len(data) - place)
    value = chance.choice((0, 0, 0, 0xFF))
    data[place:place + length] = bytes([value]) * length
    return f"{length} bytes from {place} set to {value}"


def noise(chance, data):
    place = some_place(chance, data)
    length = min(1 << chance.randrange(10), len(data) - place)
    data[place:place + length] = chance.randbytes(length)
    return f"{length} bytes from {place} random"


def truncate(chance, data):
    length = chance.choice((0, 1, len(data) - 1, some_place(chance, data),
                            chance.randrange(len(data))))
    del data[length:]
    return f"cut to {length} bytes"


def extend(chance, data):
    length = 1 << chance.randrange(14)
    data += bytes(length) if chance.random() < 0.5 else chance.randbytes(length)
    return f"{length} bytes more"


def move_range(chance, data):
    length = min(1 << chance.randrange(13), len(data))
    source, target = (chance.randrange(len(data) - length + 1) for _ in range(2))
    data[target:target + length] = data[source:source + length]
    return f"{length} bytes from {source} copied to {target}"


def drop_range(chance, data):
    place = some_place(chance, data)
    length = 1 << chance.randrange(13)
    del data[place:place + length]
    return f"{length} bytes from {place} taken out"


def remove(chance, run, path):
    del chance
    os.remove(path)
    return f"{path.removeprefix(run + '/')} removed"


def remove_folder(chance, run, path):
    folder = os.path.dirname(path)
    if folder == run:
        return None
    del chance
    shutil.rmtree(folder)
    return f"{folder.removeprefix(run + '/')} removed"


def no_file(chance, run, path):
    os.remove(path)
    if chance.random() < 0.5:
        os.mkdir(path)
    else:
        os.symlink("/dev/null", path)
    return f"{path.removeprefix(run + '/')} is not a file"


def swap(chance, run, path):
    other = chance.choice(files_of(run))
    if read(other) == read(path):
        return None
    ours, theirs = read(path), read(other)
    write(path, theirs)
    write(other, ours)
    return f"{path.removeprefix(run + '/')} and {other.removeprefix(run + '/')} swapped"


def duplicate(chance, run, path):
    stem, dot, ending = os.path.basename(path).partition(".")
    name = f"{chance.randrange(1, 20)}{dot}{ending}" if stem.isdigit() else stem + ".1" + dot + ending
    target = os.path.join(os.path.dirname(path), name)
    if os.path.exists(target) and read(target) == read(path):
        return None
    shutil.copy(path, target)
    return f"{path.removeprefix(run + '/')} copied to {name}"


def foreign(chance, run, path):
    """The file of the same name of another run."""
    del chance
    other = os.path.join(os.environ["CTS_MUTANTS"], "twin", path.removeprefix(run + "/"))
    if not os.path.exists(other):
        return None
    shutil.copy(other, path)
    return f"{path.removeprefix(run + '/')} is that of another run"


# ---- mutants of rows ----

def with_catalogue(change):
    """A mutant made through SQLite; the file is whole, its contents are not."""
    def mutate(chance, run, path):
        database = sqlite3.connect(run + "/run.db")
        try:
            database.execute("PRAGMA journal_mode = DELETE")
            names = [name for (name,) in database.execute(
                "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' "
                "ORDER BY name")]
            filled = [name for name in names
                      if database.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0]]
            if not filled:
                return None
            text = change(chance, database, chance.choice(filled))
            database.commit()
            return text and "run.db: " + text
        except sqlite3.DatabaseError:
            return None  # a constraint of the table refuses this one
        finally:
            database.close()
    return mutate


def some_row(chance, database, table):
    rows = [row for (row,) in database.execute(f'SELECT rowid FROM "{table}" ORDER BY rowid')]
    return chance.choice(rows)


def some_column(chance, database, table):
    return chance.choice([row[1] for row in database.execute(f'PRAGMA table_info("{table}")')])


def row_twice(chance, database, table):
    """With the next number where there is a key; else as it is."""
    row = some_row(chance, database, table)
    columns = [(c[1], c[5]) for c in database.execute(f'PRAGMA table_info("{table}")')]
    values = ", ".join(f'(SELECT max("{name}") + 1 FROM "{table}")' if key == 1 and
                       table not in ("run", "files", "checksums") else
                       f'"{name}"' if key != 1 else f"\"{name}\" || 'x'" for name, key in columns)
    database.execute(f'INSERT INTO "{table}" SELECT {values} FROM "{table}" WHERE rowid = {row}')
    return f"row {row} of {table} twice"


def row_gone(chance, database, table):
    row = some_row(chance, database, table)
    database.execute(f'DELETE FROM "{table}" WHERE rowid = {row}')
    return f"row {row} of {table} deleted"


def table_empty(chance, database, table):
    del chance
    database.execute(f'DELETE FROM "{table}"')
    return f"{table} emptied"


def table_gone(chance, database, table):
    del chance
    database.execute(f'DROP TABLE "{table}"')
    return f"{table} dropped"


def cell_changed(chance, database, table):
    row, column = some_row(chance, database, table), some_column(chance, database, table)
    value = chance.choice((None, 0, 1, -1, 2**31, 2**32 - 1, 2**63 - 1, -2**63, 1e300, "", "x",
                           "x" * 5000, b"\0\xff"))
    before = database.execute(f'SELECT "{column}" FROM "{table}" WHERE rowid = {row}').fetchone()
    if before == (value,):
        return None
    database.execute(f'UPDATE "{table}" SET "{column}" = ? WHERE rowid = {row}', (value,))
    return f"{table}.{column} of row {row} set to {value!r:.40}"


def cell_of_other_row(chance, database, table):
    row, other = some_row(chance, database, table), some_row(chance, database, table)
    column = some_column(chance, database, table)
    database.execute(f'UPDATE "{table}" SET "{column}" = (SELECT "{column}" FROM "{table}" WHERE '
                     f'rowid = {other}) WHERE rowid = {row}')
    return f"{table}.{column} of row {row} set to that of row {other}"


CATEGORIES = {
    "bit flipped": (10, rewritten(flip)),
    "byte set": (6, rewritten(set_byte)),
    "range zeroed or filled": (6, rewritten(fill)),
    "range random": (4, rewritten(noise)),
    "cut": (8, rewritten(truncate)),
    "longer": (3, rewritten(extend)),
    "range copied inside": (4, rewritten(move_range)),
    "range taken out": (4, rewritten(drop_range)),
    "file missing": (3, remove),
    "folder missing": (1, remove_folder),
    "no regular file": (1, no_file),
    "files swapped": (3, swap),
    "file duplicated": (2, duplicate),
    "file of another run": (2, foreign),
    "row twice": (4, with_catalogue(row_twice)),
    "row deleted": (4, with_catalogue(row_gone)),
    "table emptied": (1, with_catalogue(table_empty)),
    "table dropped": (1, with_catalogue(table_gone)),
    "cell changed": (8, with_catalogue(cell_changed)),
    "cell of another row": (3, with_catalogue(cell_of_other_row)),
}


def mutate(number, whole, target):
    """Makes mutant `number` in `target`/run; (run, category, what). Draws again what changes
    nothing."""
    chance = random.Random(number)
    names = list(CATEGORIES)
    weights = [CATEGORIES[name][0] for name in names]
    category = chance.choices(names, weights)[0]
    kind = None
    for _ in range(200):
        shutil.rmtree(target + "/run", ignore_errors=True)
        kind = chance.choices(("memory", "time", "cut"), (4, 3, 1))[0]
        shutil.copytree(os.path.join(whole, kind), target + "/run")
        before = {path: bytes(read(path)) for path in files_of(target + "/run")}
        path = chance.choice(files_of(target + "/run"))
        what = CATEGORIES[category][1](chance, target + "/run", path)
        if what and any(os.path.islink(p) or not os.path.isfile(p) or read(p) != data
                        for p, data in before.items()):
            break
        if what and files_of(target + "/run") != sorted(before):
            break
    return kind, category, what


# ---- asking ----

def ask(folder, verbs):
    """{verb: (status, output, errors)}; one shell for all, which limits the CPU time of each."""
    lines = [f"ulimit -c 0; ulimit -t {CPU_LIMIT_S}"]
    for verb in verbs:
        lines.append(f'"$CTASCOPE" {VERBS[verb]} >{verb}.out 2>{verb}.err </dev/null; echo $?')
    if os.path.exists(folder + "/page.html"):
        os.remove(folder + "/page.html")
    done = subprocess.run(["/bin/sh", "-c", "\n".join(lines)], cwd=folder, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False,
                          env=dict(support.environment(), CTASCOPE=CTASCOPE))
    answers = {}
    sizes = re.compile(rb'"(disk|access)_bytes": [0-9]+')  # of all that lies there, ours or not
    for verb, status in zip(verbs, done.stdout.split(), strict=True):
        out = bytes(read(f"{folder}/{verb}.out"))
        out = sizes.sub(b'"bytes": 0', out) if verb == "info" else out
        if verb == "report" and os.path.exists(folder + "/page.html"):
            out += bytes(read(folder + "/page.html"))
        answers[verb] = int(status), out, read(f"{folder}/{verb}.err").decode(errors="replace")
    return answers


def names_loss(verb, out, err):
    """Whether an answer says that it is one of a part."""
    if any(words in err for words in ("lower bound", "is missing", "cannot read 'run")):
        return True
    if verb == "report":  # captions of figures and the page's code have the words as well
        return b'"lower_bound": true' in out
    if verb in ("records", "rows"):
        return b"LOWER BOUND" in out or b"lower bound" in out
    try:
        answer = json.loads(out)
    except ValueError:
        return False
    soundness = answer.get("soundness", answer)
    if verb == "info":
        return answer["totals"]["complete"] is False
    return bool(soundness.get("missing")) or soundness.get("lower_bound") is True


def judge(verb, answer, whole):
    """Why an answer is wrong, or None."""
    status, out, err = answer
    if status not in (0, 1):
        return f"status {status}"
    if (status, out) == whole[:2]:
        return None  # a, and with the error of the whole run where it has one
    if status == 1:
        lines = err.strip().splitlines()
        if len(lines) != 1 and not (len(lines) > 1 and names_loss(verb, out, err)):
            return f"{len(lines)} lines of error"
        if "'run" not in err:
            return "an error that does not name the run"
        return None
    if not names_loss(verb, out, err):
        return "another answer, and nothing is said to be missing"
    return None


class Trial:
    """The whole runs' answers, and mutants tried against them."""

    def __init__(self, folder):
        self.folder = folder
        self.whole = {}
        for run in ("memory", "time", "cut"):
            place = tempfile.mkdtemp(dir=folder)
            shutil.copytree(os.path.join(folder, run), place + "/run")
            self.whole[run] = ask(place, list(VERBS))
            again = ask(place, list(VERBS))
            for verb, answer in self.whole[run].items():
                assert answer[:2] == again[verb][:2], (run, verb, "does not answer the same twice")
                assert answer[0] in (0, 1), (run, verb, answer)
                if run != "cut" and answer[0] == 0:
                    assert not names_loss(verb, *answer[1:]), (run, verb, answer[2])

    def try_one(self, number, all_verbs):
        place = tempfile.mkdtemp(dir=self.folder)
        try:
            run, category, what = mutate(number, self.folder, place)
            chance = random.Random(-1 - number)
            verbs = list(VERBS) if all_verbs else chance.sample(list(VERBS), QUICK_VERBS)
            answers = ask(place, verbs)
            wrong = [(verb, judge(verb, answers[verb], self.whole[run][verb])) for verb in verbs]
            wrong = [(verb, reason, answers[verb]) for verb, reason in wrong if reason]
            return number, run, category, what, wrong, answers
        finally:
            shutil.rmtree(place, ignore_errors=True)


def main():
    count = int(sys.argv[5]) if len(sys.argv) > 5 else test_count(120, 10000)
    first = int(sys.argv[6]) if len(sys.argv) > 6 else 0
    folder = tempfile.mkdtemp(prefix="ctascope-mutants-")
    os.environ["CTS_MUTANTS"] = folder
    os.chdir(folder)
    tried, passed, failures = {}, {}, 0
    try:
        record_runs()
        trial = Trial(folder)
        with ThreadPoolExecutor(2) as pool:
            numbers = range(first, first + count)
            for number, run, category, what, wrong, answers in pool.map(
                    lambda n: trial.try_one(n, count == 1 or count > 1000), numbers):
                tried[category] = tried.get(category, 0) + 1
                passed[category] = passed.get(category, 0) + (not wrong)
                failures += bool(wrong)
                for verb, reason, answer in wrong:
                    print(f"mutant {number} ({run}; {what}): {verb}: {reason}; status {answer[0]}: "
                          f"{answer[2][:300]!r}", flush=True)
                if count == 1:
                    print(f"mutant {number}: {run}, {category}: {what}")
                    for verb, answer in answers.items():
                        print(f"== {verb}: {answer[0]}\n{answer[1][:1500].decode()}\n{answer[2]}")
    finally:
        os.chdir("/")
        shutil.rmtree(folder, ignore_errors=True)
    print(f"{'mutant':26}{'tried':>8}{'passed':>8}")
    for category in CATEGORIES:
        if category in tried:
            print(f"{category:26}{tried[category]:8}{passed[category]:8}")
    print(f"{'all':26}{sum(tried.values()):8}{sum(passed.values()):8}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
