#!/usr/bin/env python3
"""Programs and recorders that are killed: what was complete is there, and the rest is said."""
import os
import random
import signal
import time

import support

LAUNCHES, CTAS = 300, 8


class Killed(support.RecordTest):
    @classmethod
    def setUpClass(cls):
        cls.program = support.compiled("launches.cu", "-O2")

    def command(self, run, launches=LAUNCHES, pause_us=0):
        return (support.ctascope_path, "record", "-o", run, "--deterministic", "--", self.program,
                str(launches), str(CTAS), str(pause_us), "step")

    def program_of(self, record):
        """The process id of the program that `record` started."""
        path = f"/proc/{record.pid}/task/{record.pid}/children"
        with open(path, encoding="ascii") as file:
            children = file.read().split()
        self.assertEqual(len(children), 1)
        return int(children[0])

    def start_and_wait(self, run, done, **more):
        """Starts a recording and returns when launch `done` has ended. The program goes on, but not to
        its end before its input's."""
        record = self.start(*self.command(run, **more), stdin=support.subprocess.PIPE,
                            stdout=support.subprocess.PIPE, stderr=support.subprocess.PIPE)
        record.stdin.write("." * (LAUNCHES - 2))
        record.stdin.flush()
        for line in record.stdout:
            if line == f"done {done}\n":
                return record
        self.fail(f"the program never said 'done {done}': {record.stderr.read()}")

    @staticmethod
    def last_done(text, done):
        numbers = [int(line.split()[1]) for line in text.splitlines() if line.startswith("done")]
        return numbers[-1] if numbers else done

    def check_readable(self, run, done, reference, unclosed=0):
        """Everything reads the run, says that it is incomplete, and launches 0 .. done are there,
        in the catalogue too. `unclosed`: access files that no `record` closed."""
        info = self.info(run)
        self.assertIs(info["totals"]["complete"], False)
        self.assertIs(info["ranks"][0]["complete"], False)
        self.assertIn("NO: 1 of 1 ranks did not terminate normally",
                      self.ctascope("info", run).stdout)
        self.assertLessEqual(info["totals"]["launches"], LAUNCHES)
        self.assertGreater(info["totals"]["launches"], done)
        records = self.records_by_launch(run)
        for launch in range(done + 1):
            self.assertEqual(records.get(launch), reference[launch], f"launch {launch}")
        for launch in set(records) - set(range(done + 1)):
            self.assertLessEqual(set(records[launch]), set(reference[launch]))
        self.ctascope("dump", run, "--accesses", "--limit", "1")
        comm = self.comm(run)
        self.assertIs(comm["soundness"]["lower_bound"], True)
        self.assertEqual(comm["soundness"]["incomplete_files"], unclosed)
        self.assertIn("LOWER BOUND", self.ctascope("comm", run).stdout)
        self.assertGreater(info["totals"]["records"], 0)
        self.ctascope("report", run, "-o", run + ".html")
        return info

    def test_sigkill_at_random_moments(self):
        self.ctascope(*self.command("whole")[1:], status=3, stdin=support.subprocess.DEVNULL)
        reference = self.records_by_launch("whole")
        self.assertEqual(sorted(reference), list(range(LAUNCHES)))
        moments = random.Random(4)
        for trial in range(5):
            run = f"killed-{trial}"
            # between launches there is a pause; without one the signal comes in the midst of them
            pause_us = 2000 if trial % 2 else 0
            record = self.start_and_wait(run, moments.randrange(100, 200), pause_us=pause_us)
            time.sleep(moments.random() * 0.004)
            os.kill(self.program_of(record), signal.SIGKILL)
            out, err = record.communicate(timeout=1200)
            self.assertEqual(record.returncode, 128 + signal.SIGKILL)
            self.one_line(err, f"ctascope record: '{os.path.realpath(run)}': ",
                          "; incomplete, the program ended early")
            self.check_readable(run, self.last_done(out, 100), reference)

    def test_sigkill_in_the_first_moment(self):
        record = self.start_and_wait("early", 0)
        os.kill(self.program_of(record), signal.SIGKILL)
        _, err = record.communicate(timeout=1200)
        self.assertEqual(record.returncode, 128 + signal.SIGKILL)
        self.assertEqual(err.count("\n"), 1, err)
        self.assertIs(self.info("early")["totals"]["complete"], False)
        self.assertIs(self.comm("early")["soundness"]["lower_bound"], True)
        self.ctascope("dump", "early", "--accesses", "--lanes", "--limit", "100")

    def test_record_itself_killed(self):
        """The program goes on, and its recording is whole."""
        record = self.start_and_wait("orphan", 20)
        record.kill()
        record.wait()
        record.stdin.close()
        rest = record.stdout.read()  # to the program's end
        self.assertIn("sum ", rest)
        self.wait_for(lambda: self.info("orphan")["totals"]["complete"], "a complete run")
        info = self.info("orphan")
        self.assertEqual(info["totals"]["launches"], LAUNCHES)
        self.assertIs(self.comm("orphan")["soundness"]["lower_bound"], False)

    def test_signals_to_record_reach_the_program(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            with self.subTest(signal=number):
                run = f"signal-{number}"
                record = self.start_and_wait(run, 100, pause_us=1000)
                record.send_signal(number)
                out, err = record.communicate(timeout=1200)
                self.assertEqual(record.returncode, 128 + number)
                self.one_line(err, "ctascope record: ", "incomplete, the program ended early")
                self.assertIs(self.info(run)["totals"]["complete"], False)
                records = self.records_by_launch(run)
                for launch in range(self.last_done(out, 100) + 1):
                    self.assertEqual(len(records[launch]), CTAS * 4 * 9)

    def test_both_killed(self):
        record = self.start_and_wait("both", 150)
        os.kill(self.program_of(record), signal.SIGSTOP)
        program = self.program_of(record)
        record.kill()
        os.kill(program, signal.SIGKILL)
        record.wait()
        self.wait_for(lambda: not os.path.exists(f"/proc/{program}/exe") or
                      not os.path.exists(f"/proc/{program}"), "the program's end")
        self.ctascope(*self.command("whole")[1:], status=3, stdin=support.subprocess.DEVNULL)
        self.check_readable("both", 150, self.records_by_launch("whole"), unclosed=1)

    def test_run_grows_while_it_is_read(self):
        """Every look is at a moment: it reads, and later ones see no less."""
        record = self.start(*self.command("growing", launches=100), stdin=support.subprocess.PIPE,
                            stdout=support.subprocess.PIPE, stderr=support.subprocess.PIPE)
        launches = []
        for step in range(9):
            record.stdin.write("." * 10)
            record.stdin.flush()
            # Every other time the program goes on meanwhile.
            if step % 2 == 0:
                for _ in range(20 if step else 10):
                    self.assertTrue(record.stdout.readline().startswith("done "))
            info = self.info("growing")
            launches.append(info["totals"]["launches"])
            comm = self.comm("growing")
            self.assertFalse(info["totals"]["complete"])
            self.ctascope("dump", "growing", "--accesses", "--limit", "10")
            self.assertGreaterEqual(comm["totals"]["launches"], launches[-1])
        self.assertEqual(launches, sorted(launches))
        self.assertGreaterEqual(len(set(launches)), 5)
        record.communicate()
        self.assertEqual(record.returncode, 3)
        self.assertEqual(self.info("growing")["totals"]["launches"], 100)
        self.assertIs(self.comm("growing")["soundness"]["lower_bound"], False)


if __name__ == "__main__":
    support.main()
