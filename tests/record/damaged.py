#!/usr/bin/env python3
"""Runs that somebody spoilt: every verb gives one line that names file, place and reason, and never
crashes."""
import glob
import json
import os
import pty
import random
import shutil
import sqlite3
import sys

import support

VERBS = (("info",), ("dump", "--accesses"), ("dump",), ("comm",), ("comm", "--format", "json"),
         ("report", "-o", "page.html"))
READS_ACCESSES = [verb for verb in VERBS if verb[0] in ("comm", "report") or "--accesses" in verb]


class Damaged(support.RecordTest):
    @classmethod
    def setUpClass(cls):
        cls.program = support.compiled("launches.cu", "-O2")

    def setUp(self):
        super().setUp()
        self.record("good", self.program, "6", "3", options=("--deterministic",), status=3)

    def copy(self):
        """A fresh copy of the good run; its access file."""
        shutil.rmtree("run", ignore_errors=True)
        shutil.copytree("good", "run")
        (path,) = glob.glob("run/rank-0/*.acc")
        return path

    def verb(self, verb, run="run", status=None):
        """Runs a verb; whatever it says, it is no crash, and no more than a line. A table of
        records may have begun before the damage is met, a page may not."""
        done = self.ctascope(verb[0], run, *verb[1:], status=status, timeout=1200)
        self.assertIn(done.returncode, (0, 1), (verb, done.stderr))
        if done.returncode == 1:
            self.one_line(done.stderr, "{" if "json" in verb else f"ctascope {verb[0]}: ")
            if "json" in verb:
                self.assertEqual(json.loads(done.stderr)["verb"], verb[0])
        if verb[0] == "report":
            self.assertEqual(os.path.exists("page.html"), done.returncode == 0)
            if done.returncode == 0:
                os.remove("page.html")
        return done

    def all_fail(self, *parts, verbs=VERBS, run="run"):
        for verb in verbs:
            with self.subTest(verb=verb):
                done = self.verb(verb, run, status=1)
                for part in parts:
                    self.assertIn(part, done.stderr)

    def patch(self, path, offset, data):
        with open(path, "r+b") as file:
            file.seek(offset)
            file.write(data)

    # ---- directories ----

    def test_good(self):
        for verb in VERBS:
            self.verb(verb, "good", status=0)

    def test_no_such_run(self):
        self.all_fail("'nothing'", "No such file or directory", run="nothing")

    def test_empty_directory(self):
        os.mkdir("empty")
        self.all_fail("'empty' is an empty directory, not a run", run="empty")

    def test_directory_of_something_else(self):
        os.mkdir("other")
        with open("other/notes", "w", encoding="utf-8") as file:
            file.write("x")
        self.all_fail("'other'", run="other")

    def test_a_file(self):
        with open("file", "w", encoding="utf-8") as file:
            file.write("x")
        self.all_fail("'file'", run="file")

    def test_without_its_access_files(self):
        self.copy()
        shutil.rmtree("run/rank-0")
        for verb in VERBS:
            self.verb(verb)

    # ---- the catalogue ----

    def test_nobody_has_recorded(self):
        """A run that `record` made, whose program never came to record."""
        self.copy()
        shutil.rmtree("run/rank-0")
        database = sqlite3.connect("run/run.db")
        tables = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        for (table,) in tables:
            if table != "run":
                database.execute(f"DELETE FROM {table}")
        database.commit()
        database.close()
        self.assertIs(self.info("run")["totals"]["complete"], False)
        self.assertIn("NO: no process has recorded", self.ctascope("info", "run").stdout)
        for verb in VERBS:
            self.verb(verb, status=0)

    def test_catalogue_garbage(self):
        self.copy()
        with open("run/run.db", "wb") as file:
            file.write(random.Random(1).randbytes(50000))
        self.all_fail("'run/run.db'")

    def test_catalogue_empty(self):
        self.copy()
        os.truncate("run/run.db", 0)
        self.all_fail("'run/run.db'", "empty")

    def test_catalogue_truncated(self):
        size = os.path.getsize("good/run.db")
        for length in (50, 100, 3000, 4096, size // 2, size - 4096, size - 1):
            self.copy()
            os.truncate("run/run.db", length)
            for verb in VERBS:
                with self.subTest(length=length, verb=verb):
                    done = self.verb(verb)
                    if done.returncode:
                        self.assertIn("'run/run.db'", done.stderr)
            if length <= size // 2:  # the last page may hold nothing that is read
                self.assertEqual(self.verb(("dump",)).returncode, 1)

    def test_catalogue_flipped(self):
        size = os.path.getsize("good/run.db")
        places = random.Random(2)
        for _ in range(25):
            self.copy()
            for _ in range(4):
                self.patch("run/run.db", places.randrange(size), places.randbytes(1))
            for verb in (("info",), ("dump",), ("comm",)):
                self.verb(verb)

    def test_catalogue_with_a_rollback_journal(self):
        """A process was killed while it wrote in this old way: the next reader rolls back."""
        before = self.ctascope("dump", "good").stdout
        self.copy()
        script = (f"import os, sqlite3; d = sqlite3.connect('run/run.db'); "
                  f"d.execute('PRAGMA cache_size=1'); d.execute('DELETE FROM sites'); "
                  f"d.execute('UPDATE sources SET text = zeroblob(500000)'); os._exit(0)")
        self.run_(sys.executable, "-c", script)
        self.assertTrue(os.path.exists("run/run.db-journal"))
        shutil.copytree("run", "again")
        self.assertEqual(self.ctascope("dump", "run").stdout, before)
        self.record("again", self.program, "1", "1", options=("--force",), status=3)

    def test_newer_catalogue(self):
        self.copy()
        database = sqlite3.connect("run/run.db")
        database.execute("UPDATE run SET value = 2 WHERE key = 'format_version'")
        database.commit()
        database.close()
        self.all_fail("run/run.db", "version 2")

    def test_catalogue_of_another_program(self):
        self.copy()
        os.remove("run/run.db")
        database = sqlite3.connect("run/run.db")
        database.execute("CREATE TABLE songs (name TEXT)")
        database.commit()
        database.close()
        self.all_fail("run/run.db")

    def test_names_are_text(self):
        """Escape sequences and overrides of direction in names reach nobody's terminal; programs
        that read CSV or JSON get them as they are."""
        self.copy()
        evil = "k\x1b]0;title\x07\x1b[31m\u202egnp\u2066\x9b2J\x7f\r"
        database = sqlite3.connect("run/run.db")
        for table, column in (("kernels", "name"), ("sites", "variable"), ("sites", "function"),
                              ("sources", "path"), ("allocations", "variable"),
                              ("allocations", "path"), ("ranks", "program"), ("run", "value")):
            where = "WHERE key = 'command'" if table == "run" else ""
            database.execute(f"UPDATE {table} SET {column} = ? {where}", (evil,))
        database.commit()
        database.close()
        for verb in (("info",), ("dump",), ("comm",), ("comm", "--per", "kernel"),
                     ("comm", "--per", "site"), ("access",), ("access", "--per", "allocation"),
                     ("partition",), ("partition", "--per", "kernel"), ("diff", "good"),
                     ("comm", "--format", "json")):
            with self.subTest(verb=verb):
                done = self.ctascope(verb[0], "run", *verb[1:])
                for text in (done.stdout, done.stderr):
                    for character in evil.replace("k", "").replace("gnp", ""):
                        if character not in "]0;title[31m2J":
                            self.assertNotIn(character, text)
        csv_command = ("comm", "run", "--per", "kernel", "--format", "csv")
        names = self.ctascope(*csv_command).stdout
        self.assertIn("\x1b]0;title\x07", names)
        ours, terminal = pty.openpty()
        self.ctascope(*csv_command, stdout=terminal)
        os.close(terminal)
        shown = b""
        try:
            while part := os.read(ours, 65536):
                shown += part
        except OSError:  # how a terminal that nobody has open ends
            pass
        os.close(ours)
        self.assertIn(b"]0;title", shown)
        self.assertNotIn(b"\x1b", shown)

    # ---- output ----

    def test_output_goes_where_it_was_told(self):
        """A regular file is replaced with its mode, through a link; a pipe is written."""
        with open("old.html", "w", encoding="utf-8") as file:
            file.write("old")
        os.chmod("old.html", 0o640)
        os.symlink("old.html", "link.html")
        self.ctascope("report", "good", "-o", "link.html", status=0)
        self.assertTrue(os.path.islink("link.html"))
        self.assertEqual(os.stat("old.html").st_mode & 0o777, 0o640)
        page = os.path.getsize("old.html")
        self.assertGreater(page, 1000)
        done = self.ctascope("report", "good", "-o", "/dev/full", status=1)
        self.assertIn("cannot write '/dev/full': No space left on device", done.stderr)
        self.assertTrue(os.path.exists("/dev/full") and not os.path.isfile("/dev/full"))
        done = self.ctascope("report", "good", "-o", "/dev/stdout", status=0)
        self.assertEqual(len(done.stdout.encode()), page)

    # ---- the access files ----

    def test_newer_access_file(self):
        path = self.copy()
        with open(path, "rb") as file:
            header = file.read(16)
        self.patch(path, 8, bytes([header[8] + 1]))
        self.all_fail(path, "version", verbs=READS_ACCESSES)

    def test_access_file_garbage(self):
        path = self.copy()
        with open(path, "wb") as file:
            file.write(b"no access file" * 100)
        self.all_fail(path, "not an access file", verbs=READS_ACCESSES)

    def test_access_file_cut(self):
        """What lies before the cut is read, as of a program that was killed."""
        whole = self.records_by_launch("good")
        size = os.path.getsize(self.copy())
        cuts = random.Random(3)
        for length in [0, 3, 31, 32, 40, size - 1, size - 30] + [cuts.randrange(size)
                                                                for _ in range(8)]:
            path = self.copy()
            os.truncate(path, length)
            with self.subTest(length=length):
                done = self.verb(("dump", "--accesses"))
                self.assertIn("rank-0/0.acc' had ", done.stderr)
                if length <= 40 or length >= size // 2:
                    self.assertEqual(done.returncode, length <= 40, length)
                if done.returncode:  # not one whole chunk
                    self.assertIn("nothing is left", done.stderr)
                    self.all_fail("nothing is left", verbs=READS_ACCESSES)
                    continue
                for launch, records in self.records_by_launch("run").items():
                    self.assertLessEqual(set(records), set(whole[launch]))
                comm = self.comm("run")["soundness"]
                self.assertEqual((comm["lower_bound"], comm["incomplete_files"]), (True, 1))
                self.assertIn("rank-0/0.acc", comm["missing"][0])
                self.verb(("report", "-o", "page.html"), status=0)

    def test_access_file_flipped(self):
        """Every byte is under a checksum or checked otherwise: no flip goes unseen."""
        size = os.path.getsize(self.copy())
        places = random.Random(4)
        unseen = []
        for offset in list(range(0, 40, 3)) + [places.randrange(size) for _ in range(25)]:
            path = self.copy()
            with open(path, "rb") as file:
                file.seek(offset)
                byte = file.read(1)[0]
            self.patch(path, offset, bytes([byte ^ 1 << places.randrange(8)]))
            with self.subTest(offset=offset):
                dump = self.verb(("dump", "--accesses"))
                if not dump.stderr:
                    unseen.append(offset)
                self.assertIn(path, dump.stderr)
                done = self.verb(("comm",))  # without the chunk that cannot be read
                self.assertIn(path, done.stderr)
                self.assertIs(self.info("run")["totals"]["complete"], False)
                self.assertEqual(done.returncode, offset < 32, offset)  # without the header nothing
                self.assertIn(*("nothing is left", done.stderr) if done.returncode else
                              ("LOWER BOUND", done.stdout))
        self.assertEqual(unseen, [])

    def test_large_files_are_decoded_if_asked_to(self):
        """Of more than 64 MiB `info` looks at sizes and counts, and says so."""
        path = self.copy()
        for size, options, decoded in ((os.path.getsize(path), (), True), (65 << 20, (), False),
                                       (65 << 20, ("--check",), True)):
            os.truncate(path, size)  # of which the disk holds as little as before
            done = self.ctascope("info", "run", "--format", "json", *options)
            self.assertIs(json.loads(done.stdout)["totals"]["decoded"], decoded, (size, options))

    def test_access_file_of_another_run(self):
        """Launches and sites that the catalogue does not have."""
        path = self.copy()
        self.record("longer", self.program, "9", "3", options=("--deterministic",), status=3)
        shutil.copy("longer/rank-0/0.acc", path)
        done = self.verb(("comm",), status=0)
        self.assertIn("has records of launch 6, which the catalogue does not contain", done.stderr)
        self.assertIn("rank-0/0.acc' had ", done.stderr)
        self.assertIn("LOWER BOUND", done.stdout)
        self.verb(("report", "-o", "page.html"), status=0)
        self.verb(("dump", "--accesses"))

    def test_access_file_beside(self):
        """One that the recording did not write does not add to its numbers."""
        path = self.copy()
        whole = self.comm("good")["totals"]
        shutil.copy(path, "run/rank-0/7.acc")
        comm = self.comm("run")
        self.assertEqual(comm["totals"], whole)
        self.assertIn("'rank-0/7.acc' did not exist when the recording ended",
                      comm["soundness"]["missing"][0])

    def test_catalogue_changed(self):
        """Whoever takes rows out of a table, or changes one, is found out."""
        for change in ("DELETE FROM launches WHERE launch = 5", "DELETE FROM copies",
                       "UPDATE launches SET block_x = 1 WHERE launch = 2",
                       "UPDATE sites SET width_bytes = 2", "DELETE FROM files",
                       "DELETE FROM checksums", "DELETE FROM checksums WHERE name = 'files'",
                       "DELETE FROM run WHERE key = 'sealed'"):
            self.copy()
            database = sqlite3.connect("run/run.db")
            database.execute(change)
            database.commit()
            database.close()
            with self.subTest(change=change):
                self.assertIs(self.info("run")["totals"]["complete"], False)
                self.assertIn("run.db", self.verb(("info",)).stdout)
                self.assertIs(self.comm("run")["soundness"]["lower_bound"], True)

    def test_missing_is_named_by_every_verb(self):
        """A run of two processes without an access file of one: each verb that reads it says so."""
        twice = f"'{self.program}' 6 3; exec '{self.program}' 6 3"
        self.record("two", "sh", "-c", twice, status=3, options=("--threads", "1"))
        name = "rank-1/0.acc"
        os.remove("two/" + name)
        for verb in (("info",), ("dump", "--accesses"), ("comm",), ("comm", "--format", "csv",
                     "--per", "launch"), ("partition",), ("access",), ("access", "--format", "csv"),
                     ("report", "-o", "page.html"), ("export", "-o", "trc", "--rank", "0"), ("diff", "two", "good"),
                     ("comm", "--address", "0"), ("flow",), ("flow", "--format", "csv")):
            arguments = verb[1:] if verb[0] == "diff" else ("two",) + verb[1:]
            with self.subTest(verb=verb):
                done = self.ctascope(verb[0], *arguments, status=0)
                self.assertIn(f"'{name}' is missing", done.stdout + done.stderr)
        for verb in ("comm", "access", "flow", "partition", "info"):
            answer = json.loads(self.ctascope(verb, "two", "--format", "json").stdout)
            soundness = answer.get("soundness", answer)
            self.assertTrue(any(f"'{name}' is missing" in text for text in soundness["missing"]), verb)
            if verb == "info":
                self.assertIs(answer["totals"]["complete"], False)
            else:
                self.assertIs(soundness["lower_bound"], True, verb)

    def test_access_file_that_is_no_file(self):
        path = self.copy()
        os.remove(path)
        os.mkdir(path)
        self.all_fail(path, verbs=READS_ACCESSES)
        os.rmdir(path)
        os.mkfifo(path)
        self.all_fail(path, "not a regular file", verbs=READS_ACCESSES)


if __name__ == "__main__":
    support.main()
