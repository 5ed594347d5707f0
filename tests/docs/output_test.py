# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
"""output.py knows what may differ."""

import unittest

import output


class Fits(unittest.TestCase):
    def assert_fits(self, expected, actual, **options):
        self.assertTrue(output.matches(expected.split("\n"), actual.split("\n"), **options), (expected, actual))

    def assert_differs(self, expected, actual, **options):
        self.assertFalse(output.matches(expected.split("\n"), actual.split("\n"), **options), (expected, actual))

    def test_times_sizes_and_great_numbers_may_differ(self):
        self.assert_fits("passed in 6 min 20 s", "passed in 41 s")
        self.assert_fits("1.5 ms at 12.3 GB/s", "870 us at 1.2 TB/s")
        self.assert_fits("costs: 21,979 unchanged", "costs: 22107 unchanged")
        self.assert_fits("kept in 20261127T101108Z at 2026-11-27 by f26261c9", "kept in 20270101T000000Z at 2027-01-01 by 1daa5196")
        self.assert_fits("row    1.5 us", "row 12345.6 us")

    def test_all_else_may_not(self):
        self.assert_differs("12 passed", "13 passed")
        self.assert_differs("at softmax.cu:1042", "at softmax.cu:1044")
        self.assert_differs("rows1000_cols777", "rows2000_cols777")
        self.assert_differs("one", "one\ntwo")
        self.assert_differs("one\ntwo", "one")
        self.assert_differs("512 bytes", "256 bytes")
        self.assert_differs("a deadline", "a headline")

    def test_all_numbers_may_differ_where_the_page_says_so(self):
        self.assert_fits("row 12 0.5 x8", "row 130 -2.25e-3 x8", numbers_vary=True)
        self.assert_differs("row 12 x8", "row 12 x9", numbers_vary=True)

    def test_dots_stand_for_lines_or_for_the_rest_of_one(self):
        self.assert_fits("a\n...\nz", "a\nb\nc\nz")
        self.assert_fits("a\n...\nz", "a\nz")
        self.assert_fits("...", "")
        self.assert_differs("a\n...\nz", "a\nb")
        self.assert_fits("one, ... three", "one, two, three")
        self.assert_fits("one ...", "one two")
        self.assert_differs("one ...", "two")
        self.assert_differs("one ...", "one two\nthree")

    def test_rewritten_output_keeps_its_dots(self):
        self.assertEqual(output.merged(["a", "...", "z"], ["A", "b", "c", "Z"]), ["A", "...", "Z"])
        self.assertEqual(output.merged(["a", "...", "m", "...", "y", "z"], list("abcmdfg")), ["a", "...", "m", "...", "f", "g"])
        self.assertEqual(output.merged(["a", "...", "z"], ["A", "Z"]), ["A", "Z"])
        self.assertEqual(output.merged(["a"], ["b", "c"]), ["b", "c"])
        self.assertEqual(output.merged(["...", "z"], ["a", "b"]), ["...", "b"])
        self.assertEqual(output.merged(["a", "...", "m 1 m", "...", "z"], ["a", "b", "m 2 m", "c", "d"]), ["a", "...", "m 2 m", "...", "d"])
        self.assertEqual(output.merged(["one, ...", "...", "y"], ["one, two", "b", "z"]), ["one, ...", "...", "z"])
        self.assertEqual(output.merged(["one, ...", "...", "y"], ["1 two three", "b", "y"]), ["1 ...", "...", "y"])


if __name__ == "__main__":
    unittest.main()
