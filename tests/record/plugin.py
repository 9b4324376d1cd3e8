#!/usr/bin/env python3
"""A library that `ctascope cc` compiled is loaded by a program that was not: Python's ctypes, as any
plugin by dlopen(). It runs there, and what it does is recorded."""
import os
import shutil
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

    # ---- several libraries, several threads ----

    OPTIONS = (("memory", ("--memory",)), ("timeline", ("--timeline",)),
               ("both", ("--memory", "--timeline")))
    ROUNDS = 20 if not os.environ.get("CTS_TEST_LONG") else 300

    def threads(self, *flags):
        """The program of plugin-threads.c, by the machine's own compiler."""
        source = os.path.join(support.HERE, "programs", "plugin-threads.c")
        out = os.path.join(self.directory, "threads" + "".join(flags))
        self.run_("cc", "-g", *flags, source, "-o", out, "-lpthread", "-ldl")
        return out

    def copies(self, count):
        """Libraries that differ in nothing but their files."""
        paths = [os.path.join(self.directory, f"plugin-{i}.so") for i in range(count)]
        for path in paths:
            shutil.copy(self.library, path)
        return paths

    def test_threads_load_and_unload_at_once(self):
        """Each kernel is that of the library which launches it, as long as that is loaded."""
        words = (self.threads(), "rounds", str(self.ROUNDS), *self.copies(4))
        for _ in range(3):
            self.assertEqual(self.run_(*words, status=3).stdout, "end\n")
        for run, options in self.OPTIONS:
            self.assertEqual(self.record(run, *words, options=options, status=3).stdout, "end\n")
            info = self.info(run)
            self.assertEqual(len(info["ranks"]), 1)
            if run != "timeline":
                self.assertEqual(info["totals"]["launches"], 4 * self.ROUNDS)
                self.assertEqual(info["totals"]["accesses"], 4 * self.ROUNDS * 1024)
            self.assertIs(info["totals"]["complete"], True)

    def test_nothing_waits_for_the_dynamic_linker(self):
        """A constructor may wait for another thread's work, and that may be the first of all."""
        holder = self.threads("-DHOLDER", "-shared", "-fPIC")
        words = (self.threads("-rdynamic"), "hold", self.library, holder)
        self.assertEqual(self.run_(*words, status=3).stdout, "end\n")
        for run, options in self.OPTIONS:
            self.assertEqual(self.record(run, *words, options=options, status=3).stdout, "end\n")
            if run != "timeline":
                self.assertEqual(self.info(run)["totals"]["launches"], 2)

    def test_calls_in_constructors_and_destructors(self):
        library = support.compiled("plugin-static.cu", "-O1", "-shared", "-Xcompiler", "-fPIC")
        script = "import ctypes, _ctypes, sys\nfor i in range(3):\n" \
                 " library = ctypes.CDLL(sys.argv[1])\n print(library.fill(3))\n" \
                 " _ctypes.dlclose(library._handle)\n"
        words = (sys.executable, "-c", script, library)
        self.assertEqual(self.run_(*words).stdout, "93\n" * 3)
        for run, options in self.OPTIONS:
            self.assertEqual(self.record(run, *words, options=options).stdout, "93\n" * 3)
            if run != "timeline":
                self.assertEqual(self.info(run)["totals"]["launches"], 3)

    def test_what_is_unloaded_is_forgotten(self):
        """Its tables, before any CUDA call and after, and the addresses of its variables."""
        library = support.compiled("plugin-static.cu", "-O1", "-shared", "-Xcompiler", "-fPIC")
        one, other = self.copies(2)
        script = """
import ctypes, _ctypes, sys
def load(path):
    return ctypes.CDLL(path)
def unload(library):
    _ctypes.dlclose(library._handle)
unload(load(sys.argv[1]))
stays = load(sys.argv[2])
stays.type_of.argtypes = [ctypes.c_void_p]
print(stays.fill(3))
unload(load(sys.argv[1]))
goes = load(sys.argv[3])
goes.table_address.restype = ctypes.c_void_p
address = goes.table_address()
print(stays.type_of(address))
unload(goes)
print(stays.type_of(address), stays.fill(3))
"""
        copy = os.path.join(self.directory, "copy.so")
        shutil.copy(library, copy)
        words = (sys.executable, "-c", script, one, library, copy)
        self.assertEqual(self.run_(*words).stdout, "93\n2\n0 93\n")
        self.assertEqual(self.record("run", *words).stdout, "93\n2\n0 93\n")
        tables = [row for row in self.table("run", "allocations") if row["variable"] == "table"]
        self.assertEqual(len(tables), 2)
        self.assertEqual(len([1 for row in tables if row["freed_op"]]), 1, tables)


if __name__ == "__main__":
    support.main()
