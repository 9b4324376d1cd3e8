"""A timeline without one of its files: `path`, `whatif` and `info` name it, and their sums are a
lower bound."""
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

CTASCOPE, PROGRAM, LIBRARY = sys.argv[1:4]


class Missing(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="ctascope-missing-")
        self.addCleanup(self.folder.cleanup)
        os.chdir(self.folder.name)
        subprocess.run([CTASCOPE, "record", "--timeline", "-o", "good", "--", PROGRAM, LIBRARY,
                        "well", "50"],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.assertTrue(os.path.exists("good/timeline/traces.otf2"))

    def ask(self, verb, path, *options, status=0):
        done = subprocess.run([CTASCOPE, verb, path, "--format", "json", *options], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def test_whole(self):
        for path in ("good", "good/timeline/traces.otf2"):
            answer = json.loads(self.ask("path", path).stdout)
            self.assertEqual((answer["lower_bound"], answer["missing"]), (False, []))

    def test_one_file_gone_or_changed(self):
        files = sorted(glob.glob("good/timeline/traces/*"))
        self.assertGreater(len([name for name in files if name.endswith(".def")]), 0)
        for name in files:
            for change in (os.remove, lambda path: open(path, "ab").write(b"x")):
                shutil.rmtree("run", ignore_errors=True)
                shutil.copytree("good", "run")
                change("run" + name.removeprefix("good"))
                with self.subTest(name=name, change=change):
                    done = self.ask("path", "run")
                    answer = json.loads(done.stdout)
                    self.assertIs(answer["lower_bound"], True)
                    self.assertIn(name.removeprefix("good/"), done.stderr)
                    self.assertTrue(any(name.removeprefix("good/") in text
                                        for text in answer["missing"]), answer["missing"])
                    self.assertIn(name.removeprefix("good/"), self.ask("whatif", "run", "--remove", "work").stderr)
                    info = self.ask("info", "run")
                    self.assertIs(json.loads(info.stdout)["totals"]["complete"], False)

    def test_archive_without_local_definitions(self):
        """An archive that is no run: its other locations have definitions of their own."""
        files = sorted(glob.glob("good/timeline/traces/*.def"))
        if len(files) < 2:
            self.skipTest("one location alone")
        shutil.copytree("good/timeline", "archive")
        os.remove("archive/traces/" + os.path.basename(files[1]))
        answer = json.loads(self.ask("path", "archive/traces.otf2").stdout)
        self.assertIs(answer["lower_bound"], True)
        self.assertIn(os.path.basename(files[1]), answer["missing"][0])

    def test_event_file_of_an_archive_cut(self):
        """An archive that is no run has no sizes of its files: the definitions' counts tell."""
        name = max(glob.glob("good/timeline/traces/*.evt"), key=os.path.getsize)
        size, name = os.path.getsize(name), os.path.basename(name)
        whole = json.loads(self.ask("path", "good/timeline/traces.otf2").stdout)
        for length in (0, 10, size // 3, size // 2, size - 9, size - 1):
            shutil.rmtree("archive", ignore_errors=True)
            shutil.copytree("good/timeline", "archive")
            os.truncate(f"archive/traces/{name}", length)
            with self.subTest(length=length):
                done = self.ask("path", "archive/traces.otf2")
                answer = json.loads(done.stdout)
                if length == size - 1:  # the mark behind the last event: all events are there
                    self.assertEqual((answer["lower_bound"], answer["events"]),
                                     (False, whole["events"]))
                    continue
                self.assertIs(answer["lower_bound"], True)
                self.assertLess(answer["events"], whole["events"])
                self.assertIn("DAMAGED", subprocess.run(
                    [CTASCOPE, "info", "archive/traces.otf2"], text=True, check=True,
                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout)

    def test_every_damaged_event_file_is_named(self):
        """By each verb, in text and JSON, on standard error and in what is printed."""
        names = sorted(glob.glob("good/timeline/traces/*.evt"), key=os.path.getsize)[-2:]
        names = [os.path.basename(name) for name in names]
        shutil.copytree("good/timeline", "archive")
        for name in names:
            os.truncate(f"archive/traces/{name}", os.path.getsize(f"archive/traces/{name}") // 2)
        archive, parts = "archive/traces.otf2", [f"archive/traces/{name}'" for name in names]

        def run(*words):
            return subprocess.run([CTASCOPE, *words], text=True, check=True, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE)

        for words in (("path", archive), ("path", archive, "--window", "10"),
                      ("whatif", archive, "--remove", "work"),
                      ("diff", "--time", archive, "good/timeline/traces.otf2"),
                      ("report", archive, "-o", "page.html")):
            with self.subTest(words=words):
                done = run(*words)
                for part in parts:
                    self.assertEqual(done.stderr.count(part), 1, done.stderr)
                    if words[0] in ("path", "whatif"):
                        self.assertRegex(done.stdout, f"Missing: cannot read '{part}: event [0-9]+ of [0-9]+")
        for options in ((), ("--window", "10")):
            missing = json.loads(run("path", archive, "--format", "json", *options).stdout)["missing"]
            self.assertEqual(len(missing), 2, missing)
            for part in parts:
                self.assertEqual(sum(part in text for text in missing), 1, missing)
        info = json.loads(run("info", archive, "--format", "json").stdout)["timeline"]
        self.assertEqual(info["damaged_locations"], 2)
        for part in parts:
            self.assertEqual(sum(part in text for text in info["damaged"]), 1, info)
            self.assertEqual(run("info", archive).stdout.count(part), 1)

    def test_timeline_gone(self):
        shutil.copytree("good", "run")
        shutil.rmtree("run/timeline")
        self.assertIs(json.loads(self.ask("info", "run").stdout)["totals"]["complete"], False)
        self.assertIn("no timeline", self.ask("path", "run", status=1).stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
