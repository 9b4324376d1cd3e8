#!/usr/bin/env python3
"""A library that `ctascope cc` compiled is loaded by a program that was not: Python's ctypes, as any
plugin by dlopen(). It runs there, and what it does is recorded."""
import sys

import support

SUM = 3 * 1023 * 1024 // 2

SCRIPT = """
import ctypes, sys, threading
library = ctypes.CDLL(sys.argv[1])
library.fill.restype = ctypes.c_long
sums = []
threads = [threading.Thread(target=lambda: sums.append(library.fill(3))) for _ in range(3)]
for thread in threads:
    thread.start()
    thread.join()
print(library.fill(3), *sums)
"""


class Plugin(support.RecordTest):
    @classmethod
    def setUpClass(cls):
        cls.library = support.compiled("plugin.cu", "-O1", "-shared", "-Xcompiler", "-fPIC")

    def test_loaded_and_recorded(self):
        """The C library keeps 512 bytes of a thread's memory for all libraries that are loaded
        late; with half of it another plugin has room beside ours."""
        env = support.environment(GLIBC_TUNABLES="glibc.rtld.optional_static_tls=256")
        words = (sys.executable, "-c", SCRIPT, self.library)
        answer = " ".join([str(SUM)] * 4) + "\n"
        self.assertEqual(self.run_(*words, env=env).stdout, answer)
        self.assertEqual(self.record("run", *words, env=env).stdout, answer)
        totals = self.info("run")["totals"]
        self.assertEqual((totals["launches"], totals["accesses"]), (4, 4 * 1024))
        self.assertIs(totals["complete"], True)

    def test_loaded_again_and_again(self):
        """A library that is unloaded takes neither the device nor the recording with it."""
        script = "import ctypes, _ctypes, sys\nfor i in range(4):\n" \
                 " library = ctypes.CDLL(sys.argv[1])\n print(library.fill(3))\n" \
                 " _ctypes.dlclose(library._handle)\n"
        words = (sys.executable, "-c", script, self.library)
        answer = f"{SUM}\n" * 4
        self.assertEqual(self.run_(*words).stdout, answer)
        for run, options in (("memory", ("--memory",)), ("both", ("--memory", "--timeline"))):
            self.assertEqual(self.record(run, *words, options=options).stdout, answer)
            info = self.info(run)
            self.assertEqual(len(info["ranks"]), 1)
            self.assertEqual(info["totals"]["launches"], 4)
            self.assertEqual(info["totals"]["accesses"], 4 * 1024)
            self.assertIs(info["totals"]["complete"], True)


if __name__ == "__main__":
    support.main()
