#!/usr/bin/env python3
"""What `ctascope doctor` says of this machine, and of machines that have less: no clang, a driver
without a device, one that is too old, one whose CUDA cannot be initialised."""
import glob
import json
import os
import unittest

import support

FAKE_DRIVER = """
#define WITHOUT(name) int name(void) { return 0; }
int cuInit(unsigned flags) { (void)flags; return INIT; }
int cuDriverGetVersion(int *version) { *version = 12040; return 0; }
int cuDeviceGetCount(int *count) { *count = DEVICES; return 0; }
int cuDeviceGet(int *device, int i) { *device = i; return 0; }
int cuDeviceGetName(char *name, int bytes, int device) {
    (void)bytes; name[0] = 'X'; name[1] = (char)('0' + device); name[2] = 0; return 0; }
int cuDeviceGetAttribute(int *value, int which, int device) {
    (void)device; *value = which == 75 ? 9 : 0; return 0; }
int cuDeviceTotalMem_v2(unsigned long *bytes, int device) {
    (void)device; *bytes = 8ul << 30; return 0; }
int cuGetErrorString(int result, const char **text) {
    *text = result == 803 ? "system has unsupported display driver" : "no device"; return 0; }
WITHOUT(cuDevicePrimaryCtxRetain) WITHOUT(cuCtxSetCurrent) WITHOUT(cuModuleLoadData)
WITHOUT(cuModuleGetFunction) WITHOUT(cuMemAlloc_v2) WITHOUT(cuMemcpyHtoD_v2)
WITHOUT(cuMemcpyDtoH_v2) WITHOUT(cuCtxSynchronize)
#ifndef OLD
int cuLaunchKernel(void) { return 1; }
#endif
"""


class Doctor(support.RecordTest):
    def doctor(self, *options, status=0, **more):
        return self.ctascope("doctor", "--format", "json", *options, status=status, **more)

    def parts(self, done):
        return {part["name"]: part for part in json.loads(done.stdout)["parts"]}

    def recorders(self, done):
        return {one["name"]: one for one in json.loads(done.stdout)["recorders"]}

    def with_driver(self, *definitions, status=0, options=("--no-test",)):
        with open("driver.c", "w", encoding="utf-8") as file:
            file.write(FAKE_DRIVER)
        self.run_("cc", "-shared", "-fPIC", *definitions, "driver.c", "-o", "libcuda.so.1")
        return self.doctor(*options, status=status,
                           env=support.environment(LD_LIBRARY_PATH=self.directory))

    def test_cpu_device_is_tried(self):
        done = self.doctor(status=None)
        for name in ("CPU device, memory", "CPU device, timeline"):
            one = self.recorders(done)[name]
            self.assertTrue(one["tested"] and one["works"], one)
        self.assertIn("768 accesses in 24 records",
                      self.recorders(done)["CPU device, memory"]["outcome"])
        self.assertEqual(glob.glob(self.directory + "/*"), [])

    def test_what_is_absent_has_a_remedy(self):
        for part in self.parts(self.doctor("--no-test")).values():
            self.assertEqual(part["found"], part["remedy"] is None, part)
            self.assertTrue(part["detail"], part)

    def test_without_clang_the_cpu_device_is_not_there(self):
        empty = os.path.join(self.directory, "bin")
        os.mkdir(empty)
        done = self.doctor(status=None, env=support.environment(PATH=empty))
        self.assertFalse(self.parts(done)["clang 19"]["found"])
        one = self.recorders(done)["CPU device, memory"]
        self.assertFalse(one["possible"] or one["tested"] or one["works"], one)
        self.assertIn("clang 19 is missing", one["outcome"])
        works = [other for other in self.recorders(done).values() if other["works"]]
        self.assertEqual(done.returncode, 0 if works else 4)

    def test_devices_are_named(self):
        gpu = self.parts(self.with_driver("-DINIT=0", "-DDEVICES=2"))["GPU"]
        self.assertTrue(gpu["found"], gpu)
        self.assertEqual(gpu["detail"], "CUDA 12.4: X0 (9.0, 8.0 GiB), X1 (9.0, 8.0 GiB)")

    def test_a_driver_that_cannot_be_used_is_said(self):
        for definitions, text in ((("-DINIT=0", "-DDEVICES=0"), "the driver has no device"),
                                  (("-DINIT=803", "-DDEVICES=1"),
                                   "CUDA cannot be initialised: system has unsupported"),
                                  (("-DINIT=0", "-DDEVICES=1", "-DOLD"),
                                   "the driver has no cuLaunchKernel: it is too old")):
            done = self.with_driver(*definitions)
            gpu = self.parts(done)["GPU"]
            self.assertFalse(gpu["found"])
            self.assertIn(text, gpu["detail"])
            self.assertIn(text, self.recorders(done)["GPU, memory, any program"]["outcome"])

    def test_a_recorder_that_fails_is_no_success(self):
        parts = self.parts(self.doctor("--no-test"))
        if not parts["GPU memory recorder"]["found"] or not parts["GPU patches"]["found"]:
            self.skipTest("no GPU memory recorder was built")
        os.mkdir("compute-sanitizer")
        open("compute-sanitizer/libsanitizer-public.so", "w", encoding="utf-8").close()
        os.environ["CUDA_HOME"] = self.directory
        self.addCleanup(os.environ.pop, "CUDA_HOME")
        done = self.with_driver("-DINIT=0", "-DDEVICES=1", status=4, options=())
        one = self.recorders(done)["GPU, memory, any program"]
        self.assertTrue(one["possible"] and one["tested"] and not one["works"], one)
        self.assertIn("recording failed with status", one["outcome"])


if __name__ == "__main__":
    support.main()
