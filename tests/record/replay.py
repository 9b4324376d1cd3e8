"""Replays a recording with values: every load must read what was stored before, byte by byte.

The recording has to be of a program without races, made with --deterministic: CTAs one after the
other. A byte is known once a record has stored or loaded it; copies from the host, memsets and
allocations make bytes unknown again, copies on the device take what is known along. Atomics give
the old value only, and the lanes of a warp run one after the other, so that a byte that an atomic
has touched is not looked at any more until the launch (of shared memory: the CTA) is over.
"""
ATOMIC = object()


class Mismatch(AssertionError):
    pass


class Memory:
    def __init__(self):
        self.bytes = {}

    def touch(self, operation, address, data, where):
        """Returns the number of bytes that could be checked."""
        known, checked, is_atomic = self.bytes, 0, operation.startswith("atomic")
        for at, byte in enumerate(data, address):
            old = known.get(at)
            if is_atomic:
                known[at] = ATOMIC
            elif old is ATOMIC:
                continue
            elif operation == "store":
                known[at] = byte
            elif old is None:
                known[at] = byte
            elif old != byte:
                raise Mismatch(f"{where}: loaded {byte:#x} at {at:#x}, not {old:#x}")
            else:
                checked += 1
        return checked

    def forget(self, address, size):
        if size > len(self.bytes):
            for at in [at for at in self.bytes if address <= at < address + size]:
                del self.bytes[at]
            return
        for at in range(address, address + size):
            self.bytes.pop(at, None)

    def forget_atomics(self):
        for at in [at for at, byte in self.bytes.items() if byte is ATOMIC]:
            del self.bytes[at]

    def copy(self, to, source, size):
        held = [self.bytes.get(source + i) for i in range(size)]
        self.forget(to, size)
        for i, byte in enumerate(held):
            if byte is not None:
                self.bytes[to + i] = byte


def number(text):
    return int(text, 0) if text else 0


def apply_copy(memory, row):
    width, to, source = (number(row[name]) for name in ("width_bytes", "destination", "source"))
    for z in range(max(1, number(row["depth"]))):
        for y in range(max(1, number(row["height"]))):
            there = to + z * number(row["destination_slice"]) + y * number(row["destination_pitch"])
            here = source + z * number(row["source_slice"]) + y * number(row["source_pitch"])
            if row["kind"] in ("DtoD", "PtoP"):
                memory.copy(there, here, width)
            elif row["kind"] != "DtoH":
                memory.forget(there, width)


def replay(test, run):
    """(lanes, loaded bytes that were checked)."""
    sites = {row["site"]: row for row in test.table(run, "sites")}
    launches = {}
    for row in test.records(run, "--lanes"):
        launches.setdefault(row["launch"], []).append(row)
    events = [(number(row["op"]), 1, row) for row in test.table(run, "launches")]
    events += [(number(row["op"]), 2, row) for row in test.table(run, "copies")]
    events += [(number(row["op"]), 0, row) for row in test.table(run, "allocations")]
    memory, lanes, checked = Memory(), 0, 0
    for _, kind, event in sorted(events, key=lambda event: event[:2]):
        if kind == 0:
            memory.forget(number(event["address"]), number(event["size_bytes"]))
        elif kind == 2:
            apply_copy(memory, event)
        else:
            shared, local, cta = Memory(), {}, None
            for row in launches.get(event["launch"], []):
                if row["cta"] != cta:
                    shared, local, cta = Memory(), {}, row["cta"]
                width = int(row["width_bytes"])
                words = [int(word, 16) for word in row["value"].split()]
                test.assertEqual(len(words), min(16, (width + 7) // 8), row)
                data = b"".join(word.to_bytes(8, "little") for word in words)
                test.assertEqual(data[width:], bytes(len(data[width:])), row)
                lanes += 1
                if row["space"] == "local":
                    target = local.setdefault((row["warp"], row["lane"]), Memory())
                else:
                    target = shared if row["space"] == "shared" else memory
                site = sites[row["site"]]
                where = f"{run}, launch {row['launch']}, CTA {cta}, warp {row['warp']}, lane " \
                        f"{row['lane']}, line {site['line']} ({site['variable']})"
                checked += target.touch(row["operation"], int(row["address"], 16), data[:width],
                                        where)
            memory.forget_atomics()
    return lanes, checked
