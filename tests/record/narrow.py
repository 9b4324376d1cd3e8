#!/usr/bin/env python3
"""COLUMNS: what a person reads is at most so wide, in every verb: tables, headings and sentences."""
import support

VERBS = (("info", "both"), ("access", "both"), ("comm", "both"), ("flow", "both"), ("path", "both"),
         ("partition", "both"), ("diff", "both", "other"), ("diff", "both", "both"),
         ("path", "both", "--memory-run", "other"))


class Narrow(support.RecordTest):
    @classmethod
    def setUpClass(cls):
        cls.program = support.compiled("../../timeline/programs/default-last.cu", "-O2")
        cls.other = support.compiled("outcomes.cu", "-O2")

    def test_no_line_is_wider(self):
        both = ("--timeline", "--memory")
        self.record("both", self.program, options=both)
        self.record("other", self.other, "ok", options=both)
        for words in VERBS:
            wide = self.ctascope(*words).stdout
            for columns in (40, 60):
                narrow = self.ctascope(*words, env=support.environment(COLUMNS=columns)).stdout
                self.assertEqual([line for line in narrow.splitlines() if len(line) > columns], [],
                                 (words, columns))
                # nothing is left out: each word of the first line is there, a long one cut
                for word in wide.splitlines()[0].split():
                    self.assertIn(word, "".join(narrow.split()))


if __name__ == "__main__":
    support.main()
