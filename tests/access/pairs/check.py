#!/usr/bin/env python3
"""Programs with a planted defect and their mended twins: what `ctascope access` finds of them.
check.py [--table] [--together] [--folder FOLDER] BUILD_DIR [NAME[:DEFECT]...]: those programs of the
folder (default: all of this one), with --together compiled as one where their options allow, in a third
of the time. A defect counts as found if a finding of a marked name lies on a marked line, see pair.h; in
the mended program every finding that no mark names is false; with a line "// only: faults" costs do not
count."""
import argparse
import glob
import json
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
MARK = re.compile(r"// @(\d)(\??) ([^/]*)")
WORDS = ("found", "missed", "cannot tell", "false", "clean")


def run(*arguments, codes=(0,)):
    done = subprocess.run(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          errors="replace")
    if done.returncode not in codes:
        sys.exit(f"{' '.join(arguments)}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def starts_statement(before):
    """Whether a statement begins after this line."""
    code = before.partition("//")[0].rstrip()
    return not code or code[-1] in ";{}:)" or code.lstrip().startswith(("#", "else"))


def marks(source, defect):
    """{(place, finding)} that the variant `defect` may have, the options of its compilation, and
    whether not every run tells of the defect."""
    may, options, untold = set(), [], False
    first, before = 1, ""
    with open(source) as text:
        for number, line in enumerate(text, 1):
            if starts_statement(before):
                first = number # of the statement; a mark is of all its lines
            before = line
            if line.startswith("// options: "):
                options = line.split()[2:]
            for which, question, names in MARK.findall(line):
                if int(which) == defect:
                    untold |= question == "?"
                    may |= {(f"{os.path.basename(source)}:{n}", name.strip())
                            for n in range(first, number + 1) for name in names.split("|")}
    return may, options, untold


def compile_together(ctascope, chosen, where, folder):
    """One program of all those that need no options: a namespace each, whose main its first argument names."""
    chosen = [(name, defect) for name, defect in chosen if not marks(f"{folder}/{name}.cu", defect)[1]]
    headers = {line.strip() for name, _ in chosen for line in open(f"{folder}/{name}.cu") if line.startswith("#include")}
    lines, calls = sorted(headers) + ["#include <string>", "#define main() without_result; static void planted()"], []
    for name, defect in chosen:
        space = f"{name.replace('-', '_')}_{defect}"
        lines += [f"namespace {space} {{", "#undef DEFECT", f"#define DEFECT {defect}", f'#include "{name}.cu"', "}"]
        calls.append(f'    if (name == "{name}-{defect}") {space}::planted();')
    lines += ["#undef main", "int main(int, char **words)", "{", "    const std::string name = words[1];", *calls, "}"]
    with open(os.path.join(where, "together.cu"), "w", encoding="utf-8") as text:
        text.write("\n".join(lines) + "\n")
    run(ctascope, "cc", "-O2", "-I", folder, os.path.join(where, "together.cu"), "-o", os.path.join(where, "together"))


def command(ctascope, source, defect, where):
    """What runs the program: its own, or the one of all of them."""
    name, options = f"{os.path.basename(source)[:-3]}-{defect}", marks(source, defect)[1]
    together = os.path.join(where, "together")
    if os.path.exists(together) and not options:
        return [together, name]
    program = os.path.join(where, name)
    run(ctascope, "cc", "-O2", f"-DDEFECT={defect}", *options, source, "-o", program)
    return [program]


def findings(ctascope, source, defect, where):
    words = command(ctascope, source, defect, where)
    program = os.path.join(where, f"{os.path.basename(source)[:-3]}-{defect}")
    run(ctascope, "record", "-o", program + ".run", "--", *words, codes=range(-64, 256))
    data = json.loads(run(ctascope, "access", program + ".run", "--format", "json"))
    with open(source) as text:
        if "// only: faults\n" in text:
            data["findings"] = [f for f in data["findings"] if f["fault"]]
    ended = {(f"{os.path.basename(f['path'])}:{f['line']}", "fault") for f in data["faults"] if f["path"]}
    return {(f["place"], f["finding"]) for f in data["findings"]} | ended


def verdict(ctascope, source, defect, where):
    found = findings(ctascope, source, defect, where)
    may, _, untold = marks(source, defect)
    if untold:
        return (defect, "found" if found & may else "cannot tell", found, may)
    if defect:
        return (defect, "found" if found & may else "missed", found, may)
    return (0, "false" if found - may else "clean", found - may, may)


def variants(words, folder):
    """(name, defect) of each NAME or NAME:DEFECT; of all programs if there are none."""
    for word in words or sorted(os.path.basename(s)[:-3] for s in glob.glob(f"{folder}/*.cu")):
        name, _, only = word.partition(":")
        for d in [int(only)] if only else [0, 1, 2]:
            if d == 0 or marks(f"{folder}/{name}.cu", d)[0]:
                yield name, d


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--folder", default=HERE, help="the programs' (default: this one)")
    parser.add_argument("--table", action="store_true", help="print the table of docs/results")
    parser.add_argument("--together", action="store_true")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    ctascope = os.path.join(os.path.abspath(options.build), "bin/ctascope")
    wrong, total = [], dict.fromkeys(WORDS, 0)
    with tempfile.TemporaryDirectory() as where, ThreadPoolExecutor(2) as pool:
        chosen = list(variants(options.names, options.folder))
        if options.together:
            compile_together(ctascope, chosen, where, options.folder)
        jobs = [(name, pool.submit(verdict, ctascope, f"{options.folder}/{name}.cu", d, where))
                for name, d in chosen]
        rows = {}
        for name, job in jobs:
            defect, word, found, may = job.result()
            total[word] += 1
            rows.setdefault(name, {})[defect] = (word, may)
            if word in ("missed", "false"):
                wrong.append(f"{name} -DDEFECT={defect}: {word}: {sorted(found)}; marked: {sorted(may)}")
    if options.table:
        print("| program | defect 1 | defect 2 | corrected |\n|---|---|---|---|")
        for name, row in rows.items():
            cells = [f"{', '.join(sorted({n for _, n in row[d][1]}))}: {row[d][0]}" if d in row else ""
                     for d in (1, 2)]
            print(f"| {name} | {' | '.join(cells)} | {row[0][0]} |")
    print(f"{total['found']} found, {total['missed']} missed, {total['cannot tell']} cannot be told; "
          f"{total['false']} mended programs with false findings, {total['clean']} without")
    sys.exit("\n".join(wrong) if wrong else 0)


if __name__ == "__main__":
    main()
