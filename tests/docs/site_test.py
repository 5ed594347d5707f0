# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
"""What the site's hooks (.ci/site.d/hooks.py) make of a page."""

import sys
import unittest

from page import root

sys.path.insert(0, str(root() / ".ci/site.d"))
import hooks


class Hooks(unittest.TestCase):
    def test_links_to_sources_go_to_the_repository(self):
        page = "a [b\nc](../../perf/x.h#L1), [d](../how-to/e.md#f), [g](https://h/i), ![j](../../k.png)\n"
        at_home = hooks.converted(page, "reference/p.md", "https://r")
        self.assertEqual(at_home, page.replace("../../perf", "https://r/blob/main/perf", 1))
        self.assertEqual(hooks.converted(page, "reference/p.md", ""), page.replace("[b\nc](../../perf/x.h#L1)", "b\nc"))

    def test_bars_in_code_of_tables(self):
        self.assertEqual(hooks.converted("| `a\\|b` | c \\| d |\n", "p.md", ""), "| `a|b` | c \\| d |\n")

    def test_ids_of_tables_may_break(self):
        ids = "| sort.f32.keys_n65536_d2 | `sort.f32.keys_n65536_d2` | naive | [a](how_to_run_a_long_study.md) |\n"
        self.assertEqual(hooks.converted(ids, "p.md", ""), ids.replace("| sort.f32.keys_n65536_d2 |", "| sort.<wbr>f32.<wbr>keys_<wbr>n65536_<wbr>d2 |"))

    def test_code_blocks_stay(self):
        page = "```console\n$ [x](../../y)\n| `a\\|b`\n```\n"
        self.assertEqual(hooks.converted(page, "p.md", ""), page)

    def test_summaries_are_first_paragraphs(self):
        self.assertEqual(hooks.summary("<!-- x -->\n# T\n\n```console\n$ a\n```\n\n`b` is\n<!-- fact:n -->1<!-- /fact --> [c](d.md).\n\nE.\n"), "`b` is 1 c.")
        self.assertEqual(hooks.summary("# T\n\n| a |\n|---|\n"), "")

    def test_the_index_names_every_page(self):
        sections = [("How to", [("A", "/how-to/a.md", "Does a."), ("B", "/how-to/b.md", "")])]
        self.assertEqual(hooks.index("K", "Tests.", sections), "# K\n\n> Tests.\n\n## How to\n\n- [A](/how-to/a.md): Does a.\n- [B](/how-to/b.md)\n")


if __name__ == "__main__":
    unittest.main()
