#!/usr/bin/env python3
"""Every file that a verb is told to write goes where it was told: a regular file keeps its mode, a
link its target, and what is no regular file is written and never replaced.

    outputs.py CTASCOPE PROGRAM_DIRECTORY ARCHIVE_PROGRAM TIMELINE_LIBRARY
"""
import gzip
import os
import resource
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(1, os.path.join(HERE, "..", "record"))
import support  # noqa: E402

CTASCOPE = support.ctascope_path
ARCHIVE_PROGRAM, TIMELINE_LIBRARY = sys.argv[3:5]
WRITERS = {
    "report": ("report", "memory", "-o"),
    "report of a launch": ("report", "memory", "--accesses", "-o"),
    "trc": ("export", "memory", "-o"),
    "csv": ("export", "memory", "--format", "csv", "-o"),
    "packed csv": ("export", "memory", "--format", "csv", "--gzip", "-o"),
    "assignment": ("partition", "memory", "-n", "2", "--assignment"),
    "chrome": ("path", "time", "--chrome"),
}


class Outputs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.mkdtemp(prefix="ctascope-outputs-")
        os.chdir(cls.directory)
        program = support.compiled("launches.cu", "-O2")
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "check": False,
                 "env": support.environment()}
        subprocess.run([CTASCOPE, "record", "-o", "memory", "--", program, "2", "4"], **quiet)
        subprocess.run([CTASCOPE, "record", "--timeline", "-o", "time", "--", ARCHIVE_PROGRAM,
                        TIMELINE_LIBRARY, "well", "20"], **quiet)

    @classmethod
    def tearDownClass(cls):
        os.chdir("/")
        shutil.rmtree(cls.directory)

    def write(self, arguments, path, status=0, **more):
        done = subprocess.run([CTASCOPE, *arguments, path], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, check=False, env=support.environment(), **more)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def whole(self, arguments, path="whole"):
        self.write(arguments, path)
        with open(path, "rb") as file:
            data = file.read()
        os.remove(path)
        self.assertGreater(len(data), 20)
        return data

    def device(self, number):
        """A device of our own, so that nothing of the system can be replaced; None: not allowed."""
        path = os.path.join(self.directory, f"device-{number}")
        if not os.path.exists(path):
            try:
                os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, number))
                os.close(os.open(path, os.O_WRONLY))
            except OSError:
                return None
        return path

    def test_regular_file_keeps_its_mode_and_link(self):
        for name, arguments in WRITERS.items():
            with self.subTest(writer=name):
                data = self.whole(arguments)
                with open("target", "w", encoding="utf-8") as file:
                    file.write("old")
                os.chmod("target", 0o662)  # a new file would not have these, by the umask
                if not os.path.islink("link"):
                    os.symlink("target", "link")
                self.write(arguments, "link")
                self.assertTrue(os.path.islink("link"))
                self.assertEqual(stat.S_IMODE(os.stat("target").st_mode), 0o662)
                with open("target", "rb") as file:
                    self.assertEqual(file.read(), data)
                os.remove("target")

    def test_a_file_is_replaced_whole_or_not_at_all(self):
        """A writer that meets the limit of a file's size leaves what was there."""
        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (16, 16))
        for name, arguments in WRITERS.items():
            with self.subTest(writer=name):
                with open("target", "w", encoding="utf-8") as file:
                    file.write("old")
                before = sorted(os.listdir("."))
                done = self.write(arguments, "target", status=1, preexec_fn=limit)
                self.assertIn(b"cannot write 'target': File too large", done.stderr)
                with open("target", encoding="utf-8") as file:
                    self.assertEqual(file.read(), "old")
                self.assertEqual(sorted(os.listdir(".")), before)
                os.remove("target")

    def test_a_name_as_long_as_a_file_system_takes(self):
        name = "n" * 250 + ".html"
        self.addCleanup(os.remove, name)
        self.write(("report", "memory", "-o"), name)
        self.write(("report", "memory", "-o"), name)
        self.assertEqual([n for n in os.listdir(".") if n.startswith("nnn")], [name])

    def test_a_file_keeps_its_owner(self):
        if os.getuid() != 0:
            self.skipTest("only root gives files away")
        with open("target", "w", encoding="utf-8"):
            pass
        os.chown("target", 12345, 23456)
        self.write(WRITERS["csv"], "target")
        self.assertEqual((os.stat("target").st_uid, os.stat("target").st_gid), (12345, 23456))
        os.remove("target")

    def test_pipe(self):
        os.mkfifo("pipe")
        for name, arguments in WRITERS.items():
            with self.subTest(writer=name):
                data, got = self.whole(arguments), []
                def drain(got=got):
                    with open("pipe", "rb") as file:
                        got.append(file.read())
                reader = threading.Thread(target=drain)
                reader.start()
                try:
                    self.write(arguments, "pipe")
                finally:
                    if reader.is_alive():  # a writer that has not opened it leaves it waiting
                        os.close(os.open("pipe", os.O_RDWR | os.O_NONBLOCK))
                    reader.join()
                self.assertEqual(got[0], data)
                self.assertTrue(stat.S_ISFIFO(os.lstat("pipe").st_mode))

    def test_standard_output(self):
        for name, arguments in WRITERS.items():
            if name == "assignment" or name == "chrome":
                continue  # what they print comes to the same place
            with self.subTest(writer=name):
                data = self.whole(arguments)
                self.assertEqual(self.write(arguments, "/proc/self/fd/1").stdout, data)

    def test_full_device(self):
        full = self.device(7)
        if not full:
            self.skipTest("this user makes no devices")
        for name, arguments in WRITERS.items():
            with self.subTest(writer=name):
                done = self.write(arguments, full, status=1)
                self.assertIn(f"cannot write '{full}': No space left on device".encode(),
                              done.stderr)
                self.assertTrue(stat.S_ISCHR(os.lstat(full).st_mode))

    def test_packed_trace(self):
        data = self.whole(WRITERS["chrome"])
        self.assertEqual(gzip.decompress(self.whole(WRITERS["chrome"], "trace.json.gz")), data)
        full = self.device(7)
        if full:
            os.symlink(full, "full.gz")
            done = self.write(WRITERS["chrome"], "full.gz", status=1)
            self.assertIn(b"No space left on device", done.stderr)
            self.assertTrue(stat.S_ISCHR(os.stat("full.gz").st_mode))

    def test_figures(self):
        """Each figure is a file of its own in a folder."""
        arguments = ("report", "memory", "-o", "page.html", "--figures")
        self.write(arguments, "figures")
        names = sorted(os.listdir("figures"))
        self.assertGreater(len(names), 4)
        for name in (names[0], names[1]):
            with open("figures/" + name, "rb") as file:
                data = file.read()
            os.rename("figures/" + name, "elsewhere")
            os.chmod("elsewhere", 0o600)
            os.symlink("../elsewhere", "figures/" + name)
            self.write(arguments, "figures")
            with open("elsewhere", "rb") as file:
                self.assertEqual(file.read(), data)
            self.assertEqual(stat.S_IMODE(os.stat("elsewhere").st_mode), 0o600)
            full = self.device(7)
            if full:
                os.remove("figures/" + name)
                os.symlink(full, "figures/" + name)
                self.assertIn(b"No space left", self.write(arguments, "figures", status=1).stderr)
                self.assertTrue(stat.S_ISCHR(os.stat("figures/" + name).st_mode))
                os.remove("figures/" + name)

    def test_folders_replace_nothing(self):
        """A folder is made where nothing is, and what is there is named."""
        with open("file", "w", encoding="utf-8") as file:
            file.write("mine")
        os.symlink("file", "to-file")
        for path in ("file", "to-file", "memory"):
            done = self.write(("export", "memory", "--format", "json", "-o"), path, status=2)
            self.assertIn(f"'{path}' already exists".encode(), done.stderr)
        with open("file", encoding="utf-8") as file:
            self.assertEqual(file.read(), "mine")
        os.mkdir("empty")
        for path in ("empty", "nothing"):
            self.write(("export", "memory", "--format", "json", "-o"), path)
            self.assertTrue(os.listdir(path), path)
            shutil.rmtree(path)

    # ---- records that a run does not hold ----

    def test_a_run_of_time_has_no_accesses(self):
        for arguments in (("comm", "time"), ("access", "time"), ("partition", "time"),
                          ("dump", "time", "--accesses"), ("diff", "memory", "time"),
                          ("export", "time", "-o", "trc"), ("comm", "time", "--address", "0"),
                          ("flow", "time"), ("report", "time", "-o", "page.html", "--figures", "none")):
            with self.subTest(arguments=arguments):
                done = subprocess.run([CTASCOPE, *arguments], stdout=subprocess.PIPE, text=True,
                                      stderr=subprocess.PIPE, check=False)
                self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
                self.assertEqual(done.stderr, f"ctascope {arguments[0]}: run 'time' holds no memory "
                                              "accesses: record it without --timeline\n")
        self.assertFalse(os.path.exists("none"))
        self.write(("report", "time", "-o"), "time.html")
        said = self.write(("info",), "time").stdout.decode()
        self.assertIn("accesses      not recorded", said)
        self.assertNotIn("0 B", said)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
