"""An event takes at most 20 bytes of the archive, whatever the program does all the time."""
import json
import os

import traces


class Size(traces.TimelineTest):
    COUNT, BYTES = 3000, 20

    def bytes_per_event(self, what):
        self.record_timeline(what, traces.program("many"), what, str(self.COUNT))
        timeline = json.loads(self.ctascope("info", "--format", "json", what).stdout)["timeline"]
        self.assertGreaterEqual(timeline["events"], 2 * self.COUNT)
        size = sum(os.path.getsize(os.path.join(folder, file)) for folder, _, files in
                   os.walk(os.path.join(what, "timeline")) for file in files)
        return size / timeline["events"]

    def test_each_kind_of_call(self):
        sizes = {what: round(self.bytes_per_event(what), 1) for what in
                 ("launches", "shapes", "copies", "memsets", "events", "waits", "queries",
                  "synchronisations")}
        print("bytes per event:", sizes)
        self.assertEqual({what: size for what, size in sizes.items() if size > self.BYTES}, {})


if __name__ == "__main__":
    traces.main()
