#!/usr/bin/env python3
"""Threads that wait for each other: which call waited, and what let it go on, in the archive and as
`path` tells it; and nothing of locks that nobody waited for."""
import json
import os

import traces
from traces import support

PROGRAM = os.path.join(traces.HERE, "programs", "threads.cu")


class Threads(traces.TimelineTest):
    @classmethod
    def setUpClass(cls):
        cls.program = support.compiled("-O2", PROGRAM, "-lpthread")

    def recorded(self, how):
        self.record_timeline("run", self.program, how)
        trace = self.trace("run")
        master, *others = trace.threads()
        return trace, master, others

    def waits(self, pattern):
        """What path lists of a pattern: where, for whom."""
        said = json.loads(self.ctascope("path", "run", "--format", "json", "--limit", "0").stdout)
        return [(wait["location"], wait["waits_for"]) for wait in said["longest_waits"]
                if wait["pattern"] == pattern]

    def check(self, how, call, release, pattern, kind="enter"):
        """The first thread's `call` goes on when the other one is at `release`."""
        trace, master, (other,) = self.recorded(how)
        waited = self.only(master.activities(call)[:1])
        number = waited.leave["CTASCOPE_RELEASED_BY"]
        gave = self.only([a for a in other.activities(release)
                          if getattr(a, kind).get("CTASCOPE_RELEASE") == number])
        at = gave.start if kind == "enter" else gave.end
        self.assertLess(waited.start, at)
        self.assertLess(at, waited.end)
        self.assertEqual(self.waits(pattern)[0], ("Master thread", "Thread 1"))
        self.assertIn("WAIT", str(trace.regions[call]["Role"]).upper())

    def test_join(self):
        self.check("join", "pthread_join", r"thread releases", "thread join", "leave")

    def test_exit(self):
        self.check("exit", "pthread_join", r"thread releases", "thread join", "leave")

    def test_mutex(self):
        self.check("mutex", "pthread_mutex_lock", "pthread_mutex_unlock", "thread lock")

    def test_lock_of_readers_and_writers(self):
        self.check("readers", "pthread_rwlock_rdlock", "pthread_rwlock_unlock", "thread lock")

    def test_semaphore(self):
        self.check("semaphore", "sem_wait", "sem_post", "thread signal")

    def test_barrier(self):
        self.check("barrier", "pthread_barrier_wait", "pthread_barrier_wait", "thread barrier")

    def test_signal(self):
        self.check("signal", "pthread_cond_wait", "pthread_(cond_signal|mutex_unlock)",
                   "thread signal")

    def test_broadcast(self):
        self.check("broadcast", "pthread_cond_wait", "pthread_(cond_broadcast|mutex_unlock)",
                   "thread signal")

    def test_creation(self):
        _, master, (other,) = self.recorded("join")
        created = self.only(master.activities("pthread_create"))
        begun = other.activities()[0]
        self.assertEqual(begun.enter["CTASCOPE_RELEASED_BY"], created.enter["CTASCOPE_RELEASE"])
        self.assertEqual(begun.name, "thread releases")

    def test_cpp(self):
        """Locks that nobody waits for are not there."""
        trace, master, (other,) = self.recorded("cpp")
        self.assertGreaterEqual(len(master.activities("pthread_cond_wait")), 1)
        self.assertEqual(other.activities()[0].name, "thread")
        self.assertLessEqual(trace.counts()["pthread_mutex_lock"], 2)
        self.assertEqual(self.waits("thread signal")[0], ("Master thread", "Thread 1"))

    def test_the_program_ends_with_the_wait(self):
        """What ended the last wait is there."""
        _, master, (other,) = self.recorded("end")
        waited = master.activities("pthread_cond_wait")[-1]
        gave = [a.enter.get("CTASCOPE_RELEASE") for a in other.activities()]
        self.assertIn(waited.leave["CTASCOPE_RELEASED_BY"], gave)

    def test_a_pool_that_is_older_than_the_recording(self):
        """Its thread has waited since before the recording began, and is no work on the path."""
        _, master, (other,) = self.recorded("pool")
        waited = self.only(other.activities("pthread_cond_wait"))
        self.assertLess(waited.start, master.activities("cudaMalloc")[0].start)
        gave = [a.enter.get("CTASCOPE_RELEASE") for a in
                master.activities("pthread_(cond_signal|mutex_unlock)")]
        self.assertIn(waited.leave["CTASCOPE_RELEASED_BY"], gave)
        self.assertIn(("Thread 1", "Master thread"), self.waits("thread signal"))

    def test_wait_that_is_not_recorded(self):
        """The thread is on the path only while main waits for its end."""
        _, master, (other,) = self.recorded("polls")
        joined = self.only(master.activities("pthread_join"))
        thread = self.only(other.activities("thread polls"))
        self.assertLess(thread.leave["CTASCOPE_CPU_TIME"], (thread.end - thread.start) // 2)
        said = json.loads(self.ctascope("path", "run", "--format", "json", "--limit", "0").stdout)
        self.assertEqual(said["threads_blocked"], 1)
        row = self.only([r for r in said["activities"] if r["activity"] == "thread polls"])
        self.assertLessEqual(row["path_ns"], joined.end - joined.start)
        self.assertIn("Thread 1 used the CPU for", self.ctascope("path", "run").stdout)

    def test_nothing(self):
        """Nobody ended these waits."""
        trace, master, _ = self.recorded("nothing")
        timed = self.only(master.activities("pthread_cond_timedwait"))
        self.assertNotIn("CTASCOPE_RELEASED_BY", timed.leave)
        self.assertEqual(trace.calls("pthread_cond_(wait|signal)"), [])
        self.assertEqual(self.waits("thread signal"), [])


if __name__ == "__main__":
    traces.main()
