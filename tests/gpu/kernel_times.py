"""Kernel times of a timeline beside CUDA events, for the same launches (test `times` of check.py).

Events cannot time a kernel: around one they also count what lies between an event and a kernel,
some 2 us. So they stand around batches of N and of 2N launches, queued behind a kernel that waits
for the host; the difference, by N, is what one more launch takes. That is a kernel *and the gap to
the next*. The timeline has the two apart, so that there are two comparisons, and both are shown:

    kernel + gap   the same as the events measure: must be within BOUND
    kernel         less than the events by the gap, about 1 us: shown, no failure

A kernel alone is held against what knows no gap: the device's clock that it reads itself when its
blocks begin and end, and the events' time beyond that of an empty kernel. Events of a run without
the recorder say what recording adds.
"""
import collections
import re
import statistics

BOUND_SHARE, BOUND_NS = 0.02, 1000

Batch = collections.namedtuple("Batch", "us size events kernels own")
# Of the kernels of one length, medians in ns. events, without: by events for one more launch,
# recorded and not; around_one, around_none: between two events.
Length = collections.namedtuple("Length", "us launches kernel gap both events without own "
                                          "around_one around_none")


def batches_of(output):
    """What the program measured: events around a batch, and the device's clock inside its kernels."""
    batches = []
    for word, us, size, ns in re.findall(r"^(batch|kernel) (\d+)(?: (\d+))?: (\d+)$", output, re.M):
        if word == "batch":
            batches.append(Batch(int(us), int(size), int(ns), [], []))
        else:
            batches[-1].own.append(int(ns))
    return batches


def of_length(batches, us, size):
    return [batch for batch in batches if (batch.us, batch.size) == (us, size)]


def one_more(batches, us, time_of):
    """The time of one more launch in a batch, by the two largest sizes."""
    sizes = sorted({batch.size for batch in batches})[-2:]
    small, large = (statistics.median(map(time_of, of_length(batches, us, size))) for size in sizes)
    return (large - small) / (sizes[1] - sizes[0])


def measure(us, batches, unrecorded):
    own = [batch for batch in batches if batch.us == us]
    median = statistics.median
    return Length(
        us=us,
        launches=sum(batch.size for batch in own),
        kernel=median(end - start for batch in own for start, end in batch.kernels),
        gap=median(batch.kernels[i + 1][0] - batch.kernels[i][1]
                   for batch in own for i in range(batch.size - 1)),
        both=one_more(batches, us, lambda batch: batch.kernels[-1][1] - batch.kernels[0][0]),
        events=one_more(batches, us, lambda batch: batch.events),
        without=one_more(unrecorded, us, lambda batch: batch.events),
        own=median(ns for batch in own for ns in batch.own),
        around_one=median(batch.events for batch in of_length(batches, us, 1)),
        around_none=median(batch.events for batch in of_length(batches, us, 0)))


def is_within(ours, theirs):
    return abs(ours - theirs) <= max(BOUND_SHARE * theirs, BOUND_NS)


# ---- tables ----

def name_of(length):
    return f"{length.us:,} us" if length.us else "empty"


def beside(ours, theirs):
    return (f"{ours:,.0f} | {ours - theirs:+,.0f} | {100 * (ours / theirs - 1):+.2f}% | "
            f"{'yes' if is_within(ours, theirs) else 'no'}")


def tables(lengths):
    bound = f"within {BOUND_SHARE:.0%} or {BOUND_NS / 1000:.0f} us"
    yield "Kernel times of the timeline beside CUDA events, the same launches; medians in ns"
    yield ""
    yield (f"| length | launches | events, per launch | timeline: kernel + gap | - events | | {bound}"
           f" | timeline: kernel alone | - events | | {bound} |")
    yield "|---:|---:|---:|---:|---:|---:|---|---:|---:|---:|---|"
    for length in lengths:
        yield (f"| {name_of(length)} | {length.launches:,} | {length.events:,.0f} | "
               f"{beside(length.both, length.events)} | {beside(length.kernel, length.events)} |")
    yield ""
    yield ("Per launch, events measure a kernel and the gap to the next: kernel + gap is the like for "
           "the like; a kernel alone is less by the gap.")
    yield ""
    yield (f"| length | gap | kernel alone | its own clock | - own | {bound} | events beyond the empty "
           f"one's | kernel beyond the empty one's | - events | {bound} |")
    yield "|---:|---:|---:|---:|---:|---|---:|---:|---:|---|"
    for length in lengths:
        ours, theirs = length.kernel - lengths[0].kernel, length.events - lengths[0].events
        yield (f"| {name_of(length)} | {length.gap:,.0f} | {length.kernel:,.0f} | {length.own:,.0f} | "
               f"{length.kernel - length.own:+,.0f} | "
               f"{'yes' if is_within(length.kernel, length.own) else 'no'} | {theirs:,.0f} | "
               f"{ours:,.0f} | {ours - theirs:+,.0f} | "
               f"{'yes' if is_within(ours, theirs) else 'no'} |")
    yield ""
    yield (f"| length | events per launch, not recorded | recording adds | kernel alone - not recorded "
           f"| {bound} | two events around one kernel | around nothing |")
    yield "|---:|---:|---:|---:|---|---:|---:|"
    for length in lengths:
        yield (f"| {name_of(length)} | {length.without:,.0f} | {length.events - length.without:+,.0f} "
               f"| {length.kernel - length.without:+,.0f} | "
               f"{'yes' if is_within(length.kernel, length.without) else 'no'} | "
               f"{length.around_one:,.0f} | {length.around_none:,.0f} |")


# ---- what must hold ----

def problems_of_length(length, empty):
    for what, ours, theirs in (
            ("kernel and gap, by events", length.both, length.events),
            ("kernel and gap, by events without recorder", length.both, length.without),
            ("kernel beyond an empty one, by events", length.kernel - empty.kernel,
             length.events - empty.events),
            ("kernel, by its own clock", length.kernel, length.own)):
        if not is_within(ours, theirs):
            yield f"kernel of {length.us} us: {what}: {ours:.0f} ns, not {theirs:.0f} ns"


def problems_of_kernels(batches):
    for batch in batches:
        for (start, end), ns in zip(batch.kernels, batch.own):
            if not is_within(end - start, ns):
                yield (f"kernel of {batch.us} us: one took {end - start} ns, by its own clock {ns} "
                       "ns")


def compare(kernels, output, unrecorded):
    """`kernels`: (start, end) of the timeline; the two texts: what the program said, recorded and
    not. The lines of the tables, and what is wrong."""
    batches, alone = batches_of(output), batches_of(unrecorded)
    launched = sum(batch.size for batch in batches)
    if not launched or len(kernels) != launched:
        return [], [f"{len(kernels)} kernels, {launched} were launched"]
    in_order = iter(sorted(kernels))
    for batch in batches:
        batch.kernels.extend(next(in_order) for _ in range(batch.size))
    lengths = [measure(us, batches, alone) for us in sorted({batch.us for batch in batches})]
    problems = [problem for length in lengths for problem in problems_of_length(length, lengths[0])]
    return list(tables(lengths)), problems + list(problems_of_kernels(batches))
