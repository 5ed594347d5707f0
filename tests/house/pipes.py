#!/usr/bin/env python3
# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
"""No pipe ends before what writes to it: pipes.py SOURCE.

The scripts set `pipefail`. A command that stops reading early, as `grep -q` and `head` do, lets what writes to it die of SIGPIPE, so the
pipe fails or not with the size of the output and the speed of the machine. Write `grep ... >/dev/null` and `sed -n 1p` instead.
"""
import re
import subprocess
import sys
from pathlib import Path

EARLY = re.compile(r"(?<!\|)\|&?\s*(?:\w+=\S+\s+)*([ef]?grep\s+(?:-[^\s|]+\s+)*-(?:[A-Za-z]*[qm]|-quiet|-max-count)|head\b|sed\s[^|]*\d+\s*q\b)")
SCRIPT = re.compile(r"^#!.*\b(?:ba)?sh\b|^# shellcheck shell=|^FROM |^jobs:$|^runs:$", re.MULTILINE)


def check(source, files):
    """(a line per pipe that may end early, the number of scripts)"""
    found, scripts = [], 0
    for name in files:
        path = source / name
        if not path.is_file() or path.is_symlink():
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        if not SCRIPT.search(text[:4096]):
            continue
        scripts += 1
        text = re.sub(r"[ \t]# .*|^[ \t]*#.*$", "", text, flags=re.MULTILINE).replace("\\\n", " \v")
        for match in EARLY.finditer(text):
            line = text.count("\n", 0, match.start(1)) + text.count("\v", 0, match.start(1)) + 1
            found.append(f"{name}:{line}: '{match.group(1)}' ends a pipe early: write `grep ... >/dev/null` or `sed -n 1p`")
    return found, scripts


def main():
    source = Path(sys.argv[1]) if len(sys.argv) == 2 else sys.exit("usage: pipes.py SOURCE")
    listed = ["git", "-c", f"safe.directory={source.resolve()}", "-C", source, "ls-files", "-z"]
    listed += ["--", "grade", "*.sh", "*.yml", "*.in", "*Dockerfile*", ".ci", "packaging", "tests/ci", "tests/docs", "tests/house"]
    files = sorted({name for name in subprocess.run(listed, check=True, capture_output=True, text=True).stdout.split("\0") if name})
    found, scripts = check(source, [name for name in files if not name.endswith((".py", ".csv", ".md", ".txt"))])
    print("\n".join([*found, f"{scripts} scripts, {len(found)} pipes that end early"]))
    return 1 if found or not scripts else 0


if __name__ == "__main__":
    sys.exit(main())
