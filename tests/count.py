"""How much a test tries: a few in the gate, all under `./run test --long`, which sets CTS_TEST_LONG.

A test in a folder beside this file has it through

    sys.path.insert(1, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    from count import test_count
"""
import os


def test_count(quick, full):
    """How many cases to try: `quick` in the gate, `full` under --long."""
    return full if os.environ.get("CTS_TEST_LONG", "0") not in ("", "0") else quick
