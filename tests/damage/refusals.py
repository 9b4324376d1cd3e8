#!/usr/bin/env python3
"""What is refused, or said to be missing, in each format: runs whose accesses cannot be read, pipes in
place of files, logs left over, files of a recording as outputs.

    refusals.py CTASCOPE PROGRAM_DIRECTORY
"""
import json
import os
import resource
import shutil
import signal
import sqlite3
import struct
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(1, os.path.join(HERE, "..", "record"))
import support  # noqa: E402

CTASCOPE = support.ctascope_path
DAMAGES = {
    "drop table devices": "'devices'",
    "drop table sites": "'sites'",
    "delete from ranks": "'ranks'",
    "delete from launches": "'launches'",
    "update launches set kernel = 99 where launch = 0": "99",
}


class Refusals(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.mkdtemp(prefix="ctascope-refusals-")
        os.chdir(cls.directory)
        cls.program = support.compiled("launches.cu", "-O2")
        cls.record("--timeline", "--memory", "-o", "whole")

    @classmethod
    def tearDownClass(cls):
        os.chdir("/")
        shutil.rmtree(cls.directory)

    @staticmethod
    def call(*arguments, status=0):
        done = subprocess.run([CTASCOPE, *arguments], stdout=subprocess.PIPE, text=True,
                              stderr=subprocess.PIPE, check=False, env=support.environment(),
                              timeout=300)
        assert done.returncode == status, (arguments, done.returncode, done.stderr)
        return done

    @classmethod
    def record(cls, *arguments):
        cls.call("record", *arguments, "--", cls.program, "2", "4", status=3)  # the program's own

    def copy(self, name, statement=None):
        shutil.copytree("whole", name)
        self.addCleanup(shutil.rmtree, name)
        if statement:
            database = sqlite3.connect(name + "/run.db")
            database.execute(statement)
            database.commit()
            database.close()
        return name

    @staticmethod
    def files(folder):
        data = {}
        for place, _, names in os.walk(folder):
            for name in names:
                with open(os.path.join(place, name), "rb") as file:
                    data[os.path.join(place, name)] = file.read()
        return data

    def test_diff_does_not_take_unreadable_accesses_for_none(self):
        for statement, reason in DAMAGES.items():
            with self.subTest(statement=statement):
                run = self.copy("damaged", statement)
                for pair in (("whole", run), (run, "whole")):
                    done = self.call("diff", *pair, status=1)
                    self.assertEqual(done.stdout, "")
                    self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
                    self.assertIn(f"'{run}", done.stderr)
                    self.assertIn(reason, done.stderr)
                self.doCleanups()

    def test_diff_of_time_where_there_are_no_accesses(self):
        self.record("--timeline", "-o", "time")
        self.addCleanup(shutil.rmtree, "time")
        self.assertIn("The run takes", self.call("diff", "time", "whole").stdout)
        os.remove("time/run.db")
        self.assertIn("The run takes", self.call("diff", "whole", "time").stdout)
        # the accesses of this one are there, and nothing says what they are of
        run = self.copy("bare")
        os.remove(run + "/run.db")
        self.assertIn("no run.db", self.call("diff", "whole", run, status=1).stderr)

    def test_path_says_in_each_format_that_the_catalogue_cannot_be_read(self):
        run = self.copy("damaged", "drop table ranks")
        answer = json.loads(self.call("path", run, "--format", "json").stdout)
        self.assertTrue(answer["lower_bound"])
        self.assertIn("no table 'ranks'", " ".join(answer["missing"]))
        self.assertIn("no table 'ranks'", self.call("path", run).stdout)
        self.assertIn("no table 'ranks'", self.call("path", run, "--format", "csv").stderr)
        whole = json.loads(self.call("path", "whole", "--format", "json").stdout)
        self.assertEqual((whole["lower_bound"], whole["missing"]), (False, []))

    def test_info_refuses_in_one_line(self):
        for statement in ("drop table run", "drop table ranks"):
            done = self.call("info", self.copy("damaged", statement), status=1)
            self.assertEqual((done.stdout, len(done.stderr.splitlines())), ("", 1), done.stderr)
            self.assertIn("cannot read 'damaged/run.db'", done.stderr)
            self.doCleanups()

    def test_dropped_accesses_are_not_complete(self):
        for limit in ("1", "600"):
            self.record("--max-size", limit, "-o", "small")
            self.addCleanup(shutil.rmtree, "small")
            totals = json.loads(self.call("info", "small", "--format", "json").stdout)["totals"]
            self.assertGreater(totals["dropped_accesses"], 0)
            self.assertIs(totals["complete"], False)
            self.assertRegex(self.call("info", "small").stdout, "complete +NO: the recorder dropped")
            self.doCleanups()
        totals = json.loads(self.call("info", "whole", "--format", "json").stdout)["totals"]
        self.assertIs(totals["complete"], True)

    def test_pipes_are_not_waited_for(self):
        for name in ("traces.def", "traces/0.evt", "traces/0.def"):
            run = self.copy("piped")
            os.remove(f"{run}/timeline/{name}")
            os.mkfifo(f"{run}/timeline/{name}")
            for arguments in (("path",), ("info",), ("whatif", "--targets"), ("dump", "--timeline"),
                              ("report", "-o", "page.html")):
                with self.subTest(name=name, arguments=arguments):
                    done = subprocess.run([CTASCOPE, arguments[0], run, *arguments[1:]],
                                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                          text=True, check=False, timeout=300)
                    self.assertIn("regular file", done.stdout)
            self.doCleanups()
        run = self.copy("piped")
        shutil.rmtree(run + "/timeline")
        os.makedirs(run + "/rank-0/timeline")
        os.mkfifo(run + "/rank-0/timeline/definitions.log")
        self.assertIn("regular file", self.call("path", run, status=1).stderr)

    def test_files_of_the_kernel_are_not_read(self):
        """They look regular, and reading one may wait for ever, or take from others."""
        run = self.copy("linked")
        for name in ("traces.def", "traces/0.evt", "traces/0.def"):
            os.remove(f"{run}/timeline/{name}")
            os.symlink("/proc/self/status", f"{run}/timeline/{name}")
            done = subprocess.run([CTASCOPE, "path", run], stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, check=False, timeout=300)
            self.assertIn("regular file", done.stdout)
            shutil.copy(f"whole/timeline/{name}", f"{run}/timeline/copy")
            os.replace(f"{run}/timeline/copy", f"{run}/timeline/{name}")

    def test_a_file_named_as_a_rank_is_no_rank(self):
        whole = self.call("comm", "whole", "--format", "json").stdout
        run = self.copy("beside")
        with open(run + "/rank-9", "w", encoding="utf-8") as file:
            file.write("mine\n")
        os.mkfifo(run + "/rank-10")
        self.assertEqual(json.loads(self.call("comm", run, "--format", "json").stdout)["totals"],
                         json.loads(whole)["totals"])
        self.call("info", run)

    def test_a_timeline_that_cannot_be_made_is_missing_to_info(self):
        run = self.copy("logs")
        shutil.rmtree(run + "/timeline")
        with sqlite3.connect(run + "/run.db") as database:
            database.execute("delete from files")
            database.execute("delete from checksums")
        os.makedirs(run + "/rank-0/timeline")
        with open(run + "/rank-0/timeline/definitions.log", "w", encoding="utf-8") as file:
            file.write("no log at all, but long enough to be taken for one\n" * 9)
        done = self.call("info", run, "--format", "json")
        said = json.loads(done.stdout)
        self.assertEqual(len([line for line in said["missing"] if "timeline" in line]), 1, said)
        self.assertFalse(said["totals"]["complete"])

    def test_a_catalogue_is_read_where_nothing_can_be_written(self):
        whole = json.loads(self.call("info", "whole", "--format", "json").stdout)["totals"]
        run = self.copy("full", "pragma journal_mode = wal")
        os.symlink("/nonexistent/file", run + "/run.db-shm")  # what readers share cannot be made, as on a full disk
        totals = json.loads(self.call("info", run, "--format", "json").stdout)["totals"]
        for key in ("complete", "launches", "accesses", "records"):
            self.assertEqual(totals[key], whole[key], key)

    def test_a_pipe_in_place_of_a_journal_is_not_waited_for(self):
        run = self.copy("piped")
        os.mkfifo(run + "/run.db-journal")
        for verb in ("info", "comm", "access", "path"):
            done = subprocess.run([CTASCOPE, verb, run], text=True, check=False, timeout=300,
                                  env=support.environment(), capture_output=True)
            self.assertIn("run.db-journal' is not a regular file", done.stdout + done.stderr, verb)

    def killed(self, name):
        """A run of time whose program and recorder were killed: its archive is still to be made."""
        process = subprocess.Popen(
            [CTASCOPE, "record", "--timeline", "-o", name, "--", self.program, "8", "2", "100000000"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            env=support.environment())
        self.addCleanup(shutil.rmtree, name)
        self.assertEqual(process.stdout.readline(), "done 0\n")
        with open(f"/proc/{process.pid}/task/{process.pid}/children", encoding="ascii") as file:
            children = [int(word) for word in file.read().split()]
        process.kill()
        for child in children:
            os.kill(child, signal.SIGKILL)
        process.stdout.close()
        process.wait()
        self.assertTrue(os.path.exists(name + "/rank-0/timeline"))
        return name

    def test_a_journal_deletes_no_other_file(self):
        """SQLite would roll back a journal that names a super-journal, and delete the file of that name."""
        run = self.killed("crafted")
        with open("victim", "w", encoding="utf-8") as file:
            file.write("three years of work")
        self.addCleanup(os.remove, "victim")
        name, magic = os.path.abspath("victim").encode(), bytes.fromhex("d9d505f920a163d7")
        with open(run + "/run.db", "rb") as file:
            data = file.read()
        size = struct.unpack(">H", data[16:18])[0]
        page = data[size:2 * size]
        total = (1 + sum(page[i] for i in range(size - 200, 0, -200))) % 2**32
        with open(run + "/run.db-journal", "wb") as file:
            file.write((magic + struct.pack(">5I", 1, 1, len(data) // size, 512, size)).ljust(512, b"\0"))
            file.write(struct.pack(">I", 2) + page + struct.pack(">I", total))
            file.write(struct.pack(">I", 2**30 // size + 1) + name)
            file.write(struct.pack(">II", len(name), sum(name)) + magic)
        for verb in ("path", "info"):
            done = subprocess.run([CTASCOPE, verb, run], text=True, check=False, timeout=300,
                                  env=support.environment(), capture_output=True)
            self.assertTrue(os.path.exists("victim"), done.stderr)
            self.assertIn("crafted", done.stderr)

    def test_links_do_not_lead_out_of_a_run(self):
        """Making the archive of a killed run writes and removes nothing behind a link."""
        run = self.killed("linked")
        other = self.copy("other")
        kept = self.files(other)
        os.symlink("../other/timeline", run + "/timeline.new")
        self.call("path", run)
        self.assertEqual(self.files(other), kept)
        run, logs = self.killed("linked2"), self.killed("logs")
        shutil.rmtree(run + "/rank-0")
        os.symlink("../logs/rank-0", run + "/rank-0")
        kept = self.files(logs)
        subprocess.run([CTASCOPE, "info", run], check=False, capture_output=True, timeout=300)
        self.assertEqual(self.files(logs), kept)

    def test_rows_in_the_log_are_read_where_nothing_can_be_written(self):
        run = self.copy("rows")
        database = sqlite3.connect(run + "/run.db", isolation_level=None)
        database.execute("pragma journal_mode = wal")
        database.execute("pragma wal_autocheckpoint = 0")
        database.execute("update run set value = 'a name in the log' where key = 'host'")
        names = [run + "/run.db", run + "/run.db-wal"]
        kept = {name: self.files(run)[name] for name in names}
        database.close()  # which writes the log's rows into run.db and removes it
        for name in names:
            with open(name, "wb") as file:
                file.write(kept[name])
        os.symlink("/nonexistent/file", run + "/run.db-shm")
        for verb in ("info", "comm", "path"):
            self.call(verb, run)
        self.assertIn("a name in the log", self.call("info", run).stdout)
        os.remove(run + "/run.db-shm")
        self.assertEqual({name: self.files(run)[name] for name in names}, kept)
        os.symlink("/nonexistent/file", run + "/run.db-shm")
        reader = lambda: os.setuid(65534) if os.getuid() == 0 else os.chmod(run + "/run.db", 0o444)
        os.chmod(self.directory, 0o711)
        done = subprocess.run([CTASCOPE, "info", run], text=True, env=support.environment(), check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=reader)
        self.assertEqual((done.returncode, done.stdout), (1, ""))  # never without the log's rows
        self.assertRegex(done.stderr, r"\Actascope info: cannot read 'rows/run.db': [^\n]*\n\Z")

    def test_left_over_log_is_a_gap(self):
        run = self.copy("late")
        os.makedirs(run + "/rank-0/timeline", exist_ok=True)
        with open(run + "/rank-0/timeline/definitions.log", "w", encoding="utf-8") as file:
            file.write("not much")
        answer = json.loads(self.call("path", run, "--format", "json").stdout)
        whole = json.loads(self.call("path", "whole", "--format", "json").stdout)
        self.assertTrue(answer["lower_bound"])
        self.assertIn("logs of 1 process", " ".join(answer["missing"]))
        self.assertEqual(answer["path_ns"], whole["path_ns"])
        self.assertRegex(self.call("info", run).stdout, "MISSING +the timeline was made without")
        self.assertTrue(os.path.exists(run + "/rank-0/timeline/definitions.log"))

    def test_a_timeline_of_another_run_is_not_taken_for_its_own(self):
        self.record("--memory", "-o", "accesses")
        self.addCleanup(shutil.rmtree, "accesses")
        before = json.loads(self.call("comm", "accesses", "--format", "json").stdout)
        self.assertTrue(json.loads(self.call("info", "accesses", "--format", "json").stdout)["totals"]["complete"])
        shutil.copytree("whole/timeline", "accesses/timeline")
        reason = "the files of a timeline did not exist when the recording ended"
        for verb in ("path", "whatif"):
            more = ("--targets",) if verb == "whatif" else ()
            self.assertIn(reason, self.call(verb, "accesses", *more, status=1).stderr)
        done = self.call("info", "accesses").stdout
        self.assertRegex(done, "complete +NO")
        self.assertNotIn("Timeline", done)
        self.assertIn(reason, " ".join(done.split()))
        self.assertFalse(json.loads(self.call("info", "accesses", "--format", "json").stdout)["totals"]["complete"])
        self.assertEqual(json.loads(self.call("comm", "accesses", "--format", "json").stdout), before)
        self.assertIn(reason, self.call("report", "accesses", "-o", "page.html").stderr)

    def test_every_way_to_a_timeline_asks_whose_it_is(self):
        """The C library and Python, and runs whose seal lists no file at all: they have launches, which
        access nothing."""
        library = os.path.join(os.path.dirname(CTASCOPE), "..", "lib", "libctascope.so")
        script = "import ctypes, sys\nlibrary = ctypes.CDLL(sys.argv[1])\n" \
                 "archive, text = ctypes.c_void_p(), ctypes.create_string_buffer(2048)\n" \
                 "print(library.cts_archive_open(sys.argv[2].encode(), ctypes.byref(archive), text, 2048),\n" \
                 "      text.value.decode())"
        def opened(run):
            return subprocess.run([sys.executable, "-c", script, library, run], text=True, check=True,
                                  stdout=subprocess.PIPE).stdout
        reason = "has no timeline of its own: the files of a timeline did not exist"
        self.assertTrue(opened("whole").startswith("0"), opened("whole"))
        self.record("--memory", "-o", "accesses")
        self.record("--memory", "--kernel-name", "nobody", "-o", "nothing")
        for run in ("accesses", "nothing"):
            self.addCleanup(shutil.rmtree, run)
            shutil.copytree("whole/timeline", run + "/timeline")
            self.assertIn(reason, opened(run))
            self.assertIn(reason, self.call("path", run, status=1).stderr)
            done = self.call("info", run).stdout
            self.assertRegex(done, "complete +NO")
            self.assertNotIn("Timeline", done)

    def test_a_timeline_made_after_the_recording_is_the_runs_own(self):
        """A run whose record could not make the timeline, as on a full disk, is readable later."""
        run = self.killed("later")
        os.mkdir(run + "/timeline")  # an empty directory is no archive
        self.call("info", run)
        for _ in range(2):
            self.assertTrue(json.loads(self.call("path", run, "--format", "json").stdout)["path_ns"])
        # where it cannot be made, the run is not sealed without it
        script = "mkdir -p blocked/timeline/in-the-way; exec " + self.program + " 2 4"
        done = subprocess.run([CTASCOPE, "record", "--timeline", "--memory", "-o", "blocked", "--", "sh",
                               "-c", script], text=True, check=False, capture_output=True, env=support.environment())
        self.addCleanup(shutil.rmtree, "blocked")
        self.assertTrue(os.path.exists("blocked/rank-0/timeline"), done.stderr)
        shutil.rmtree("blocked/timeline")
        self.assertTrue(json.loads(self.call("path", "blocked", "--format", "json").stdout)["path_ns"])
        self.call("path", "blocked")

    def test_a_timeline_that_is_lost_with_its_logs_is_named(self):
        run = self.killed("lost")
        for name in os.listdir(run + "/rank-0/timeline"):
            os.remove(run + "/rank-0/timeline/" + name)
        self.assertIn("its timeline is missing", " ".join(self.call("info", run).stdout.split()))
        self.assertIn("its timeline is missing", self.call("path", run, status=1).stderr)
        # one that nobody asked for is not missing
        self.record("--memory", "-o", "accesses")
        self.addCleanup(shutil.rmtree, "accesses")
        self.assertNotIn("timeline", self.call("info", "accesses").stdout)
        self.assertIn("record it with --timeline", self.call("path", "accesses", status=1).stderr)

    def test_import_does_not_wait_for_pipes(self):
        for name, other in (("a.json", "b.json"), ("run.json", "b.json"), ("a.json.gz", "b.json")):
            os.mkdir("traces")
            os.mkfifo("traces/" + name)
            with open("traces/" + other, "w", encoding="utf-8") as file:
                file.write('{"traceEvents":[{"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":1,"dur":2}]}')
            done = self.call("import", "traces", "-o", "imported", status=1)
            self.assertIn(f"'traces/{name}': it is not a regular file", done.stderr)
            shutil.rmtree("traces")

    def test_a_clock_out_of_range_is_left_out(self):
        with open("late.json", "w", encoding="utf-8") as file:
            json.dump({"baseTimeNanoseconds": 2 ** 63 - 1, "traceEvents": [
                {"ph": "X", "cat": "cpu_op", "name": "op", "pid": 1, "tid": 1, "ts": 1, "dur": 30},
                {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 9, "dur": 10,
                 "args": {"correlation": 1, "device": 0, "stream": 7}}]}, file)
        self.call("import", "late.json", "-o", "imported")
        self.call("info", "imported")

    def test_a_string_without_end_is_refused(self):
        """Each further piece of a string costs a look at all of it, so its length has a limit."""
        for length, status in ((1 << 20, 0), (40 << 20, 1)):
            with open("long.json", "w", encoding="ascii") as file:
                file.write('{"traceEvents":[{"ph":"X","cat":"cpu_op","name":"' + "A" * length +
                           '","pid":1,"tid":1,"ts":1,"dur":2}]}')
            self.addCleanup(shutil.rmtree, "imported", ignore_errors=True)
            done = self.call("import", "long.json", "--force", "-o", "imported", status=status)
            if status:
                self.assertRegex(done.stderr, r"'long.json': byte \d+: a string is longer than 16 MiB")
                self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        os.remove("long.json")

    def test_export_of_a_run_without_launches(self):
        self.call("record", "-o", "idle", "--", self.program, "0", "4", status=3)
        self.addCleanup(shutil.rmtree, "idle")
        for arguments in (("-o", "x.trc"), ("--format", "csv", "-o", "x.csv"), ("--format", "json", "-o", "x")):
            done = self.call("export", "idle", *arguments, status=1)
            self.assertIn("the run holds no launch", done.stderr)
            self.assertFalse(os.path.exists(arguments[-1]))

    def test_outputs_keep_out_of_a_run_that_is_being_recorded(self):
        run = self.killed("open")
        kept = self.files(run)
        for arguments in (("report", "whole", "-o", run + "/.ids"),
                          ("report", "whole", "-o", run + "/.recording"),
                          ("report", "whole", "-o", run + "/.process-1"),
                          ("path", "whole", "--enriched", run + "/timeline"),
                          ("path", "whole", "--enriched", run + "/timeline.new/"),
                          ("export", "whole", "--format", "json", "-o", run + "/timeline")):
            with self.subTest(arguments=arguments):
                self.assertIn("it belongs to the run", self.call(*arguments, status=2).stderr)
        self.assertEqual(self.files(run), kept)

    def test_names_in_a_graph_cannot_control_a_terminal(self):
        run = self.copy("named", "update kernels set name = name || char(27) || ']0;x' || char(7) || '\"'")
        graph = self.call("flow", run, "--format", "dot").stdout
        self.assertIn("?]0;x?\\\"", graph)
        self.assertNotRegex(graph, "[\x00-\x09\x0b-\x1f]")

    def test_enriched_replaces_nothing(self):
        self.call("path", "whole", "--enriched", "enriched")
        self.addCleanup(shutil.rmtree, "enriched")
        kept = self.files("enriched")
        # one that fails on the way, and one that would not
        run = self.copy("damaged")
        with open(run + "/timeline/traces/0.evt", "r+b") as file:
            file.truncate(700)
        for source in (run, "whole"):
            done = self.call("path", source, "--enriched", "enriched", status=2)
            self.assertIn("'enriched' is not empty", done.stderr)
            self.assertEqual(self.files("enriched"), kept)

    def test_enriched_leaves_no_part(self):
        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit.size_bytes, limit.size_bytes))
        for limit.size_bytes in (16, 600):
            done = subprocess.run([CTASCOPE, "path", "whole", "--enriched", "part"], text=True,
                                  env=support.environment(), check=False, capture_output=True,
                                  timeout=300, preexec_fn=limit)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertFalse(os.path.exists("part"), limit.size_bytes)

    def test_outputs_replace_no_file_of_a_recording(self):
        self.call("path", "whole", "--enriched", "enriched")
        self.addCleanup(shutil.rmtree, "enriched")
        os.symlink("whole/run.db", "link")
        kept = self.files("whole"), self.files("enriched")
        accesses = next(name for name in kept[0] if name.endswith(".acc"))
        for arguments in (("report", "whole", "-o", "whole/run.db"),
                          ("report", "whole", "-o", "link"),
                          ("path", "whole", "--chrome", "whole/run.db"),
                          ("path", "whole", "--chrome", "whole/timeline/traces.otf2"),
                          ("path", "enriched/traces.otf2", "--chrome", "enriched/traces.otf2"),
                          ("path", "enriched/traces.otf2", "--chrome", "enriched/traces.def"),
                          ("path", "enriched/traces.otf2", "--chrome", "enriched/traces/0.evt"),
                          ("export", "whole", "-o", accesses),
                          ("export", "whole", "--format", "csv", "-o", "whole/rank-0/new"),
                          ("export", "whole", "-o", "whole/rank-9"),
                          ("partition", "whole", "-n", "2", "--assignment", "whole/run.db"),
                          ("report", "whole", "-o", "page.html", "--figures", "whole/timeline")):
            with self.subTest(arguments=arguments):
                done = self.call(*arguments, status=2)
                self.assertRegex(done.stderr, "cannot write .* it (belongs to the run|is a file of)")
        self.assertEqual((self.files("whole"), self.files("enriched")), kept)
        # a file of the user's own in the run's directory is his to make
        self.call("report", "whole", "-o", "whole/page.html")
        self.call("report", "whole", "-o", "whole/page.html")
        os.remove("whole/page.html")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
