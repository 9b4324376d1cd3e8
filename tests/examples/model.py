"""The communication of a program, told access by access: the third opinion.

A test describes an example's launches as loads and stores of array elements by thread blocks; this
model keeps the last writer of every byte in a dictionary and counts. It knows nothing of ctascope
but the definitions: writes become visible at the end of their launch, the highest block index wins,
copies from the host and memsets write as the host.
"""

HOST = None


class Array:
    def __init__(self, model, element_bytes):
        self.element = element_bytes
        self.base = model.next_base
        model.next_base += 1 << 40


class Model:
    def __init__(self):
        self.next_base = 1 << 44
        self.writer = {}          # byte -> (launch, block) of the last launch that wrote it
        self.launch = -1
        self.totals = dict.fromkeys(
            ("loaded_accesses", "loaded_unique", "stored_accesses", "stored_unique",
             "communicated_read_unique", "communicated_written_unique", "conflict_bytes",
             "read_by_host"), 0)
        self.transfers = {}       # (writer launch, block, reader launch, block) -> unique bytes
        self.live = {}            # byte -> whether what was last written to it has been read
        self.reads = self.writes = None

    def array(self, element_bytes):
        return Array(self, element_bytes)

    # ---- inside a launch ----

    def begin(self):
        self.launch += 1
        self.reads = {}           # block -> set of bytes
        self.writes = {}

    def _bytes(self, array, index, width, offset):
        start = array.base + index * array.element + offset
        return range(start, start + (width or array.element))

    def load(self, block, array, index, width=0, offset=0):
        touched = self._bytes(array, index, width, offset)
        self.totals["loaded_accesses"] += len(touched)
        self.reads.setdefault(block, set()).update(touched)

    def store(self, block, array, index, width=0, offset=0):
        touched = self._bytes(array, index, width, offset)
        self.totals["stored_accesses"] += len(touched)
        self.writes.setdefault(block, set()).update(touched)

    def end(self):
        totals = self.totals
        for block, touched in self.reads.items():
            totals["loaded_unique"] += len(touched)
            for byte in touched:
                writer = self.writer.get(byte, HOST)
                if writer is HOST:
                    continue
                totals["communicated_read_unique"] += 1
                key = writer + (self.launch, block)
                self.transfers[key] = self.transfers.get(key, 0) + 1
                if not self.live[byte]:
                    self.live[byte] = True
                    totals["communicated_written_unique"] += 1
        count = {}
        for block in sorted(self.writes):
            totals["stored_unique"] += len(self.writes[block])
            for byte in self.writes[block]:
                count[byte] = count.get(byte, 0) + 1
                self.writer[byte] = (self.launch, block)
                self.live[byte] = False
        totals["conflict_bytes"] += sum(1 for n in count.values() if n > 1)

    # ---- between launches ----

    def host_writes(self, array, count):
        for byte in range(array.base, array.base + count * array.element):
            self.writer[byte] = HOST


class Random:
    """The examples' generator (examples/common.h)."""

    def __init__(self):
        self.state = 1

    def next(self):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) & (1 << 64) - 1
        return self.state >> 33
