"""Programs that end in all ways: what was seen until then is in an archive that can be read, the
program's status is its own, and what goes wrong is said in one line."""
import os
import signal
import subprocess

import traces
from traces import support


class Ends(traces.TimelineTest):
    def ends(self, *words, status):
        done = self.record_timeline("run", traces.program("ends"), *words, status=status)
        return self.trace("run"), done

    def assert_work_before(self, trace):
        self.only(trace.kernels("quick"), 10)
        first = self.only(trace.calls("cudaDeviceSynchronize")[:1])
        self.assertLessEqual(max(k.end for k in trace.kernels("quick")), first.end)

    def test_segmentation_fault(self):
        trace, _ = self.ends("segv", "5000", status=128 + signal.SIGSEGV)
        self.assert_work_before(trace)
        self.assertEqual(len(trace.calls("cudaLaunchKernel")), 11)

    def test_abort(self):
        trace, _ = self.ends("abort", "5000", status=128 + signal.SIGABRT)
        self.assert_work_before(trace)

    def test_exit_without_handlers(self):
        trace, _ = self.ends("quick-exit", "5000", status=3)
        self.assert_work_before(trace)

    def test_work_that_is_under_way_at_exit_is_recorded(self):
        trace, _ = self.ends("exit", "100", status=4)
        self.assert_work_before(trace)
        slow = self.only(trace.kernels("slow"))
        self.assertGreaterEqual(slow.length, 100 * traces.MS)

    def test_kill_while_the_host_waits(self):
        command = [support.ctascope_path, "record", "--timeline", "-o", "run", "--",
                   traces.program("ends"), "hang", "600000"]
        process = self.start(*command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(process.stdout.readline(), "waiting\n")
        children = f"/proc/{process.pid}/task/{process.pid}/children"
        with open(children, encoding="utf-8") as file:
            child = int(file.read().split()[0])
        self.wait_for(lambda: self.sleeps(child), "the program waits")
        os.kill(child, signal.SIGKILL)
        process.communicate(timeout=1200)
        self.assertEqual(process.returncode, 128 + signal.SIGKILL)
        trace = self.trace("run")
        self.assert_work_before(trace)
        self.assertEqual(trace.kernels("slow"), [], "it had not ended")
        self.assertEqual(len(trace.calls("cudaDeviceSynchronize")), 2, "it had been entered")

    @staticmethod
    def sleeps(pid):
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rsplit(")", 1)[1].split()[0] == "S"

    def test_a_fault_of_a_kernel(self):
        trace, done = self.ends("kernel-fault", status=0)
        self.assertIn("invalid address 0x8", done.stderr)
        self.assertEqual(len(trace.kernels("quick")), 11)
        failed = trace.calls("cudaDeviceSynchronize")[-1]
        self.assertEqual(failed.leave["CUDA_DRV_API_RESULT"], 700)

    def test_fork_before_the_first_call(self):
        trace, _ = self.ends("fork-first", status=0)
        self.assertEqual(len(trace.kernels("quick")), 11)
        per_process = [len(s.activities(r"quick.*")) for s in trace.streams()]
        self.assertEqual(sorted(per_process), [1, 10])

    def test_fork_later(self):
        trace, _ = self.ends("fork-later", status=0)
        self.assert_work_before(trace)
        refused = [c for c in trace.calls("cudaDeviceSynchronize")
                   if c.leave.get("CUDA_DRV_API_RESULT") == 3]
        self.assertEqual(len(refused), 1)

    def run_with_library(self, source=None):
        """A program with our library in another place, beside a recorder made from `source`."""
        os.mkdir("lib")
        build = os.path.dirname(os.path.dirname(support.ctascope_path))
        os.symlink(os.path.join(build, "lib", "ctascope", "libctascope_cpu.so"),
                   os.path.join("lib", "libctascope_cpu.so"))
        if source:
            self.run_("gcc", "-shared", "-fPIC", "-x", "c", "-", "-o",
                      "lib/libctascope_timeline.so", input=source)
        return self.run_(traces.program("ends"), "return", env=support.environment(
            CTASCOPE_TIMELINE=1, LD_LIBRARY_PATH=os.path.abspath("lib"))).stderr

    def test_the_recorder_is_missing(self):
        self.one_line(self.run_with_library(), "ctascope: no timeline is recorded: ",
                      "libctascope_timeline.so", "No such file")

    def test_the_recorder_is_of_another_version(self):
        source = "const void *cts_recorder_get(void) { static unsigned v[100] = {99}; return v; }"
        self.one_line(self.run_with_library(source), "ctascope: no timeline is recorded: ",
                      "libctascope_timeline.so' is of version 99, not 4")

    def test_off(self):
        """Without --timeline there is none."""
        self.record("run", traces.program("ends"), "return")
        self.assertFalse(os.path.exists(os.path.join("run", "timeline")))


if __name__ == "__main__":
    traces.main()
