#!/usr/bin/env python3
"""What orders host threads: thread_order has the order that the program made, and no more; and the
program does not notice."""
import shutil

import support


class ThreadOrder(support.RecordTest):
    @classmethod
    def setUpClass(cls):
        cls.program = support.compiled("thread-order.cu", "-O1")

    def clocks(self):
        """{number of a mark: (thread, by thread how many of its ops precede)}, and the same ops'
        places in their threads."""
        ops = {int(row["op"]): int(row["thread"]) for row in self.table("run", "calls")}
        after = {}
        for row in self.table("run", "thread_order"):
            self.assertNotEqual(ops[int(row["op"])], ops[int(row["after"])])
            after.setdefault(int(row["op"]), []).append(int(row["after"]))
        marks = {int(row["op"]): int(row["width_bytes"]) for row in self.table("run", "copies")}
        clock_of, last, places = {}, {}, {}
        for op in sorted(ops):
            thread = ops[op]
            clock = dict(clock_of.get(last.get(thread), {}))
            for other in ([last[thread]] if thread in last else []) + after.get(op, []):
                for key, value in list(clock_of[other].items()) + [(ops[other], places[other])]:
                    clock[key] = max(clock.get(key, 0), value)
            places[op] = places.get(last.get(thread), 0) + 1
            clock_of[op] = clock
            last[thread] = op
        return {number: (ops[op], places[op], clock_of[op]) for op, number in marks.items()}

    def check(self, how, options=()):
        done = self.record("run", self.program, how, options=options)
        self.assertNotIn("wrong", done.stdout)
        marks = self.clocks()

        def precedes(a, b):
            thread, place, _ = marks[a]
            return marks[b][2].get(thread, 0) >= place
        for line in done.stdout.splitlines():
            word, a, b = line.split()[:3]
            a, b = int(a), int(b)
            if word == "before":
                self.assertTrue(precedes(a, b) and not precedes(b, a), line)
            else:
                self.assertFalse(precedes(a, b) or precedes(b, a), line)
        return done.stdout

    def test_stress(self):
        """64 threads and 12 locks: each mark knows as many marks of each thread as it should."""
        done = self.record("run", self.program, "stress")
        marks = self.clocks()
        threads = {number % 100: thread for number, (thread, _, _) in marks.items()}
        numbers = {}
        for number, (thread, place, _) in marks.items():
            numbers.setdefault(number % 100, []).append(place)
        for places in numbers.values():
            places.sort()
        count = 0
        for line in done.stdout.splitlines():
            number, *expected = map(int, line.split()[1:])
            clock = marks[number][2]
            known = [sum(place <= clock.get(threads[t], 0) for place in numbers[t])
                     for t in range(len(threads))]
            self.assertEqual(known, expected, number)
            count += 1
        self.assertEqual(count, len(marks))
        self.assertGreater(count, 64 * 16)

    def test_a_handler_posts(self):
        self.record("run", self.program, "handler", timeout=300)


    def test_beside_a_timeline(self):
        for how in ("create-join", "semaphores"):
            shutil.rmtree("run", ignore_errors=True)
            self.assertTrue(self.check(how, ("--memory", "--timeline")))
        names = {row["api"] for row in self.table("run", "calls")}
        self.assertEqual(names, {"cudaMalloc", "cudaMemset"})  # each op is of its own call


def add(how):
    setattr(ThreadOrder, "test_" + how.replace("-", "_"),
            lambda self: self.assertTrue(self.check(how)))


for kind in ("create-join", "chain", "detached", "many", "pool", "futures", "readers", "semaphores",
             "barriers", "spins", "destroyed", "ends"):
    add(kind)

if __name__ == "__main__":
    support.main()
