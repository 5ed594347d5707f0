#!/usr/bin/env python3
# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
"""layers.py, pipes.py, rooms.py and words.py on small trees that break their rules."""
import tempfile
import unittest
from pathlib import Path

import layers
import pipes
import rooms
import words


class Layers(unittest.TestCase):
    def problems(self, text, **files):
        with tempfile.TemporaryDirectory() as folder:
            names = []
            for name, content in files.items():
                path = Path(folder, *name.split("__")).with_suffix(".h")
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(content, encoding="utf-8")
                names.append(str(path.relative_to(folder)))
            return layers.check(Path(folder), names, layers.read_layers(text))

    def test_what_is_allowed_and_needed_passes(self):
        self.assertEqual(self.problems("kernels/a:\nkernels/b: kernels/a  # a reason\n",
                                       kernels__a__x="", kernels__b__y='#include "a/x.h"\n', kernels__b__z=' # include "kernels/a/x.h"'), [])

    def test_what_is_not_allowed_is_named(self):
        found = self.problems("kernels/a:\nkernels/b:\n", kernels__a__x="", kernels__b__y='#include "a/x.h"\n')
        self.assertEqual(found, ["kernels/b/y.h includes a/x.h: kernels/b must not include kernels/a (tests/house/layers.txt)"])

    def test_an_arrow_that_nobody_needs_is_named(self):
        self.assertIn("includes nothing of kernels/a", self.problems("kernels/a:\nkernels/b: kernels/a\n", kernels__a__x="", kernels__b__y="")[0])

    def test_circles_and_files_in_no_room_are_named(self):
        found = self.problems("kernels/a: kernels/b\nkernels/b: kernels/a\n", kernels__a__x='#include "b/y.h"', kernels__b__y='#include "a/x.h"', c__z="")
        self.assertEqual(found[0], "c/z.h lies in no room of tests/house/layers.txt")
        self.assertEqual(len([one for one in found if one.endswith("reaches itself")]), 2)

    def test_a_list_that_says_a_room_twice_is_refused(self):
        for text in ("a:\na:\n", "a\n"):
            with self.assertRaises(SystemExit):
                layers.read_layers(text)


class Rooms(unittest.TestCase):
    def test_each_room_has_one_row_and_each_row_a_folder(self):
        page = "| room | holds |\n|---|---|\n| `a/`, `b/c/` | `d/` |\n"
        self.assertEqual(rooms.check(page, ["a/x", "b/c/y"], {"a", "b/c"}), [])
        self.assertEqual(rooms.check(page, ["a/x", "b/c/y"], {"a", "b/c", "e"}), ["`e/` has no row"])
        self.assertEqual(rooms.check(page, ["a/x"], {"a"}), ["`b/c/` is not a folder"])
        self.assertEqual(rooms.check(page + "| `a/` | again |\n", ["a/x", "b/c/y"], {"a"}), ["`a/` has 2 rows"])


class Words(unittest.TestCase):
    def found(self, text):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "a.cpp").write_text(text, encoding="utf-8")
            return words.check(Path(folder), ["a.cpp"], words.replacements(Path(__file__).parents[2]))

    def test_a_message_with_a_private_word_is_named(self):
        self.assertIn("a.cpp:2: 'by day' in \"it runs by day only\": write", self.found('int a;\nfail("it runs "\n     "by day only");\n')[0])

    def test_a_message_in_british_spelling_is_named(self):
        self.assertIn("'normalised'", self.found('fail("x must be normalised first");\n')[0])
        self.assertIn("'uninitialised'", self.found('fail("an uninitialised read of x");\n')[0])
        self.assertEqual(self.found('fail("[uninitialised] kernel of x");\n'), [])

    def test_comments_code_paths_and_short_words_are_not_messages(self):
        self.assertEqual(self.found('// "it runs by day only"\nf("by day");\nf("write `by day` or path/by day-x");\n'), [])


class Pipes(unittest.TestCase):
    def found(self, text):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "a.sh").write_text(text, encoding="utf-8")
            return pipes.check(Path(folder), ["a.sh"])[0]

    def test_a_pipe_whose_reader_stops_early_is_named(self):
        for reader in ("grep -q x", "LC_ALL=C grep -Fqx x", "grep -F -m 1 x", "head -n 1", "sed 3q"):
            self.assertEqual(len(self.found(f"#!/usr/bin/env bash\nset -o pipefail\nzcat a |\\\n  {reader}\n")), 1, reader)
        self.assertIn("a.sh:3: 'head'", self.found("# shellcheck shell=bash\na \\\n  | head -n 1\n")[0])

    def test_readers_of_all_files_and_other_text_pass(self):
        self.assertEqual(self.found("#!/usr/bin/env bash\na | grep x >/dev/null\na || grep -q x y\ngrep -q x y # | head\n# a | head\na | sed -n 1p\n"), [])
        self.assertEqual(self.found("a | head -n 1\n"), [])


if __name__ == "__main__":
    unittest.main()
