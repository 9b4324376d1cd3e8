"""Ranks of a training, whose times are known (training.py), imported and analysed: what NCCL's kernels
wait for, whose delay it was, what the step takes without it, and the same with clocks that differ
and recordings that begin late: ranks.py CTASCOPE WORK [TEST...]."""
import json
import os
import shutil
import subprocess
import sys
import unittest

sys.path.insert(1, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from count import test_count
from training import BUCKETS, Delay, Model

CTASCOPE, WORK = sys.argv[1], sys.argv[2]
DELAYED = {"loader": "train.py(12): next_batch", "python": "train.py(20): augment",
           "copy": "copy host to device", "kernel": "slow_gemm", "stream": "side_kernel"}


def ctascope(*arguments):
    done = subprocess.run([CTASCOPE, *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise AssertionError(f"{arguments}: {done.returncode}\n{done.stderr}")
    return done


def import_model(model):
    folder = os.path.join(WORK, "traces")
    shutil.rmtree(folder, ignore_errors=True)
    model.write(folder)
    return ctascope("import", folder, "-o", os.path.join(WORK, "run"), "--force").stderr


def path(*options):
    return json.loads(ctascope("path", os.path.join(WORK, "run"), "--format", "json",
                               *options).stdout)


def nccl_wait_us(answer):
    return sum(p["time_ns"] for p in answer["patterns"] if p["pattern"] == "NCCL wait") / 1000


def warnings(answer):
    return {w["text"].split(":")[0]: w["count"] for w in answer["warnings"]}


class Ranks(unittest.TestCase):
    def test_waits_are_the_models(self):
        for ranks in (2, 5):
            for said in ({}, {"numbered": False}, {"numbered": False, "described": False}):
                model = Model(ranks, 6, [Delay(1, 2, "loader", 3000)], **said)
                import_model(model)
                answer = path()
                # the clocks are fitted, to ends that differ by up to 2 us
                self.assertAlmostEqual(nccl_wait_us(answer), model.waits_us,
                                       delta=2 * ranks * model.collectives)
                self.assertEqual(answer["wait_ns"], answer["blame_ns"])

    def test_delay_is_named(self):
        """Rank, activity and amount of a delay, and the time of the step without it."""
        whole = Model(2, 6)
        whole.run()
        for where in DELAYED:
            for delay_us in (200000, 5000)[:test_count(1, 2)] if where != "loader" else (20000,):
                import_model(model := Model(2, 6, [Delay(1, 3, where, delay_us)]))
                answer = path()
                row = next(a for a in answer["activities"] if a["activity"] == DELAYED[where])
                self.assertEqual(row["rank_most"], 1)
                self.assertAlmostEqual(row["longest_ns"] / 1000, delay_us, delta=500)
                worst = max(answer["ranks"], key=lambda r: r["delayed_ns"])
                self.assertEqual((worst["rank"], worst["longer_activity"]), (1, DELAYED[where]))
                self.assertAlmostEqual(worst["longer_ns"] / 1000, delay_us,
                                       delta=max(0.05 * delay_us, 200) + 400)
                blamed = max(answer["activities"], key=lambda a: a["blame_ns"])
                if delay_us > 100000:
                    self.assertEqual(blamed["activity"], DELAYED[where])
                rest = 1 - delay_us * 1000 / row["rank_most_ns"]
                projected = json.loads(ctascope(
                    "whatif", os.path.join(WORK, "run"), "--format", "json", "--scale",
                    f"rank 1: {DELAYED[where]}={rest}").stdout)["projected_ns"] / 1000
                self.assertLess(abs(projected - whole.ends[-1]) / whole.ends[-1], 0.03)
                self.assertGreater(model.ends[-1] - whole.ends[-1], delay_us * 0.9)

    def test_traces_open_directly(self):
        """The answer of the imported run, and nothing is left in TMPDIR, also after a failure."""
        import_model(Model(2, 3, [Delay(1, 1, "python", 2000)]))
        traces, temporary = os.path.join(WORK, "traces"), os.path.join(WORK, "tmp")
        shutil.rmtree(temporary, ignore_errors=True)
        os.makedirs(temporary)
        imported = path()
        for given in ([traces], [os.path.join(traces, "rank-0.json"),
                                 os.path.join(traces, "rank-1.json")],
                      [os.path.join(traces, "rank-?.json")]):
            done = subprocess.run([CTASCOPE, "path", *given, "--format", "json"],
                                  capture_output=True, text=True, check=True,
                                  env={**os.environ, "TMPDIR": temporary})
            answer = json.loads(done.stdout)
            self.assertEqual(answer.pop("trace"), given[0])
            self.assertEqual(answer, {k: v for k, v in imported.items() if k != "trace"})
            self.assertEqual(os.listdir(temporary), [])
        for given in (["path", traces, os.path.join(WORK, "run")],
                      ["whatif", traces, "--scale", "no such activity=1"],
                      ["diff", traces, os.path.join(WORK, "nothing")]):
            done = subprocess.run([CTASCOPE, *given], capture_output=True, text=True, check=False,
                                  env={**os.environ, "TMPDIR": temporary})
            self.assertIn(done.returncode, (1, 2))
            self.assertEqual(os.listdir(temporary), [])
        done = subprocess.run([CTASCOPE, "diff", traces, traces], capture_output=True, text=True,
                              check=True, env={**os.environ, "TMPDIR": temporary})
        self.assertIn(f"before: {traces}", done.stdout)
        self.assertEqual(os.listdir(temporary), [])

    def test_whatif_reproduces(self):
        import_model(Model(3, 4, [Delay(2, 1, "kernel", 2000)]))
        answer = json.loads(ctascope("whatif", os.path.join(WORK, "run"), "--format", "json",
                                     "--scale", "optimizer=1").stdout)
        self.assertEqual(answer["projected_ns"], answer["runtime_ns"])

    def test_first_collectives_lost(self):
        for lost in (1, 3, 2 * BUCKETS + 1):
            for said in ({}, {"numbered": False}, {"numbered": False, "described": False}):
                model = Model(3, 6, dropped={0: lost}, **said)
                import_model(model)
                answer = path()
                kernels = sum(a["calls"] for a in answer["activities"]
                              if a["activity"].startswith("nccl"))
                self.assertEqual(kernels, 3 * model.collectives - lost)
                found = warnings(answer)
                self.assertNotIn("kernels of collectives that fit other ranks' in several ways or "
                                 "in none", found)
                self.assertLess(nccl_wait_us(answer), model.waits_us + 6 * model.collectives)
                self.assertGreater(nccl_wait_us(answer), 0.5 * model.waits_us)

    def test_clocks_that_differ(self):
        """3 s and 50 ppm: every time within the residual that the import states."""
        delays = [Delay(0, 2, "loader", 4000)]
        import_model(Model(3, 8, delays))
        before = path()
        said = import_model(Model(3, 8, delays, clocks={1: (3000000000, 50), 2: (-70000, -20)}))
        self.assertIn("clocks of 2 ranks aligned", said)
        residual_us = float(said.split("agree within ")[1].split()[0])
        self.assertLess(residual_us, 5)
        after = path()
        collectives = 8 * BUCKETS
        self.assertAlmostEqual(nccl_wait_us(after), nccl_wait_us(before),
                               delta=3 * collectives * residual_us)
        self.assertAlmostEqual(after["path_ns"] / 1000, before["path_ns"] / 1000, delta=10)
        longest = [next(a for a in answer["activities"] if a["activity"] == DELAYED["loader"])
                   for answer in (before, after)]
        self.assertAlmostEqual(longest[0]["longest_ns"], longest[1]["longest_ns"],
                               delta=longest[0]["longest_ns"] * 60e-6 + 1000)

    def test_clocks_that_cannot_be_aligned(self):
        said = import_model(Model(2, 6, noise=0, numbered=False, clocks={1: (3000000000, 0)}))
        self.assertIn("cannot be aligned", said)
        answer = path()
        self.assertEqual(nccl_wait_us(answer), 0)
        self.assertEqual(warnings(answer)["kernels of collectives that fit other ranks' in several "
                                          "ways or in none"], 6 * BUCKETS)


if __name__ == "__main__":
    os.makedirs(WORK, exist_ok=True)
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
