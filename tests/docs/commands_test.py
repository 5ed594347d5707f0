# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
"""commands.py sees a dead command and a stale output, and nothing where there is neither."""

import tempfile
import unittest
from pathlib import Path

import commands


def console(text, comment=""):
    return f"{comment}\n```console\n{text}\n```\n"


class Commands(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.source = Path(folder.name).resolve()
        self.build = self.source / "build/host"
        (self.build / "perf").mkdir(parents=True)
        (self.source / "docs").mkdir()
        (self.source / "examples").mkdir()
        (self.source / "examples/a.cu").write_text("kernel\n")
        commands.script(self.build / "perf/kernelgrade", '#!/bin/sh\necho "kernelgrade: $*"\n')
        self.page = self.source / "docs/page.md"

    def run_page(self, text, nightly=False, rewrite=False):
        self.page.write_text(text, encoding="utf-8")
        return commands.check_page(self.page, self.source, self.build, nightly, rewrite)

    def assert_good(self, text, ran=1, left_out=0):
        self.assertEqual(self.run_page(text), ([], ran, left_out))

    def assert_found(self, text, *words):
        found, _, _ = self.run_page(text)
        self.assertEqual(len(found), 1, found)
        for word in words:
            self.assertIn(word, found[0])

    def test_a_command_that_prints_what_the_page_says_is_good(self):
        self.assert_good(console("$ echo one; echo two >&2\none\ntwo"))
        self.assert_good(console("$ echo one \\\n    two\none two\n$ true"), ran=2)

    def test_a_dead_command_is_found(self):
        self.assert_found("\n\n" + console("$ kernelgrade-gone list"), "docs/page.md:5: exit code 127, expected 0: $ kernelgrade-gone list", "not found")
        self.assert_found(console("$ false"), "exit code 1, expected 0")

    def test_a_stale_output_is_found_with_the_command_that_rewrites_it(self):
        self.assert_found(console("$ echo 12 tests\n11 tests"), "docs/page.md:3: output differs", "-11 tests", "+12 tests", "--rewrite docs/page.md")
        self.assert_found(console("$ echo one"), "+one")

    def test_another_exit_code_is_said_by_a_comment_of_the_last_command(self):
        self.assert_good(console("$ false", "<!-- exit: 1 -->"))
        self.assert_found(console("$ true", "<!-- exit: 1 -->"), "exit code 0, expected 1")
        self.assert_found(console("$ false\n$ exit 1", "<!-- exit: 1 -->"), "page.md:3: exit code 1, expected 0")

    def test_what_does_not_run_is_counted(self):
        self.assert_good(console("$ gone", "<!-- run: never, it needs a GPU -->"), ran=0, left_out=1)
        self.assert_good(console("$ gone\n$ gone", "<!-- run: nightly -->\n<!-- exit: 1 -->"), ran=0, left_out=2)

    def test_what_needs_a_program_runs_where_it_is(self):
        self.assert_good(console("$ gone", "<!-- needs: sh, gone -->"), ran=0, left_out=1)
        self.assert_good(console("$ exit 77", "<!-- needs: sh -->"), ran=0, left_out=1)
        self.assert_found(console("$ false", "<!-- needs: sh -->"), "exit code 1")
        self.assert_found(console("$ exit 77"), "exit code 77")

    def test_a_comment_that_says_nothing_known_is_refused(self):
        for comment in ("run: never", "run: sometimes", "exit: one", "numbers: no", "file: ../a", "file: /a", "patch: a"):
            self.assert_found(console("$ true", f"<!-- {comment} -->"), f"page.md:2: <!-- {comment} --> is not known")
        self.assert_good(console("$ true", "<!-- a remark: of the writer -->"))

    def test_a_block_without_a_command_is_refused(self):
        self.assert_found(console("ls"), "page.md:2: a block ```console begins with '$ ' and a command, got 'ls'")
        self.assert_found("```console\n```\n", "page.md:1: this block ```console has no command")

    def test_folder_and_variables_are_kept_within_a_page(self):
        self.assert_good(console("$ mkdir a && cd a && export WORD='x y'") + "Text.\n" + console("$ echo $WORD; pwd\nx y\n~/kernelgrade/a"), ran=2)

    def test_programs_examples_and_the_build_tree_are_there(self):
        self.assert_good(console("$ kernelgrade list\nkernelgrade: list\n$ ./grade try a\nkernelgrade: try a\n$ cat examples/a.cu\nkernel"), ran=3)
        self.assert_good(console("$ ls build/host/perf\nkernelgrade"))

    def test_the_source_tree_stays_as_it_is(self):
        self.assert_good(console("$ echo other >examples/a.cu"))
        self.assertEqual((self.source / "examples/a.cu").read_text(), "kernel\n")

    def test_nothing_is_built(self):
        self.assert_found(console("$ cmake --build build/host --target x"), "exit code 1", "not built: cmake --build build/host --target x")
        self.assert_found(console(f"$ cmake --build {self.build} --target x"), "not built")
        self.assertNotIn("not built", self.run_page(console("$ cmake --version"))[0][0])

    def test_a_page_writes_and_patches_files(self):
        text = "<!-- file: src/a.cu -->\n```cpp\none\ntwo\n```\n\n"
        patch = "<!-- patch -->\n```diff\n--- a/src/a.cu\n+++ b/src/a.cu\n@@ -1,2 +1,2 @@\n-one\n+ONE\n two\n```\n\n"
        self.assert_good(text + console("$ cat src/a.cu\none\ntwo") + patch + console("$ cat src/a.cu\nONE\ntwo"), ran=2)
        self.assert_found(text + patch.replace("-one", "-four") + console("$ true"), "page.md:8: the patch does not apply")

    def test_rewriting_corrects_the_output_alone(self):
        text = "# A\n" + console("$ echo 12; \\\n  echo 13\n11\n$ echo a\na") + "\nText.\n" + console("$ echo b\n\n...") + console("$ seq 9\n0\n...\n0")
        self.assertEqual(self.run_page(text, rewrite=True)[0], [])
        self.assertEqual(self.page.read_text(), text.replace("\n11\n", "\n12\n13\n").replace("\n\n...", "\nb").replace("0\n...\n0", "1\n...\n9"))
        self.assertEqual(self.run_page(self.page.read_text())[0], [])

    def test_rewriting_does_not_hide_a_dead_command(self):
        self.assertIn("exit code 1", self.run_page(console("$ false\nout"), rewrite=True)[0][0])


if __name__ == "__main__":
    unittest.main()
