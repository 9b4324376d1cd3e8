#!/usr/bin/env python3
"""Programs that end in every way there is: their status is kept, and what they did is recorded."""
import os
import signal

import support

FILL = 4 * 64  # accesses of one launch of fill()


class Outcomes(support.RecordTest):
    @classmethod
    def setUpClass(cls):
        cls.program = support.compiled("outcomes.cu", "-O2")

    def outcome(self, how, status, **more):
        env = support.environment(CTASCOPE_SPIN_LIMIT=1)
        return self.record("run", self.program, how, status=status, env=env, timeout=1200, **more)

    def check_run(self, launches, accesses, complete=True, ranks=1):
        info = self.info("run")
        self.assertEqual(info["totals"]["launches"], launches)
        self.assertEqual(info["totals"]["accesses"], accesses)
        self.assertIs(info["totals"]["complete"], complete)
        self.assertEqual(len(info["ranks"]), ranks)
        self.assertEqual(sum(bin(int(record["mask"], 16)).count("1")
                             for record in self.records("run")), accesses)
        self.assertIs(self.comm("run")["soundness"]["lower_bound"], not complete)
        return info

    def check_cut(self, done):
        """It ended without a farewell: what it stored is in the access files all the same."""
        self.one_line(done.stderr, "ctascope record: ", f" {FILL} accesses ",
                      "; incomplete, the program ended early")
        self.assertIs(self.info("run")["totals"]["complete"], False)
        self.assertEqual(len(self.records("run")), FILL // 32)
        self.assertIs(self.comm("run")["soundness"]["lower_bound"], True)

    def check_nothing(self, done, *reason):
        self.one_line(done.stderr, "ctascope record: nothing was recorded: ", *reason)

    # ---- no recording ----

    def test_not_instrumented(self):
        done = self.record("run", "/bin/true", status=0)
        self.check_nothing(done, "'/bin/true'", "not compiled with 'ctascope cc'")
        self.assertFalse(os.path.exists("run"))

    def test_not_instrumented_with_a_status(self):
        self.record("run", "/bin/sh", "-c", "exit 9", status=9)

    def test_program_missing(self):
        done = self.record("run", "./no-such-program", status=127)
        self.one_line(done.stderr, "ctascope record: cannot run './no-such-program': ",
                      "No such file or directory")
        done = self.record("run", "/", status=126)
        self.one_line(done.stderr, "ctascope record: cannot run '/': ")
        self.assertFalse(os.path.exists("run"))

    def test_without_cuda_calls(self):
        self.check_nothing(self.outcome("host-only", 0), "made no CUDA call")
        self.assertFalse(os.path.exists("run"))

    def test_without_a_launch(self):
        done = self.outcome("no-launch", 0)
        self.assertEqual(done.stdout, "no launch\n")
        self.check_nothing(done, "launched no kernel")
        self.check_run(0, 0)
        self.assertEqual(len(self.table("run", "allocations")), 1)

    def test_kernel_without_accesses(self):
        self.check_nothing(self.outcome("empty-kernel", 0),
                           "1 launch, but no kernel accessed memory")

    def test_killed_before_its_first_launch_ended(self):
        """The message names the program that was killed, not the shell that started it."""
        done = self.record("run", "sh", "-c", f"exec '{self.program}' killed-in-a-launch", status=128 + signal.SIGKILL)
        self.check_nothing(done, f"'{self.program}' was killed before its first launch finished")

    def test_killed_where_only_a_shell_sees_it(self):
        done = self.record("run", "sh", "-c", f"'{self.program}' killed-in-a-launch; exit 6", status=6)
        self.assertIn(f"nothing was recorded: '{self.program}' ended before its first launch finished", done.stderr)

    # ---- ends ----

    def test_right(self):
        self.one_line(self.outcome("ok", 0).stderr, "ctascope record: ", "1 launch, 256 accesses")
        self.check_run(1, FILL)

    def test_status_is_kept(self):
        self.outcome("exit-5", 5)
        self.check_run(1, FILL)

    def test_abort(self):
        self.check_cut(self.outcome("abort", 128 + signal.SIGABRT))

    def test_host_segfault(self):
        self.check_cut(self.outcome("segfault", 128 + signal.SIGSEGV))

    def test_quick_exit(self):
        """Everything that was asked for was complete before."""
        self.outcome("quick", 3)
        self.check_run(1, FILL)

    def test_quick_exit_without_sync(self):
        self.outcome("quick-without-sync", 3)
        self.assertIs(self.info("run")["totals"]["complete"], False)
        self.comm("run")
        self.ctascope("dump", "run", "--accesses")

    def test_exit_without_sync(self):
        """Queued work is done before the process ends."""
        self.outcome("exit-without-sync", 4)
        self.check_run(50, 50 * FILL)

    def test_cuda_after_main(self):
        self.outcome("atexit", 0)
        self.check_run(2, 2 * FILL)

    # ---- faults in kernels ----

    def check_fault(self, how, error, *parts):
        done = self.outcome(how, 7)
        self.assertEqual(done.stdout, error + "\n")
        first = done.stderr.splitlines(keepends=True)[0]
        self.one_line(first, "ctascope: kernel '", *parts)
        self.assertEqual(done.stderr.count("\n"), 2, done.stderr)
        info = self.info("run")
        self.assertIs(info["totals"]["complete"], True)
        self.assertEqual(["ctascope: " + message["text"] + "\n" for message in info["messages"]
                          if message["severity"] == "error"], [first])
        self.comm("run")
        return info

    def test_out_of_bounds(self):
        info = self.check_fault("wild", "cudaErrorIllegalAddress", "wild(int*, long)",
                                "CTA (3,0,0)", "thread (17,0,0)", "invalid address 0x20")
        self.assertGreaterEqual(info["totals"]["accesses"], 0)

    def test_out_of_bounds_names_the_nearest_allocation(self):
        self.check_fault("beyond", "cudaErrorIllegalAddress", "wild(int*, long)", "CTA (3,0,0)",
                         "thread (17,0,0)", ": block[-268435456], 1073741824 B before 'block'",
                         "(2048 B)")
        plain = self.run_(self.program, "beyond", status=7).stderr
        self.assertIn("block[-268435456], 1073741824 B before 'block'", plain)
        plain = self.run_(self.program, "past", status=7).stderr
        self.assertIn("block[268435456], 1073739776 B past the end of 'block' (2048 B)", plain)

    def test_null_pointer(self):
        self.check_fault("null", "cudaErrorIllegalAddress", "fill(int*, int)", "CTA (0,0,0)",
                         "thread (0,0,0)", "invalid address 0x0")

    def test_trap(self):
        self.check_fault("trap", "cudaErrorLaunchFailure", "trap(int*)", "CTA (1,0,0)",
                         "thread (5,0,0)", ": trap")

    def test_trap_before_the_first_access(self):
        done = self.outcome("trap-at-once", 7)
        said = "kernel 'trap_at_once()': CTA (0,0,0), thread (0,0,0): trap at "
        self.one_line(done.stderr.splitlines(keepends=True)[-1],
                      "ctascope record: recorded no accesses: a launch failed: " + said)
        self.ctascope("access", "run", "--fail-on", "fault", status=3)

    def test_assert(self):
        self.check_fault("assert", "cudaErrorAssert", "fail(int*)", "CTA (2,0,0)",
                         "thread (9,0,0)", "'blockIdx.x != 2 || threadIdx.x != 9' failed at ",
                         "outcomes.cu:")

    def test_barrier_that_some_never_reach(self):
        self.check_fault("barrier", "cudaErrorLaunchTimeout", "half_waits(int*)", "CTA (0,0,0)",
                         "made no progress for 1 s")

    # ---- streams of text ----

    def test_device_printf(self):
        plain = self.run_(self.program, "printf").stdout
        self.assertEqual(plain.splitlines()[:6], ["host 0"] + [f"round 0 thread {i}"
                                                             for i in range(4)] + ["host 1"])
        self.assertEqual(self.outcome("printf", 0).stdout, plain)

    def test_closed_streams(self):
        """The recorder's files do not get into the program's way, nor its into them."""
        done = self.outcome("closed", 6)
        self.one_line(done.stderr, "ctascope record: ")
        self.check_run(2, 2 * FILL)

    def test_streams_closed_before_the_first_call(self):
        done = self.outcome("closed-first", 6)
        self.one_line(done.stderr, "ctascope record: ")
        self.check_run(1, FILL)

    def test_started_without_streams(self):
        def close_all():
            for number in range(3):
                os.close(number)
        self.ctascope("record", "-o", "run", "--", self.program, "exit-5", status=5,
                      stdout=None, stderr=None, preexec_fn=close_all)
        self.check_run(1, FILL)

    # ---- processes ----

    def test_fork(self):
        done = self.outcome("fork", 0)
        self.assertEqual(done.stdout,
                         "child: cudaErrorInitializationError\nchild ended with 0\n")
        self.check_run(2, 2 * FILL)

    def test_fork_before_the_first_call(self):
        self.outcome("fork-first", 0)
        info = self.check_run(3, 3 * FILL, ranks=2)
        self.assertEqual(sorted(int(row["rank"]) for row in self.table("run", "launches")),
                         [0, 1, 1] if info["ranks"][0]["pid"] > info["ranks"][1]["pid"]
                         else [0, 0, 1])

    def test_exec(self):
        """The old image ends without a farewell, but complete; the new one is a rank of its own."""
        self.outcome("exec", 0)
        info = self.info("run")
        self.assertEqual(sorted((rank["rank"], rank["complete"]) for rank in info["ranks"]),
                         [(0, True), (1, True)])
        self.assertEqual(info["totals"]["accesses"], 2 * FILL)
        self.comm("run")

    def test_spawned_program(self):
        done = self.outcome("spawn", 0)
        self.assertEqual(done.stdout, "child ended with 5\n")
        self.check_run(2, 2 * FILL, ranks=2)


if __name__ == "__main__":
    support.main()
