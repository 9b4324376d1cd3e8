"""path, path --window and whatif --targets say the same to the digit on one process and on several."""
import json
import os
import subprocess
import sys

sys.path.insert(1, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from count import test_count
from archive import CTASCOPE, WHERE, fresh, generated


MPIRUN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "processes", "mpirun")
MPI = os.environ.get("MPI")


def run(count, *words):
    before = [MPIRUN, MPI, str(count)] if count > 1 else []
    done = subprocess.run([*before, CTASCOPE, *words], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=1200)
    assert done.returncode == 0, (words, count, done.stderr[:1000])
    return done.stdout, done.stderr


def whatif(count, trace):
    result = json.loads(run(count, "whatif", trace, "--targets", "--scale", "stencil_kernel=0.5",
                            "--format", "json", "--threads", str(count % 2 + 1))[0])
    result["notes"].pop("seconds", None)
    return result


def main():
    fresh(WHERE)
    # Each count with the mode of many windows, one with each other mode; under --long all with all.
    counts_of = {"drain": test_count((4,), (2, 4)), "across": test_count((4,), (2, 4)), "messages": test_count((2,), (2, 4))}
    stretches = {}
    for mode in ("drain", "across", "messages"):
        # Each window takes hundreds of exchanges; ranks that wait in one keep the processors busy.
        trace = generated(mode, 400, 4)
        whole, _ = run(1, "path", trace, "--format", "json")
        windows, told = run(1, "path", trace, "--format", "json", "--window", "80")
        stretches[mode] = int(told.split("Analysed in ")[1].split()[0])
        for result in (json.loads(whole), json.loads(windows)):
            assert sum(row["path_ns"] for row in result["activities"]) == result["path_ns"]
            assert sum(row["blame_ns"] for row in result["activities"]) == result["wait_ns"] > 0
        copies = ("copy_missed_ns", "copy_missed_share", "copy_missed_count")
        for device in json.loads(whole)["devices"]:
            assert set(copies) & set(device), device
        strip = lambda text: [{k: v for k, v in row.items() if k not in copies}
                              if isinstance(row, dict) else row for row in json.loads(text)["devices"]]
        assert strip(whole) == strip(windows)
        assert {k: v for k, v in json.loads(whole).items() if k != "devices"} == \
               {k: v for k, v in json.loads(windows).items() if k != "devices"}, mode
        alone = whatif(1, trace)
        counts = counts_of[mode] if MPI else ()
        for count in counts:
            assert run(count, "path", trace, "--format", "json")[0] == whole, (mode, count)
            assert run(count, "path", trace, "--format", "json", "--window", "80") == \
                   (windows, told), (mode, count)
            assert whatif(count, trace) == alone, (mode, count)
    trace = generated("free", 300, 4)
    names = [os.path.join(os.path.dirname(trace), "traces", f"{i}.evt") for i in (0, 2, 3)]
    for name in names: # read by different processes, named by the first
        os.truncate(name, os.path.getsize(name) * 2 // 3)
    whole = run(1, "path", trace, "--format", "json")
    assert all(sum(name in text for text in json.loads(whole[0])["missing"]) == 1 for name in names)
    if MPI:
        assert run(2, "path", trace, "--format", "json") == whole
        told = run(2, "whatif", trace, "--remove", "compute")[1]
        assert all(name in told for name in names), told
    print(stretches)
    assert stretches["drain"] > 3, stretches
    assert stretches["across"] == 1, stretches # kernels run across every collective
    return 0


sys.exit(main())
