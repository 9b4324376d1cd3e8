#!/usr/bin/env python3
"""ctascope's own headers, as programs for NVIDIA's runtime see them, against a toolkit's: signatures,
layouts, values of enumerators. What the toolkit lacks, ours may have; what both have must agree.

    abi.py CLANG HEADERS TOOLKIT FUNCTIONS

FUNCTIONS, the list that the stand-in libraries are made of, must be in the toolkit's library.
Exits with 77 where there is no toolkit of CUDA 12 or 13.
"""
import glob
import os
import re
import subprocess
import sys
import tempfile

clang, headers, toolkit, functions = sys.argv[1:]
SHOW = """#include <cstddef>
#include <cstdio>
#include <cuda_runtime_api.h>
template <class T> void show(const char *name) { printf("%s %s\\n", name, __PRETTY_FUNCTION__); }
int main() {
"""
# counters that grow with each version, and what is nobody's to use
GROWN = {"cudaDevAttrMax", "cudaGraphNodeTypeCount", "cudaFuncAttributeMax"}
failures = []


def names_in_headers():
    """What the program below prints: name of the thing, and a statement."""
    paths = sorted(glob.glob(os.path.join(headers, "ctascope", "api", "*.h")))
    text = "".join(open(path).read() for path in paths)
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    found = {}
    for name in set(re.findall(r"\b(cuda[A-Z]\w*)\(", text)):
        found[name] = f'show<decltype({name})>("{name}");'
    for match in re.finditer(r"struct (cuda\w+) \{(.*?)\n\}", text, re.S):
        kind = match.group(1)
        body = re.sub(r"union \{.*\n    \} (\w+);", r"int \1;", match.group(2), flags=re.S)
        found["struct " + kind] = f'printf("struct {kind} %zu\\n", sizeof({kind}));'
        for member in re.findall(r"(\w+)(?:\[[^\]]*\])*\s*[;,]", body):
            if member == "reserved":
                continue
            found[f"{kind}.{member}"] = (
                f'printf("{kind}.{member} %zu %zu\\n", offsetof({kind}, {member}), '
                f'sizeof((({kind} *)0)->{member}));')
    enumerators = set(re.findall(r"X\((cuda\w+),", text))
    for match in re.finditer(r"enum\s*\w*\s*\{([^#]*?)\}", text, re.S):
        enumerators |= set(re.findall(r"\b(cuda\w+)\b(?=\s*(?:=|,|$|\n))", match.group(1)))
    for name in enumerators - GROWN:
        found[name] = f'printf("{name} %lld\\n", (long long){name});'
    return found


def printed(statements, options, directory):
    """What a program of those statements that compile prints."""
    left = list(statements.values())
    program = os.path.join(directory, "show")
    for _ in range(6):
        with open(program + ".cc", "w") as file:
            file.write(SHOW + "\n".join(left) + "\n}\n")
        done = subprocess.run([clang, "-w", "-ferror-limit=0", "-std=c++17", *options, program + ".cc",
                               "-o", program, "-Wl,--unresolved-symbols=ignore-all"],
                              stderr=subprocess.PIPE, text=True)
        first = SHOW.count("\n") + 1
        bad = {int(line) - first for line in re.findall(r"show\.cc:(\d+):\d+: error", done.stderr)}
        if not done.returncode:
            break
        if not bad:
            sys.exit(done.stderr)
        left = [line for number, line in enumerate(left) if number not in bad]
    lines = subprocess.run([program], stdout=subprocess.PIPE, text=True, check=True).stdout
    rows = [line.rsplit(" ", 1) if line.startswith("struct ") else line.split(" ", 1)
            for line in lines.splitlines()]
    return dict(rows)


def version_of_toolkit():
    try:
        text = open(os.path.join(toolkit, "include", "cuda.h")).read()
    except OSError:
        return None
    found = re.search(r"#define CUDA_VERSION (\d+)", text)
    return int(found.group(1)) // 1000 if found else None


def check_library(version):
    path = os.path.join(toolkit, "lib64", f"libcudart.so.{version}")
    if not os.path.exists(path):
        return
    lines = subprocess.run(["nm", "-D", "--defined-only", path], stdout=subprocess.PIPE, text=True,
                           check=True).stdout.splitlines()
    real = {line.split()[-1].split("@")[0] for line in lines}
    for line in open(functions):
        name, *versions = line.split()
        if str(version) in versions and name not in real:
            failures.append(f"{name} is not in the runtime {version}")


def main():
    version = version_of_toolkit()
    if version not in (12, 13):
        print("no CUDA toolkit")
        return 77
    statements = names_in_headers()
    with tempfile.TemporaryDirectory() as directory:
        ours = printed(statements, [f"-DCTS_CUDART={version}", "-I" + headers], directory)
        real = printed(statements, ["-I" + os.path.join(toolkit, "include")], directory)
    common = set(ours) & set(real)
    if len(common) < 800:
        failures.append(f"only {len(common)} things to compare")
    for name in sorted(common):
        if ours[name] != real[name]:
            failures.append(f"{name}: {ours[name]}, the toolkit's {real[name]}")
    for name in sorted(set(ours) - set(real)):
        if re.match(r"cuda[A-Z]\w*$", name) and "[T" in ours[name] and "Profiler" not in name:
            failures.append(f"{name} is declared, and the toolkit has none")
    check_library(version)
    print(f"{len(common)} compared with CUDA {version}")
    for failure in failures:
        print(failure)
    return len(failures) > 0


sys.exit(main())
