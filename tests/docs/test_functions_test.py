# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
import unittest

from test_functions import check

HEADER = """// says(nothing)
double ulp(Dtype dtype, double value);
inline std::vector<double> bounds(
    int k) {
  return made(k);
}
"""
PAGE = "# T\n\n## A\n\nHeader: `a.h`.\n\n| function | what |\n|---|---|\n"


class TestFunctions(unittest.TestCase):
    def found(self, rows, page=PAGE):
        return check(page + rows, {"a.h": HEADER})

    def test_all_functions_pass(self):
        self.assertEqual(self.found("| `ulp`, `bounds` | x |\n"), [])

    def test_a_function_that_is_gone_or_missing_is_named(self):
        found = self.found("| `ulp` | x |\n| `says` | x |\n")
        self.assertIn("says: a.h declares no such function", found[0])
        self.assertIn("bounds of a.h is missing", found[1])

    def test_a_section_may_have_some(self):
        self.assertEqual(self.found("| `ulp` | x |\n", PAGE.replace("`a.h`.", "`a.h`. It has more.")), [])

    def test_a_section_without_a_header_is_named(self):
        self.assertIn("existing header", self.found("", PAGE.replace("a.h", "b.h"))[0])
        self.assertIn("no sections", check("# T\n", {})[0])


if __name__ == "__main__":
    unittest.main()
