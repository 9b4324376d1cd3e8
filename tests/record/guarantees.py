#!/usr/bin/env python3
"""What docs/guarantees.md promises of the recorder, a sentence a class. With `--long` in front of
unittest's arguments: a thousand kills, and every call that can fail."""
import ctypes
import errno
import glob
import json
import os
import random
import re
import signal
import subprocess
import time

import support

LONG = "1" in (os.environ.get("CTS_LONG_TESTS"), os.environ.get("CTS_TEST_LONG"))
FILL = 4 * 64  # accesses of one launch
FAIL_CALLS = os.path.join(os.path.dirname(os.path.dirname(support.program_directory)),
                          "fail-calls.so")
table = {}  # category: [tried, passed]


def count(category, passed=1):
    row = table.setdefault(category, [0, 0])
    row[0] += 1
    row[1] += passed


class Guarantee(support.RecordTest):
    @classmethod
    def setUpClass(cls):
        cls.program = support.compiled("guarded.cu", "-O2")

    def ending(self, run):
        rows = self.table(run, "endings")
        self.assertEqual(len(rows), 1)
        return rows[0]

    def check_launches(self, run, least):
        """Launches that were complete are in the catalogue and in the access files."""
        rows = self.table(run, "launches")
        complete = [row for row in rows if row["end_ns"]]
        self.assertGreaterEqual(len(complete), least)
        records = self.records_by_launch(run)
        for row in complete:
            self.assertEqual(int(row["accesses"]), FILL)
            self.assertEqual(len(records[int(row["launch"])]), FILL // 32)
        return rows

    def lower_bound(self, run):
        return self.comm(run)["soundness"]["lower_bound"]


class NotOurs(Guarantee):
    """1. We never touch what is not ours."""

    def check_files(self, what, prefixes):
        plain = self.run_(self.program, what).stdout
        for run in range(3):
            done = self.record(f"run-{run}", self.program, what)
            self.assertEqual(done.stdout, plain)
            for prefix in prefixes:
                for i in range(8):
                    with open(f"{prefix}-{i}", "rb") as file:
                        self.assertEqual(file.read(), b"mine\n" * 20)
            launches = self.check_launches(f"run-{run}", 21)
            self.assertIs(self.lower_bound(f"run-{run}"), False)
            self.assertEqual(self.info(f"run-{run}")["totals"]["accesses"], FILL * len(launches))
            count("descriptors")

    def test_descriptors_closed_before_the_first_call(self):
        self.check_files("files-before", "a")

    def test_descriptors_closed_while_recording(self):
        self.check_files("files-after", "ab")

    def test_a_file_in_the_place_of_ours_is_not_written(self):
        """Somebody moves a file of the run away while it grows, and puts another there."""
        program = support.compiled("launches.cu", "-O2")
        for kind, options in (("rank-0/*.acc", ()), ("rank-0/timeline/[0-9]*.log", ("--timeline",))):
            run = f"run-{len(options)}"
            record = self.start(support.ctascope_path, "record", "-o", run, *options, "--", program,
                                "40", "64", "0", "step", stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            self.assertEqual(record.stdout.readline(), "done 0\n")
            names = glob.glob(f"{run}/{kind}")
            self.assertTrue(names)
            for name in names:
                os.rename(name, f"away-{os.path.basename(name)}")
                with open(name, "wb") as file:
                    file.write(b"mine\n")
            kept = [os.open(name, os.O_RDONLY) for name in names]  # whatever happens to the name
            record.communicate()  # the end of its input
            self.assertEqual(record.returncode, 3)
            for file in kept:
                self.assertEqual(os.pread(file, 100, 0), b"mine\n")
                os.close(file)
            self.assertIs(self.info(run)["totals"]["complete"], False)
            count("descriptors")

    def timeline(self, run, launches, whole=True):
        """A run of time: launches that ended, and whether it is said to be all."""
        path = json.loads(self.ctascope("path", run, "--format", "json").stdout)
        self.assertIs(path["lower_bound"], not whole)
        self.assertIs(self.info(run)["totals"]["complete"], whole)
        text = self.ctascope("dump", run, "--timeline", "--format", "csv").stdout
        self.assertGreaterEqual(text.count("fill"), 2 * launches)  # ENTER and LEAVE

    def test_the_timeline_recorder_holds_no_descriptors(self):
        for what in ("files-before", "files-after"):
            plain = self.run_(self.program, what).stdout
            done = self.record(what, self.program, what, options=("--timeline",))
            self.assertEqual(done.stdout, plain)
            for name in os.listdir("."):
                if name[0] in "ab" and name[1] == "-":
                    with open(name, "rb") as file:
                        self.assertEqual(file.read(), b"mine\n" * 20)
            self.timeline(what, 20)
            count("descriptors")
        plain = self.run_(self.program, "state").stdout
        self.assertEqual(self.record("state", self.program, "state",
                                     options=("--timeline",)).stdout, plain)
        self.timeline("state", 50)
        for more in ((), ("first",)):
            run = f"exhausted-{len(more)}"
            self.record(run, self.program, "exhausted", *more, options=("--timeline",))
            self.timeline(run, 50)
        for what, status in (("daemon", 0), ("twice", 0), ("parent-first", 5)):
            self.record(what, self.program, what, status=status, options=("--timeline",))
            self.timeline(what, 3)
        count("descriptors")

    def test_the_process_looks_as_without_us(self):
        self.addCleanup(os.umask, os.umask(0o002))  # a user's in Debian 13
        plain = self.run_(self.program, "state").stdout
        self.assertIn("errno 77", plain)
        for run, options in (("run", ()), ("time", ("--timeline",))):
            done = self.record(run, self.program, "state", options=options)
            self.assertEqual(done.stdout, plain, run)
        self.assertIs(self.lower_bound("run"), False)
        for name in ("run/run.db", "run/rank-0/0.acc"):  # by the umask that was at the start
            self.assertEqual(oct(os.stat(name).st_mode & 0o777), oct(0o664), name)
        count("descriptors")

    def test_no_descriptor_left(self):
        for more in ((), ("first",)):
            run = f"run-{len(more)}"
            self.assertEqual(self.record(run, self.program, "exhausted", *more).stdout, "right\n")
            self.assertIs(self.lower_bound(run), False)
            self.check_launches(run, 50)
            count("descriptors")

    def test_functions_of_the_programs_own_are_not_called(self):
        program = support.compiled("own-names.cu", "-O1", "-rdynamic")
        said = "mkdir of the program was called\n5, mkdir gives -1\n"
        self.assertEqual(self.run_(program, status=2).stdout, said)
        for run, options in (("memory", ("--memory", "--kernel-name", "regex:f.*")),
                             ("time", ("--timeline",)), ("both", ("--memory", "--timeline"))):
            done = self.record(run, program, status=2, options=options)
            self.assertEqual(done.stdout, said, run)
            self.assertIs(self.info(run)["totals"]["complete"], True, run)
            if run != "time":
                self.assertEqual(self.info(run)["totals"]["accesses"], 128)
            if run != "memory":
                path = json.loads(self.ctascope("path", run, "--format", "json").stdout)
                self.assertIs(path["lower_bound"], False)
            count("names that the program defines, too")

    def expect(self, program, number, what):
        """The next line; what came twice, to the group and passed on, is skipped."""
        for line in program.stdout:
            if line == f"got {number:02}\n":
                return
            self.assertIn(line, self.came_before, what)
        self.fail(f"{what}: the program ended")

    def test_signals_end_neither_record_nor_the_recording(self):
        program = support.compiled("signals.cu", "-O1")
        record = self.start(support.ctascope_path, "record", "-o", "run", "--", program,
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
        self.assertEqual(record.stdout.readline(), "ready\n")
        names = "INT TERM HUP USR1 ALRM XCPU XFSZ VTALRM PROF IO PWR STKFLT ABRT PIPE URG CONT WINCH"
        self.came_before = set()
        for name in names.split():
            number = getattr(signal, "SIG" + name)
            for send in (os.kill, os.killpg):
                send(record.pid, number)
                self.expect(record, number, f"{name} by {send.__name__}")
                self.came_before.add(f"got {number:02}\n")
        queue = ctypes.CDLL(None).sigqueue
        queue.argtypes = (ctypes.c_int, ctypes.c_int, ctypes.c_void_p)
        # these come once, by whatever way
        for number in (signal.SIGRTMIN, signal.SIGRTMIN + 9, signal.SIGRTMAX):
            for send in (os.killpg, lambda pid, number: queue(pid, number, None)):
                send(record.pid, number)
                self.expect(record, number, f"real-time {number}")
        record.stdin.close()
        self.assertLessEqual(set(record.stdout), self.came_before)
        self.assertEqual(record.wait(), 5)
        self.assertIs(self.info("run")["totals"]["complete"], True)
        count("signals", 1)

    def test_daemons_are_recorded_to_the_end(self):
        for what, status, accesses in (("daemon", 0, 3), ("twice", 0, 3), ("parent-first", 5, 3)):
            with self.subTest(what=what):
                self.record(what, self.program, what, status=status)
                self.assertEqual(self.info(what)["totals"]["accesses"], accesses * FILL)
                self.assertIs(self.lower_bound(what), False)
                count("exits: a parent that ends first")


class NoHarm(Guarantee):
    """2. A failure of ours never changes a result of the program."""
    LAUNCHES = 6

    def inject(self, run, call, first, how_many, number, path="", options=()):
        if not os.path.exists(FAIL_CALLS):
            self.skipTest("no fail-calls.so")
        variables = {"FAIL_CALL": call, "FAIL_FIRST": first, "FAIL_COUNT": how_many,
                     "FAIL_ERRNO": number, "FAIL_PATH": path, "LD_PRELOAD": FAIL_CALLS}
        words = [f"{key}={value}" for key, value in variables.items()]
        done = self.record(run, "env", *words, self.program, "many", str(self.LAUNCHES),
                           status=None, options=options)
        self.assertEqual(done.returncode, 0, f"{call} {first}: {done.stderr}")
        self.assertEqual(done.stdout, "right\n", f"{call} {first}: {done.stderr}")
        return done

    def check_said(self, run, done, what):
        """All is there, or the run says what it lacks, or there is none and a line says so."""
        if not os.path.exists(run) or "nothing was recorded: " in done.stderr:
            self.assertIn("ctascope", done.stderr, what)
            return
        info = self.info(run)
        lacks = info["totals"]["accesses"] < self.LAUNCHES * FILL
        if lacks and info["ranks"]:
            self.assertIs(self.lower_bound(run), True, what)

    def sweep(self, call, number, path="", most=6, how_many=1):
        for first in range(1, (60 if LONG else most) + 1):
            run = f"{call}-{number}-{how_many}-{path.strip('.')}-{first}"
            done = self.inject(run, call, first, how_many, number, path)
            self.check_said(run, done, f"{call} {first} {errno.errorcode[number]}")
            count("system errors in the program")

    def test_an_access_file_cannot_be_made(self):
        for number in (errno.EMFILE, errno.ENOSPC, errno.EACCES):
            done = self.inject(f"run-{number}", "open", 1, 100000, number, ".acc")
            self.assertEqual(self.info(f"run-{number}")["totals"]["dropped_accesses"],
                             self.LAUNCHES * FILL)
            self.assertIs(self.lower_bound(f"run-{number}"), True)
            self.assertIn(os.strerror(number), done.stderr)
            count("system errors in the program")

    def test_one_interruption_costs_nothing(self):
        for i, path in enumerate((".acc", "journal", ".ids")):
            run = f"run-{i}"  # a name with `path` in it would make all files of the run match
            self.inject(run, "open", 1, 1, errno.EINTR, path)
            self.check_launches(run, self.LAUNCHES)
            self.assertIs(self.lower_bound(run), False)
            self.assertEqual(self.info(run)["totals"]["dropped_accesses"], 0)
            count("system errors in the program")

    def test_open(self):
        self.sweep("open", errno.EMFILE, "run", how_many=2)

    def test_allocation_on_disk(self):
        self.sweep("fallocate", errno.ENOSPC)
        self.sweep("fallocate", errno.ENOSPC, how_many=100000, most=2)

    def test_nothing_can_be_recorded(self):
        for options in (("--memory",), ("--timeline",), ("--memory", "--timeline")):
            run = "".join(options)
            done = self.inject(run, "map", 1, 100000, errno.ENOMEM, options=options)
            self.assertIn("was recorded: ", done.stderr)

    def test_mapping(self):
        self.sweep("map", errno.ENOMEM)
        self.sweep("map", errno.ENOMEM, how_many=100000, most=2)

    def test_the_rest(self):
        for call in ("truncate", "flock", "pwrite"):
            self.sweep(call, errno.EAGAIN, most=3)

    def test_no_thread_for_files(self):
        """With one worker the first thread is the one that opens files; later ones are streams."""
        done = self.inject("run", "thread", 1, 1, errno.EAGAIN, options=("--threads", "1"))
        self.check_said("run", done, "no thread")
        self.check_launches("run", self.LAUNCHES)
        count("system errors in the program")


class Ends(Guarantee):
    """4. Whatever ends the program, launches that had completed are there."""

    def test_all_kinds(self):
        signals = (signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV, signal.SIGINT, signal.SIGHUP,
                   signal.SIGPIPE, signal.SIGALRM, signal.SIGUSR1)
        cases = [(how, 0, how if how in ("_exit", "quick_exit") else how, False)
                 for how in ("return", "exit", "_exit", "quick_exit", "exec")]
        cases += [(how, 128 + signal.SIGABRT, how, True) for how in ("abort", "throw")]
        cases += [(str(int(number)), 128 + number, number.name, True) for number in signals]
        for how, status, name, cut in cases:
            for launches in (1, 5):
                with self.subTest(end=name, launches=launches):
                    run = f"{name}-{launches}"
                    self.record(run, self.program, "end", how, str(launches), status=status)
                    self.assertEqual(len(self.check_launches(run, launches)), launches)
                    self.assertIs(self.lower_bound(run), cut)
                    row = self.ending(run)
                    self.assertEqual(row["how"], "signal" if cut else "exit" if how in
                                     ("_exit", "quick_exit", "exec") else "closed")
                    self.assertEqual(row["launches_complete"], str(launches))
                    count("exits: all kinds")

    def test_all_kinds_of_a_timeline(self):
        cases = [(how, 0, True) for how in ("return", "exit", "_exit", "quick_exit", "exec")]
        cases += [(how, 128 + signal.SIGABRT, False) for how in ("abort", "throw")]
        cases += [(str(int(number)), 128 + number, False)
                  for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV, signal.SIGINT)]
        for how, status, whole in cases:
            with self.subTest(end=how):
                self.record(how, self.program, "end", how, "3", status=status,
                            options=("--timeline",))
                NotOurs.timeline(self, how, 3, whole)
                count("exits: all kinds, timeline")
        self.record("pending", self.program, "end", "pending", "2", options=("--timeline",))
        path = json.loads(self.ctascope("path", "pending", "--format", "json").stdout)
        asked = re.search("ended before the device work of ", json.dumps(path))
        self.assertIs(path["lower_bound"], asked is not None)

    def test_launches_that_nobody_waited_for(self):
        self.record("run", self.program, "end", "pending", "2")
        self.check_launches("run", 2)
        row = self.ending("run")
        self.assertEqual(self.lower_bound("run"),
                         int(row["launches_complete"]) < int(row["launches_asked"]))

    def test_kills(self):
        """At random moments, most of them in the first tenth of a second."""
        moments = random.Random(14)
        reference = self.whole_launches()
        for trial in range(1000 if LONG else 8):
            self.kill_one(f"run-{trial}", moments.random() ** 2 * 0.1, reference)

    def whole_launches(self):
        """The records of the program that is killed, by launch, when nothing ends it."""
        self.killed = support.compiled("launches.cu", "-O2")
        self.ctascope("record", "-o", "whole", "--deterministic", "--", self.killed, "300", "8",
                      status=3)
        return self.records_by_launch("whole")

    def kill_one(self, run, wait_s, reference):
        """Kills the program `wait_s` after its start; what it said to be done is in the run."""
        record = self.start(support.ctascope_path, "record", "-o", run, "--deterministic",
                            "--", "sh", "-c", f"echo $$; exec '{self.killed}' 300 8",
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        pid = int(record.stdout.readline())
        time.sleep(wait_s)
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        out, _ = record.communicate(timeout=1200)
        done = sum(line.startswith("done ") for line in out.splitlines())
        if not os.path.exists(run):
            self.assertEqual(done, 0)
        else:
            records = self.records_by_launch(run)
            for launch in range(done):
                self.assertEqual(records.get(launch), reference[launch])
            self.assertIs(self.lower_bound(run), record.returncode == 128 + signal.SIGKILL,
                          f"{run}: {done} launches, {self.table(run, 'endings')}")
            support.shutil.rmtree(run)
        count("kills")


class Locked(Guarantee):
    """5. A run that is being recorded is locked."""

    def test_force_and_a_second_recording_are_refused(self):
        program = support.compiled("launches.cu", "-O2")
        record = self.start(support.ctascope_path, "record", "-o", "run", "--", program, "3", "8",
                            "0", "step", stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE)
        self.assertEqual(record.stdout.readline(), "done 0\n")
        for options in ((), ("--force",)):
            done = self.record("run", self.program, "many", "1", options=options, status=125)
            self.one_line(done.stderr, "ctascope record: 'run' is being recorded by process "
                          f"{record.pid} ('{program} 3 8 0 step')")
        record.communicate()  # the end of its input
        self.assertEqual(record.returncode, 3)
        self.assertEqual(len(self.table("run", "launches")), 3)
        self.record("run", self.program, "many", "1", options=("--force",))

    def test_a_program_whose_record_is_gone_holds_its_run(self):
        program = support.compiled("launches.cu", "-O2")
        record = self.start(support.ctascope_path, "record", "-o", "run", "--", program, "3", "8",
                            "0", "step", stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL)
        self.assertEqual(record.stdout.readline(), "done 0\n")
        record.kill()
        record.wait()
        done = self.record("run", self.program, "many", "1", options=("--force",), status=125)
        self.one_line(done.stderr, "ctascope record: 'run' is being recorded: process ")
        record.stdin.close()
        self.assertIn("sum ", record.stdout.read())  # to the program's end
        self.wait_for(lambda: not self.lower_bound("run"), "a complete run")
        self.record("run", self.program, "many", "1", options=("--force",))


def print_table():
    for category, (tried, passed) in sorted(table.items()):
        print(f"{category:40} {tried:6} {passed:6}")


if __name__ == "__main__":
    import atexit
    atexit.register(print_table)
    support.main()
