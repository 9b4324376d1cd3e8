"""The Python examples of README.md and docs/python.md print what those pages say.

pages.py CTASCOPE SOURCE: records the examples that the pages use, then runs each page's lines in order. Times in
ns and addresses are this machine's: any number is accepted for them."""

import doctest
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(1, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.dont_write_bytecode = True
from compiled import compiled  # noqa: E402

program, source = sys.argv[1], sys.argv[2]
os.environ["CTASCOPE"] = program


def record(name, *arguments, options=()):
    binary = compiled(program, "-O2", os.path.join(source, "examples", name + ".cu"))
    subprocess.run([program, "record", "-o", name + ".run", *options, "--", binary, *arguments], check=True,
                   capture_output=True)


class Checker(doctest.OutputChecker):
    def check_output(self, want, got, flags):
        def shape(text):
            return " ".join(re.sub(r"\d+ ns|\b\d{14}\b", "N", text).split())
        return super().check_output(want, got, flags) or shape(want) == shape(got)


def lines_of(page):
    with open(os.path.join(source, page)) as file:
        return "\n".join(block for block in re.findall(r"```python\n(.*?)```", file.read(), re.S) if ">>>" in block)


with tempfile.TemporaryDirectory() as work:
    os.chdir(work)
    record("transpose")
    record("pipeline", "65536", options=["--timeline"])
    for page in ("README.md", "docs/python.md"):
        text = lines_of(page)
        if text.count(">>>") < 5:
            sys.exit(f"{page} has no examples of Python")
        test = doctest.DocTestParser().get_doctest(text, {}, page, page, 0)
        runner = doctest.DocTestRunner(checker=Checker(), verbose=False)
        runner.run(test)
        if runner.failures:
            sys.exit(f"{page}: {runner.failures} of {runner.tries} examples print something else")
        print(f"{page}: {runner.tries} examples")
