#!/usr/bin/env python3
# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
"""Messages use the field's words: words.py SOURCE.

A message is a string literal of at least three words in the sources of kernels/, perf/, tests/contract/ and tests/support/.
tests/docs/words.txt, which the documentation's pages obey, names the words that have a replacement. Text in backticks, paths, SQL and C++ are not searched.
"""
import re
import subprocess
import sys
from pathlib import Path

FOLDERS = ["kernels", "perf", "tests/contract", "tests/support"]
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
ADJOINING = re.compile(r'"\s*\n\s*"')  # one message in several lines


def replacements(source):
    sys.path.insert(0, str(source / "tests/docs"))
    from prose import read_words  # noqa: PLC0415: from the given source

    return read_words(source / "tests/docs/words.txt")


def messages(text):
    """(line, message) of each string literal; a message that goes on in the next line is one."""
    text = re.sub(r"^\s*//.*$", "", text, flags=re.MULTILINE)
    joined = ADJOINING.sub(lambda found: "\x00" * found.group(0).count("\n"), text)
    for found in LITERAL.finditer(joined):
        message = found.group(1).replace("\x00", "")
        words = re.sub(r"`[^`]*`|\S*/\S*", "", message)
        if len(re.findall(r"[A-Za-z]{2,}", words)) >= 3 and not re.search(r"SELECT |#include", message):
            before = joined[: found.start()]
            yield before.count("\n") + before.count("\x00") + 1, words


def check(source, files, words):
    """A line per word that has a replacement."""
    return [
        f"{name}:{line}: '{match.group(0)}' in \"{message}\": write {word.instead}"
        for name in files
        for line, message in messages((source / name).read_text(encoding="utf-8"))
        for word in words
        for match in [word.pattern.search(message)]
        if match
    ]


def main():
    source = Path(sys.argv[1]) if len(sys.argv) == 2 else sys.exit("usage: words.py SOURCE")
    listed = ["git", "-c", f"safe.directory={source.resolve()}", "-C", source, "ls-files", "--"]
    listed += [f"{folder}/*.{ending}" for folder in FOLDERS for ending in ("h", "cpp", "cu")]
    files = subprocess.run(listed, check=True, capture_output=True, text=True).stdout.split()
    found = check(source, files, replacements(source))
    print("\n".join([*found, f"{len(files)} files, {len(found)} words to replace"]))
    return 1 if found or not files else 0


if __name__ == "__main__":
    sys.exit(main())
