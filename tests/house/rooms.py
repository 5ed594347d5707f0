#!/usr/bin/env python3
# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
"""The tables of docs/internals/architecture.md name every room of layers.txt and every other folder
of the checkout's first level, each once, and no folder that git does not know."""
import argparse
import re
import subprocess
import sys
from pathlib import Path

FIRST_CELL = re.compile(r"^\|([^|]+)\|", re.MULTILINE)
FOLDER = re.compile(r"`([^`]+)/`")


def check(page, files, rooms):
    """The sentences of what is wrong. `files` are the checkout's, `rooms` the folders that need a row."""
    named = [name for cell in FIRST_CELL.findall(page) for name in FOLDER.findall(cell)]
    folders = {str(parent) for name in files for parent in Path(name).parents}
    problems = [f"`{room}/` has no row" for room in sorted(rooms - set(named))]
    problems += [f"`{name}/` has {named.count(name)} rows" for name in sorted(set(named)) if named.count(name) > 1]
    problems += [f"`{name}/` is not a folder" for name in sorted(set(named) - folders)]
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", type=Path, help="the checkout")
    source = parser.parse_args().source
    name = "docs/internals/architecture.md"
    files = subprocess.run(["git", "-c", f"safe.directory={source.resolve()}", "-C", str(source), "ls-files"],
                           check=True, capture_output=True, text=True).stdout.split("\n")
    rooms = {line.partition(":")[0] for line in (source / "tests/house/layers.txt").read_text(encoding="utf-8").splitlines()
             if line and not line.startswith("#")}
    rooms |= {path.split("/")[0] for path in files if "/" in path} - {"kernels", "perf", "tests"}
    problems = check((source / name).read_text(encoding="utf-8"), files, rooms)
    print("\n".join(f"{name}: {problem}" for problem in problems) or f"{len(rooms)} rooms")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
