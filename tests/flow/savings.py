#!/usr/bin/env python3
"""What findings save, in examples with closed forms: of fusion the bytes that pass and those that both kernels load; of a dead launch
its time, from a timeline of the same program.
savings.py BUILD_DIR"""
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
EXAMPLES = os.path.join(HERE, "..", "..", "examples")
PIXELS = 64 * 64 * 4
# Of each iteration of srad: c is neither stored nor loaded, and the image is loaded once less. Of each pair of rounds
# of pipeline: the sums, of eight bytes each, are neither stored nor loaded.
CASES = {"srad": (["64", "3"], ("coefficients", "diffuse", "neighbour", 3, 3 * 3 * PIXELS)),
         "pipeline": (["1000", "4"], ("consume", "consume", "same CTA", 3, 3 * 2 * 8 * 1000))}
# The state is read by `use` and by `grow` of the next step: one kernel spares the load alone, also in the last step.
LOOP = """#include <cstdlib>
__global__ void grow(float *state, const float *table) { int i = blockIdx.x * 64 + threadIdx.x; state[i] += table[i]; }
__global__ void use(const float *state, float *sum, const float *table)
{
    int i = blockIdx.x * 64 + threadIdx.x;
    sum[i] += state[i] * table[i];
}
int main()
{
    float *a[3], host[512];
    for (float *&array : a) {
        cudaMalloc(&array, sizeof host);
        cudaMemset(array, 0, sizeof host);
    }
    for (int step = 0; step < 3; step++) {
        grow<<<8, 64>>>(a[0], a[1]);
        use<<<8, 64>>>(a[0], a[2], a[1]);
    }
    return cudaMemcpy(host, a[2], sizeof host, cudaMemcpyDeviceToHost);
}
"""


def run(*arguments):
    return subprocess.run(arguments, stdout=subprocess.PIPE, check=True, text=True).stdout


def compiled(ctascope, where, name):
    program = os.path.join(where, name)
    run(ctascope, "cc", "-O1", "--device=cpu", os.path.join(EXAMPLES, name + ".cu"), "-o", program)
    return program


def loop(ctascope, where):
    program, path = os.path.join(where, "loop"), os.path.join(where, "loop.run")
    with open(program + ".cu", "w", encoding="utf-8") as file:
        file.write(LOOP)
    run(ctascope, "cc", "-O1", "--device=cpu", program + ".cu", "-o", program)
    run(ctascope, "record", "-o", path, "--", program)
    found = [f for f in json.loads(run(ctascope, "flow", path, "--format", "json"))["findings"]
             if f["finding"] == "fusion" and f["other_name"].startswith("use") and f["name"].startswith("grow")]
    # The state is loaded once less, and the table is.
    assert [(f["times"], f["bytes"]) for f in found] == [(3, 3 * 2 * 512 * 4)], found


def times(ctascope, where):
    """Three of four launches of `wave` are dead: they save their time, if the timeline is that of the same launches."""
    program, path = compiled(ctascope, where, "wave"), os.path.join(where, "wave.run")
    run(ctascope, "record", "-o", path, "--", program, "32", "4")
    for arguments, is_known in (["32", "4"], True), (["64", "4"], False):
        timeline = os.path.join(where, f"wave-{arguments[0]}.timeline")
        run(ctascope, "record", "--timeline", "-o", timeline, "--", program, *arguments)
        done = subprocess.run([ctascope, "flow", path, "--time-run", timeline, "--format", "json"], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, check=True, text=True)
        first = json.loads(done.stdout)["findings"][0]
        assert (first["finding"], first["times"]) == ("dead work", 3), first
        assert first["traffic_bytes"] == 3 * 32 * 32 * 16, first
        assert (first["saved_ns"] > 0) == is_known, first
        assert ("has other launches" in done.stderr) != is_known, done.stderr
    done = subprocess.run([ctascope, "flow", path, "--time-run", where], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          check=False, text=True)
    assert done.returncode == 1 and f"'{where}' holds no timeline" in done.stderr, done.stderr


def main():
    ctascope = os.path.join(sys.argv[1], "bin", "ctascope")
    with tempfile.TemporaryDirectory() as where:
        for name, (arguments, expected) in CASES.items():
            program, path = compiled(ctascope, where, name), os.path.join(where, name + ".run")
            run(ctascope, "record", "-o", path, "--", program, *arguments)
            first = json.loads(run(ctascope, "flow", path, "--format", "json"))["findings"][0]
            names = [first[key].split("(")[0] for key in ("name", "other_name")]
            found = (*names, first["map"], first["times"], first["bytes"])
            assert first["finding"] == "fusion" and found == expected, (name, first, expected)
            assert first["traffic_bytes"] == first["bytes"], first
        loop(ctascope, where)
        times(ctascope, where)
    return 0


if __name__ == "__main__":
    sys.exit(main())
