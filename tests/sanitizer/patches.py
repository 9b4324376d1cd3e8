#!/usr/bin/env python3
"""The patches that the recorder asks for are in its images, and only they: a name that is not there
records nothing, and what a recording without values does not need costs it memory of the GPU.

    patches.py MODULES.C PATCHES.PTX PATCHES-WITH-VALUES.PTX PATCHES-OF-TENSORS.PTX
"""
import re
import sys


def functions(path):
    with open(path, encoding="utf-8") as file:
        return set(re.findall(r"^\.(?:visible|weak) \.func .*?(\w+)\($", file.read(), re.M))


def main():
    source, plain, valued, tensors = sys.argv[1:]
    with open(source, encoding="utf-8") as file:
        asked = set(re.findall(r'"(cts_patch_\w+)"', file.read()))
    found, found_valued = ({name for name in functions(path) if name.startswith("cts_patch_")}
                           for path in (plain, valued))
    of_tensors = {name for name in functions(tensors) if name.startswith("cts_patch_")}
    if of_tensors != {"cts_patch_tensor"} or not of_tensors <= asked:
        sys.exit(f"of tensors: {sorted(of_tensors)}")
    asked -= of_tensors
    of_values = {name for name in asked if name.endswith("_valued")}
    if not of_values or asked != found_valued or asked - of_values != found:
        sys.exit(f"asked for {sorted(asked)}\nwithout values: {sorted(found)}\n"
                 f"with them: {sorted(found_valued)}")
    strays = {name for name in functions(plain) if "value" in name}
    if strays:
        sys.exit(f"without values, and yet: {sorted(strays)}")


if __name__ == "__main__":
    main()
