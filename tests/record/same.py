#!/usr/bin/env python3
"""Recording changes no result: programs that print the bits of what their kernels compute print the
same recorded and unrecorded, at every optimisation, on one worker and on several."""
import support


class Same(support.RecordTest):
    def check(self, words, *arguments, status=0):
        program = support.compiled(*words)
        for deterministic in ("1", "0"):
            env = support.environment(CTASCOPE_DETERMINISTIC=deterministic)
            plain = self.run_(program, *arguments, env=env, status=status).stdout
            self.assertTrue(plain)
            run = f"run-{deterministic}"
            done = self.record(run, program, *arguments, env=env, status=status,
                               options=("--force",))
            self.assertEqual(done.stdout, plain, f"{words} deterministic {deterministic}")
            self.assertGreater(self.info(run)["totals"]["accesses"], 0)

    def test_digits(self):
        for level in ("-O0", "-O2", "-O3"):
            self.check(("digits.cu", level))

    def test_digits_without_fused_operations(self):
        self.check(("digits.cu", "-O2", "-fmad=false"))

    def test_integers(self):
        self.check(("launches.cu", "-O2"), "20", "8", status=3)


if __name__ == "__main__":
    support.main()
