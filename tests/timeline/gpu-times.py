"""The comparison of kernel times with CUDA events that tests/gpu makes on a GPU: made-up times that are
right pass, each kind of wrong one is found, and the table says by how much."""
import os
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "gpu"))
import kernel_times  # noqa: E402

EMPTY_NS, OWN_LESS_NS, EVENT_PAIR_NS = 768, 560, 1500


def made(scale=1, gap=990, events_gap=990, own_scale=1, odd_one=0):
    """(kernels of the timeline, what the program says) of two rounds. Kernels in the timeline are
    `scale` as long as they are, `gap` apart, by events `events_gap`; one is `odd_one` ns longer."""
    kernels, said, now = [], [], 1000
    for us, size in [(us, size) for _ in range(2) for us in (0, 20, 100) for size in (0, 1, 32, 64)]:
        length = us * 1000 + EMPTY_NS
        said.append(f"batch {us} {size}: {EVENT_PAIR_NS + size * (length + events_gap)}")
        for _ in range(size):
            recorded = round(length * scale) + (odd_one if len(kernels) == 7 else 0)
            kernels.append((now, now + recorded))
            now += recorded + gap
            said.append(f"kernel {us}: {round((length - OWN_LESS_NS) * own_scale)}")
    return kernels[::-1], "\n".join(said)


class KernelTimes(unittest.TestCase):
    def compared(self, **recorded):
        return kernel_times.compare(*made(**recorded), made(events_gap=800)[1])

    def found(self, what, **recorded):
        problems = self.compared(**recorded)[1]
        self.assertTrue(any(what in problem for problem in problems), problems)

    def test_table(self):
        lines, problems = self.compared()
        self.assertEqual(problems, [])
        self.assertEqual([line for line in lines if line.startswith("| 20 us")], [
            "| 20 us | 194 | 21,758 | 21,758 | +0 | +0.00% | yes | 20,768 | -990 | -4.55% | yes |",
            "| 20 us | 990 | 20,768 | 20,208 | +560 | yes | 20,000 | 20,000 | +0 | yes |",
            "| 20 us | 21,568 | +190 | -800 | yes | 23,258 | 1,500 |"])

    def test_gap_shows_beside_a_kernel_alone(self):
        lines, problems = self.compared(gap=1100, events_gap=1100)
        self.assertEqual(problems, [])
        self.assertIn("| 20 us | 194 | 21,868 | 21,868 | +0 | +0.00% | yes | 20,768 | -1,100 | -5.03% "
                      "| no |", lines)

    def test_wrong_times_are_found(self):
        self.found("kernel of 100 us: kernel and gap, by events:", scale=1.03)
        self.found("kernel of 100 us: kernel beyond an empty one, by events:", scale=1.03)
        self.found("kernel of 100 us: kernel, by its own clock:", own_scale=0.9)
        self.found("kernel of 0 us: kernel and gap, by events:", gap=3000)
        self.found("kernel of 0 us: kernel and gap, by events without recorder:", gap=3000,
                   events_gap=3000)
        self.found("kernel of 0 us: one took 2268 ns, by its own clock 208 ns", odd_one=1500)

    def test_missing_kernels_are_found(self):
        kernels, said = made()
        problems = kernel_times.compare(kernels[1:], said, said)[1]
        self.assertEqual(problems, ["581 kernels, 582 were launched"])
        self.assertEqual(kernel_times.compare([], "", "")[1], ["0 kernels, 0 were launched"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
