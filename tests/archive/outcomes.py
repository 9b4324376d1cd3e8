"""record --timeline: its status, its last line, and what can be read afterwards."""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

CTASCOPE, PROGRAM, LIBRARY = sys.argv[1:4]


class Outcomes(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        self.run_path = os.path.join(self.directory.name, "run")
        self.command = [CTASCOPE, "record", "--timeline", "-o", self.run_path, "--"]

    def record(self, *words):
        return subprocess.run([*self.command, PROGRAM, LIBRARY, *words], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def timeline(self):
        done = subprocess.run([CTASCOPE, "info", "--format", "json", self.run_path], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def check(self):
        done = subprocess.run([CTASCOPE, "dump", "--timeline", "--check", self.run_path], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_the_program_ends_well(self):
        done = self.record("well", "1000")
        self.assertEqual(done.returncode, 3)
        self.assertRegex(done.stderr, r"^ctascope record: '.*': timeline of 1 process, 5 locations, "
                                      r"8,024 events, [0-9.]+ KiB\n$")
        run = self.timeline()
        self.assertEqual(run["timeline"]["kinds"], {"ENTER": 4012, "LEAVE": 4012})
        self.assertEqual(run["ranks"][0]["recorder"], "timeline")
        self.check()
        left = sorted(os.listdir(self.run_path))
        self.assertEqual(left, ["rank-0", "run.db", "timeline"])

    def test_the_program_crashes(self):
        done = self.record("crash")
        self.assertEqual(done.returncode, 128 + signal.SIGSEGV)
        self.assertIn("; incomplete, 1 process ended early", done.stderr)
        self.assertEqual(self.timeline()["timeline"]["kinds"], {"ENTER": 101, "LEAVE": 101})
        self.check()

    def test_nothing_is_recorded(self):
        """The status is the program's: that nothing was there to record is no failure."""
        done = self.record("nothing")
        self.assertEqual(done.returncode, 0)
        self.assertIn("no timeline was recorded: no recorder ran in", done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1)
        self.assertFalse(os.path.exists(self.run_path))

    def test_record_is_killed(self):
        process = subprocess.Popen([*self.command, PROGRAM, LIBRARY, "for-ever"],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   start_new_session=True)
        self.assertEqual(process.stdout.readline(), b"2000 events\n")
        busy = subprocess.run([CTASCOPE, "dump", "--timeline", "--check", self.run_path], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertIn("is still being recorded", busy.stderr)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        before = os.path.join(self.directory.name, "before")
        shutil.copytree(self.run_path, before)
        events = self.timeline()["timeline"]["events"]
        self.assertGreaterEqual(events, 2000)
        self.check()
        self.kill_while_logs_are_removed(before)
        self.assertEqual(self.timeline()["timeline"]["events"], events)
        self.check()
        # The killed record's .recording stays: processes of its session may live, and join the run.
        self.assertEqual(sorted(os.listdir(self.run_path)),
                         [".recording", "rank-0", "run.db", "timeline"])
        self.assertEqual(os.listdir(os.path.join(self.run_path, "rank-0")), [])

    def kill_while_logs_are_removed(self, before):
        """As if whoever made the archive had been killed when one of two logs was gone."""
        logs = os.path.join(self.run_path, "rank-0", "timeline")
        shutil.copytree(os.path.join(before, "rank-0", "timeline"), logs)
        os.remove(os.path.join(logs, "definitions.log"))
        with open(os.path.join(self.run_path, "timeline", "logs-to-remove"), "w") as file:
            file.write("0\n")

    def test_the_disk_is_full(self):
        """The archive finds no room either: one line, the logs stay, and make it when there is some."""
        disk = os.path.join(self.directory.name, "disk")
        os.mkdir(disk)
        mount = ["mount", "-t", "tmpfs", "none", disk, "-o"]
        if subprocess.run([*mount, "size=4m"], check=False, stderr=subprocess.DEVNULL).returncode:
            self.skipTest("no small disk can be mounted")
        self.addCleanup(subprocess.run, ["umount", disk], check=True)
        self.run_path = os.path.join(disk, "run")
        self.command[4] = self.run_path
        done = self.record("well", "100000")
        self.assertEqual(done.returncode, 3)
        self.assertRegex(done.stderr, r"^ctascope record: cannot make the timeline of '.*': the disk "
                                      r"is full; the recording stays in its logs: .*\n$")
        self.assertEqual(done.stderr.count("\n"), 1)
        subprocess.run([*mount, "remount,size=64m"], check=True)
        run = self.timeline()
        self.assertGreater(run["timeline"]["events"], 10000)
        self.assertIn("No space left on device", run["ranks"][0]["failure"])
        self.check()

    def test_the_size_limit(self):
        self.command[3:3] = ["--max-size", "1M"]
        done = self.record("well", "100000")
        self.assertEqual(done.returncode, 3)
        self.assertRegex(done.stderr, r"; LOST [0-9,]+ events; failure: the timeline reached its "
                                      r"size limit of 1048576 bytes")
        self.assertEqual(done.stderr.count("\n"), 1)
        self.check()


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
