# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
"""facts.py counts what is there, and sees a stale number."""

import tempfile
import unittest
from pathlib import Path

import facts
from commands import script


class Counted(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.source = Path(folder.name)
        self.facts = facts.Facts(self.source, self.source / "build").all()

    def write(self, name, text):
        (self.source / name).parent.mkdir(parents=True, exist_ok=True)
        (self.source / name).write_text(text, encoding="utf-8")

    def count(self, *names):
        return [self.facts[name]() for name in names]

    def add_operations(self):
        self.write("CMakeLists.txt", "kernelgrade_add_op(axpy CATEGORY a DTYPES f32 f16)\n# text\nkernelgrade_add_op(sort CATEGORY b\n  DTYPES i32\n  SOURCES a.cu b.cu)\n")

    def test_operations_and_their_types(self):
        self.add_operations()
        self.assertEqual(self.count("operations", "test_programs"), [2, 3])

    def test_mutants(self):
        self.write("tests/ops/axpy/mutants.json", '[{"mutants": [{}, {}]}, {"mutants": [{}]}]')
        self.write("tests/ops/sort/mutants.json", '[{"mutants": [{}]}]')
        self.assertEqual(self.count("mutants"), [4])

    def test_conformance_tests(self):
        self.add_operations()
        script(self.source / "build/axpy_test", '#!/bin/sh\n[ "$2" = "--gtest_filter=Contract/f32.*" ] && printf "Contract/f32.\\n  A\\n  B\\n"\n')
        script(self.source / "build/sort_test", '#!/bin/sh\n[ "$2" = "--gtest_filter=Contract/i32.*" ] && printf "Contract/i32.\\n  A\\n"\n')
        self.assertEqual(self.count("conformance_tests_least", "conformance_tests_most"), [1, 2])

    def test_public_programs(self):
        rows = "a,yes,passed,n = 8\nb,yes,failed,\nc,no,,\nd,yes,passed,\n"
        self.write("docs/results/public_programs.csv", "program,compiled,own_check,reduced_in_source\n" + rows)
        names = ("public_programs", "public_programs_compiled", "public_programs_correct", "public_programs_reduced")
        self.assertEqual(self.count(*names), [4, 3, 2, 1])

    def test_calibration(self):
        self.write("baselines/host/calibration.csv", "experiment,rows,rule,rows_checked,flagged\naa,all,other,7,7\naa,all,kernelgrade,1558,0\naa,from_100us,kernelgrade,3,3\n")
        self.assertEqual(self.count("gate_unchanged_checks", "gate_false_alarms"), [1558, 0])


class Compared(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.source = Path(folder.name)
        self.page = self.source / "README.md"

    def check(self, text, rewrite=False):
        self.page.write_text(text, encoding="utf-8")

        def missing():
            raise FileNotFoundError("no program")

        return facts.check([self.page], self.source, {"operations": lambda: 1056, "gone": missing}, rewrite)

    def test_a_true_number_is_good(self):
        self.assertEqual(self.check("All <!-- fact:operations -->1,056<!-- /fact --> operations."), ([], 1))

    def test_a_stale_number_is_found(self):
        found, _ = self.check("\nAll <!-- fact:operations -->1,055<!-- /fact --> operations.")
        self.assertEqual(found, ["README.md:2: operations is 1,056, the page says 1,055; python3 tests/docs/facts.py --rewrite"])

    def test_an_unknown_fact_is_found(self):
        self.assertIn("no fact 'ops'; there are operations, gone", self.check("<!-- fact:ops -->1<!-- /fact -->")[0][0])

    def test_what_cannot_be_counted_is_found(self):
        self.assertIn("README.md:1: the fact gone cannot be counted: no program", self.check("<!-- fact:gone -->1<!-- /fact -->")[0][0])

    def test_a_fact_that_is_never_closed_is_found(self):
        self.assertIn("has no partner", self.check("<!-- fact:operations -->1,056")[0][0])
        self.assertIn("has no partner", self.check("1,056<!-- /fact -->")[0][0])

    def test_rewriting_corrects_the_number(self):
        self.assertEqual(self.check("All <!-- fact:operations -->1,055<!-- /fact -->.\n", rewrite=True), ([], 1))
        self.assertEqual(self.page.read_text(), "All <!-- fact:operations -->1,056<!-- /fact -->.\n")


if __name__ == "__main__":
    unittest.main()
