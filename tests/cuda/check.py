#!/usr/bin/env python3
"""Instrumented device code for GPUs, looked at without one: a case is compiled to PTX by clang, the
plugin and the producer, with ctascope's own headers.

    check.py CLANG PLUGIN PRODUCER HEADERS SOURCE

- Each kernel has the groups of accesses that a comment before it says. A group's usual way, from its
  test for a whole warp to the store of its records, has no call, one reservation and one store.
- A kernel that is not recorded runs code of its own, without tests.
- The module's table, decoded here by its specification (record/cuda/table.h), says what the plugin's
  notes say: sites, kernels, variables and the source itself.
"""
import os
import re
import struct
import subprocess
import sys

clang, plugin, producer, headers, source = map(os.path.abspath, sys.argv[1:])
failures = []


def require(condition, text):
    if not condition:
        failures.append(text)


def compile_case():
    done = subprocess.run(
        [clang, "-x", "cuda", "--cuda-device-only", "-nocudainc", "-nocudalib",
         "--cuda-path=/nonexistent", "--cuda-gpu-arch=sm_80", "--cuda-feature=+ptx83",
         "-Xclang", "-target-sdk-version=12.3", "-Wno-unknown-cuda-version", "-isystem", headers,
         "-include", "ctascope_cuda.h", "-O2", "-Xclang", "-debug-info-kind=limited",
         "-mllvm", "-disable-machine-sink", "-fpass-plugin=" + plugin, "-S", source, "-o", "-"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={"PATH": "/usr/bin:/bin", "CTS_DEVICE": "cuda", "CTS_STEP": "device", "CTS_NOTES": "1",
             "CTS_TU": "tu-of-test", "CTS_VERIFY": "1", "CTS_PRODUCER": producer})
    if done.returncode:
        sys.exit(done.stderr)
    return done.stdout, done.stderr


def kernels_of(ptx):
    """Name and lines of each kernel."""
    found = {}
    for match in re.finditer(r"\.entry (\S+?)\((.*?)\n}\n", ptx, re.S):
        found[match.group(1)] = match.group(2).splitlines()
    return found


def blocks_of(lines):
    """Basic blocks: their lines, and the numbers of those that follow each."""
    blocks, labels = [[]], {}
    for line in lines:
        label = re.match(r"(\$L__BB\w+):", line)
        if label:
            blocks.append([])
            labels[label.group(1)] = len(blocks) - 1
        blocks[-1].append(line)
        if re.search(r"\bbra\b|\bret;", line):
            blocks.append([])
    follow = []
    for number, block in enumerate(blocks):
        last = block[-1] if block else ""
        target = re.search(r"\bbra(?:\.uni)?\s+(\$\w+);", last)
        next_ones = {labels[target.group(1)]} if target else set()
        falls = "@" in last or not re.search(r"\bbra\b|\bret;", last)
        follow.append(next_ones | ({number + 1} if falls and number + 1 < len(blocks) else set()))
    return blocks, follow


def usual_way(blocks, follow, start):
    """What can be reached from a group's test without a call, and before the next test."""
    seen, queue = {start}, [start]
    while queue:
        for number in follow[queue.pop()]:
            text = "\n".join(blocks[number])
            if number not in seen and "activemask" not in text and not re.search(r"\bcall\b", text):
                seen.add(number)
                queue.append(number)
    return "\n".join("\n".join(blocks[number]) for number in sorted(seen))


def check_kernels(ptx):
    wanted = {match.group(2): int(match.group(1)) for match in
              re.finditer(r"// groups: (\d+)\n__global__ void (\w+)", open(source).read())}
    kernels = kernels_of(ptx)
    for name, groups in wanted.items():
        mangled = [full for full in kernels if re.match(rf"_Z\d+{name}[A-Z]?", full)]
        require(len(mangled) == 1, f"{name}: {len(mangled)} kernels")
        lines = kernels[mangled[0]] if mangled else []
        found = sum("activemask" in line for line in lines)
        require(found == groups, f"{name}: {found} groups, expected {groups}")
        blocks, follow = blocks_of(lines)
        for number, block in enumerate(blocks):
            if not any("activemask" in line for line in block):
                continue
            way = usual_way(blocks, follow, number)
            for what in ("atom.global.add.u64", "st.volatile.global.v4"):
                require(way.count(what) == 1, f"{name}: {way.count(what)} x {what} without a call")
        if groups:
            grid = sum("%gridid" in line for line in lines)
            require(grid == 1, f"{name}: asks for its grid {grid} times")
        text = "\n".join(lines)
        require("local_depot" not in text, f"{name}: keeps its state in local memory")
        if name == "add": # recorded, and not
            require(text.count("ld.global.f32") == 4, "add: no code of its own when not recorded")
    require(".target sm_80\n" in ptx, "debug information is left: PTX would not be optimised")


class Table:
    def __init__(self, ptx):
        match = re.search(r"\.global \.align 8 \.b8 __cts_table\[(\d+)\] = \{(.*?)\}", ptx, re.S)
        self.bytes = bytes(int(number) for number in match.group(2).split(","))
        self.bytes = self.bytes.ljust(int(match.group(1)), b"\0") # PTX may leave zeros out
        (magic, version, size, self.flags, texts, sources, kernels, sites, variables, skipped, padded,
         unit, path) = struct.unpack_from("<8s12I", self.bytes)
        require(magic == b"ctsTABLE" and version == 2 and size == len(self.bytes), "header")
        self.at, self.texts = 56, []
        for _ in range(texts):
            length = self.words(1)[0]
            self.texts.append(self.bytes[self.at:self.at + length].decode())
            self.at += length
        self.unit, self.path = self.texts[unit], self.texts[path]
        self.sources = [self.words(2) for _ in range(sources)]
        self.kernels = [self.words(5) for _ in range(kernels)]
        self.sites = [self.words(9) for _ in range(sites)]
        self.variables = [self.words(9) for _ in range(variables)]
        self.skipped = [self.words(4) for _ in range(skipped)]
        self.padded = [self.words(4) for _ in range(padded)]
        require(self.at == size, "bytes are left")

    def words(self, count):
        found = struct.unpack_from(f"<{count}I", self.bytes, self.at)
        self.at += 4 * count
        return found


def check_table(ptx, notes):
    table = Table(ptx)
    require(table.unit == "tu-of-test" and table.path == source, "unit and path")
    text = [table.texts[content] for path, content in table.sources if table.texts[path] == source]
    require(text == [open(source).read()], "the source's text")
    operations = {1: "load", 2: "store", 3: "atomic add", 7: "atomic max", 32: "barrier"}
    spaces = {0: "generic", 1: "global", 3: "shared", 6: "barrier"}
    noted = re.findall(r"site (\d+) (\S+?):(\d+):(\d+) (.+?) (\d+) (\w+)( volatile)? depth=(\d+) "
                       r"loop=\S+ function='(.*?)' type='(.*?)' variable='(.*?)' inlined='(.*?)'",
                       notes)
    require(len(noted) == len(table.sites) > 10, f"{len(table.sites)} sites, notes {len(noted)}")
    for note, row in zip(noted, table.sites):
        kind = row[4]
        said = (str(row[1]), str(row[2]), operations.get(kind & 0xff), str(row[3]),
                spaces.get(kind >> 8 & 0xff), " volatile" if kind >> 16 & 0xff else "",
                str(kind >> 24), *(table.texts[number] for number in row[5:9]))
        require(said == note[2:], f"site {note[0]}: {said}, notes {note[2:]}")
    names = {table.texts[row[1]] for row in table.kernels}
    require("add(float const*, float const*, float*, int)" in names and len(names) == 6, f"{names}")
    variables = {table.texts[row[1]]: (row[3], row[7]) for row in table.variables}
    require(variables.get("counter") == (0, 4) and variables.get("weights") == (1, 64)
            and variables.get("part", variables.get("tile(float const*, float*)::part")),
            f"{variables}")


code, messages = compile_case()
check_kernels(code)
check_table(code, messages)
for failure in failures:
    print(failure)
sys.exit(len(failures) > 0)
