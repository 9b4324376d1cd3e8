#!/usr/bin/env python3
"""Where a recording goes, and whose runs it leaves alone; several processes in one run."""
import os
import shutil
import sqlite3
import unittest

import support

FILL = 4 * 64  # accesses of the program


def content(directory):
    """Every file below a directory, with its bytes."""
    found = {}
    for folder, _, names in os.walk(directory):
        for name in names:
            path = os.path.join(folder, name)
            with open(path, "rb") as file:
                found[os.path.relpath(path, directory)] = file.read()
    return found


class Directories(support.RecordTest):
    @classmethod
    def setUpClass(cls):
        cls.program = support.compiled("outcomes.cu", "-O2")

    def refused(self, run, *parts, options=(), how="ok"):
        """Nothing is run, and one line says why."""
        done = self.record(run, self.program, how, options=options, status=125)
        self.one_line(done.stderr, "ctascope record: ", *parts)
        self.assertEqual(done.stdout, "")

    def test_existing_run(self):
        self.record("run", self.program, "ok")
        before = content("run")
        self.refused("run", "'run' is not empty: it already holds a run")
        self.assertEqual(content("run"), before)
        self.record("run", self.program, "exit-5", options=("--force",), status=5)
        info = self.info("run")
        self.assertEqual(len(info["ranks"]), 1)
        self.assertTrue(info["run"]["command"].endswith(" exit-5"))
        self.assertEqual(sorted(os.listdir(".")), ["run"])

    def test_force_replaces_only_runs(self):
        os.mkdir("thesis")
        for name, text in (("chapter.tex", "years"), ("run.txt", "no run")):
            with open(f"thesis/{name}", "w", encoding="utf-8") as file:
                file.write(text)
        before = content("thesis")
        for options in ((), ("--force",)):
            self.refused("thesis", "'thesis' is not empty and not a run", options=options)
        self.assertEqual(content("thesis"), before)
        # somebody else's database of the same name
        os.mkdir("other")
        database = sqlite3.connect("other/run.db")
        database.execute("CREATE TABLE mine (x)")
        database.commit()
        database.close()
        before = content("other")
        for options in ((), ("--force",)):
            self.refused("other", "'other' is not empty and not a run", options=options)
        self.assertEqual(content("other"), before)

    def test_force_does_not_follow_links(self):
        self.record("run", self.program, "ok")
        os.mkdir("precious")
        with open("precious/file", "w", encoding="utf-8") as file:
            file.write("x")
        os.rename("run/rank-0", "elsewhere")
        os.symlink("../elsewhere", "run/rank-0")
        self.refused("run", "'run' holds 'rank-0'", options=("--force",))
        os.remove("run/rank-0")
        os.symlink("../precious", "run/.process-of-old")
        self.record("run", self.program, "ok", options=("--force",))
        self.assertEqual(os.listdir("precious"), ["file"])
        self.assertFalse(os.path.lexists("run/.process-of-old"))

    def test_force_where_a_run_cannot_be_replaced_whole(self):
        """A link to it would be; and from inside no relative path would lead out again."""
        self.record("run", self.program, "ok")
        whole = content("run")
        os.symlink("run", "link")
        self.refused("link", "'link' is a symbolic link", options=("--force",))
        os.chdir("run")
        self.addCleanup(os.chdir, "..")
        self.refused("../run", "cannot replace '../run' from inside", options=("--force",))
        self.assertEqual(content("../run"), whole)
        self.assertEqual(os.readlink("../link"), "run")

    def test_force_keeps_files_of_others(self):
        """Also those that have a run's names in another place, and those in a folder of the run."""
        self.record("run", self.program, "ok", options=("--timeline", "--memory"))
        whole = content("run")
        for name in ("NOTES.txt", ".hidden", "rank-0/notes", "rank-0/run.db", "timeline/0.acc",
                     "rank-0/1.acc.bak", "rank-x/0.acc", "results/table.csv", "timeline/traces/my.def"):
            folder = os.path.dirname(f"run/{name}")
            is_new = not os.path.isdir(folder)
            os.makedirs(folder, exist_ok=True)
            with open(f"run/{name}", "w", encoding="utf-8") as file:
                file.write("mine")
            named = os.path.dirname(name) if is_new else name
            self.refused("run", f"'run' holds '{named}', which is no part of a run",
                         options=("--force",))
            self.assertEqual(content("run"), {**whole, name: b"mine"})
            os.remove(f"run/{name}")
            if is_new:
                os.rmdir(folder)
        self.record("run", self.program, "ok", options=("--force",))
        self.assertFalse(os.path.exists("run/timeline"))

    def test_a_run_without_accesses_keeps_files_of_others(self):
        """A recording that holds nothing is removed, but not what the program wrote into it."""
        self.record("run", "sh", "-c", "echo mine > run/NOTES.txt")
        self.assertEqual(content("run")["NOTES.txt"], b"mine\n")

    def test_empty_directory_is_used(self):
        os.mkdir("run")
        self.record("run", self.program, "ok")
        self.assertEqual(self.info("run")["totals"]["accesses"], FILL)

    def test_file_in_the_way(self):
        with open("run", "w", encoding="utf-8") as file:
            file.write("a file")
        for options in ((), ("--force",)):
            self.refused("run", "'run'", "Not a directory", options=options)
        with open("run", encoding="utf-8") as file:
            self.assertEqual(file.read(), "a file")

    def test_parent_missing_or_not_writable(self):
        self.refused("no/such/run", "'no/such/run'", "No such file or directory")
        self.refused("/proc/run", "'/proc/run'")
        self.refused("/dev/null/run", "'/dev/null/run'", "Not a directory")
        if os.getuid() != 0:
            os.mkdir("closed", 0o500)
            self.refused("closed/run", "'closed/run'", "Permission denied")

    def test_default_names(self):
        os.mkdir("ctascope-run-3")
        with open("ctascope-run-3/notes", "w", encoding="utf-8") as file:
            file.write("x")
        for name in ("ctascope-run", "ctascope-run-2", "ctascope-run-4"):
            done = self.ctascope("record", self.program, "ok")
            self.one_line(done.stderr, f"ctascope record: '{os.path.realpath('.')}/{name}': ")
            self.assertEqual(self.info(name)["totals"]["accesses"], FILL)

    def test_relative_path_and_a_program_that_changes_directory(self):
        os.mkdir("elsewhere")
        done = self.record("run", "sh", "-c", f"cd elsewhere && exec '{self.program}' ok")
        self.one_line(done.stderr, "ctascope record: ")
        self.assertEqual(os.listdir("elsewhere"), [])
        self.assertEqual(self.info("run")["totals"]["accesses"], FILL)

    def test_name_with_every_kind_of_character(self):
        name = "a run's 100% \"näme\" ?#&"
        self.record(name, self.program, "ok")
        self.assertEqual(self.info(name)["totals"]["accesses"], FILL)
        self.comm(name)
        self.ctascope("dump", name, "--accesses")

    def test_environment_alone(self):
        """Without `record`: the variable is enough, and a run that is there is not touched."""
        env = support.environment(CTASCOPE_RUN="run")
        self.run_(self.program, "ok", env=env)
        self.assertEqual(self.info("run")["totals"]["accesses"], FILL)
        before = self.ctascope("dump", "run", "--format", "json").stdout
        done = self.run_(self.program, "ok", env=env)
        self.one_line(done.stderr, "ctascope: 'run' is not empty: it already holds a run; nothing ",
                      "is recorded")
        self.assertEqual(self.ctascope("dump", "run", "--format", "json").stdout, before)
        self.assertEqual(sorted(os.listdir("run")), ["rank-0", "run.db"])

    # ---- several processes ----

    def check_ranks(self, run, ranks):
        info = self.info(run)
        self.assertEqual([rank["rank"] for rank in info["ranks"]], list(ranks))
        self.assertTrue(info["totals"]["complete"])
        self.assertEqual(info["totals"]["accesses"], FILL * len(ranks))
        self.assertEqual(len(self.records(run)), FILL * len(ranks) // 32)
        comm = self.comm(run)
        self.assertEqual(comm["totals"]["launches"], len(ranks))
        self.assertIs(comm["soundness"]["lower_bound"], False)
        # each rank wrote its own array; equal addresses of two ranks are two places
        self.assertEqual(comm["totals"]["global_written_unique_bytes"], 4 * FILL * len(ranks))
        self.assertEqual(comm["totals"]["received_bytes"], 0)
        self.assertEqual(comm["totals"]["conflict_bytes"], 0)

    def test_processes_of_one_script(self):
        script = " & ".join([f"'{self.program}' ok"] * 6) + " & wait"
        self.record("run", "sh", "-c", script)
        self.check_ranks("run", range(6))

    def test_records_of_one_mpi_job(self):
        """As mpirun starts them: one `record` around each rank, in no order."""
        def start(rank, job, *options):
            env = support.environment(OMPI_COMM_WORLD_RANK=rank, OMPI_COMM_WORLD_SIZE=4,
                                      PMIX_NAMESPACE=job)
            return self.start(support.ctascope_path, "record", "-o", "run", *options, "--",
                              self.program, "ok", env=env, stderr=support.subprocess.PIPE)
        processes = [start(rank, "job-1") for rank in (2, 0, 3, 1)]
        for process in processes:
            self.assertEqual((process.wait(60), process.stderr.read().count("\n")), (0, 1))
        self.check_ranks("run", range(4))
        other = start(0, "job-2")
        self.assertEqual(other.wait(60), 125)
        self.one_line(other.stderr.read(), "ctascope record: 'run' is not empty: it already holds a run")
        processes = [start(rank, "job-3", "--force") for rank in (0, 1)]
        for process in processes:
            self.assertEqual(process.wait(60), 0, process.stderr.read())
        self.check_ranks("run", range(2))

    @unittest.skipUnless(shutil.which("mpirun"), "no mpirun here")
    def test_mpirun(self):
        env = support.environment(OMPI_ALLOW_RUN_AS_ROOT=1, OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1)
        job = ("mpirun", "--oversubscribe", "-n", "2")
        record = (support.ctascope_path, "record", "-o", "run", "--")
        self.run_(*job, *record, self.program, "ok", env=env)
        self.check_ranks("run", range(2))
        self.ctascope("record", "-o", "outside", "--", *job, self.program, "ok", env=env)
        self.check_ranks("outside", range(2))


if __name__ == "__main__":
    support.main()
