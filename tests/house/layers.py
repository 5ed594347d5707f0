#!/usr/bin/env python3
# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
"""Compares which rooms include which with the arrows that layers.txt allows.

A room is a folder that layers.txt names; a file belongs to the deepest room above it. An arrow that
is not allowed fails, and so does an allowed one that no file needs.
"""
import argparse
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

ROOTS = ("kernels", "")  # like the build's include paths
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)


def read_layers(text):
    """{room: set of rooms that it may include} of lines "room: other other"."""
    layers = {}
    for number, line in enumerate(text.splitlines(), 1):
        line = line.split("#")[0].strip()
        if not line:
            continue
        room, colon, others = line.partition(":")
        if not colon or room in layers:
            sys.exit(f"layers.txt:{number}: expected 'room: room ...', each room once, got '{line}'")
        layers[room] = set(others.split())
    return layers


def room_of(path, layers):
    for folder in path.parents:
        if str(folder) in layers:
            return str(folder)
    return None


def arrows(source, files, layers):
    """{(room, included room): [a place that includes it]} and the sources that lie in no room."""
    known = set(files)
    found, homeless = defaultdict(list), []
    for name in files:
        room = room_of(Path(name), layers)
        if room is None:
            homeless.append(name)
            continue
        for included in INCLUDE.findall((source / name).read_text(encoding="utf-8", errors="replace")):
            candidates = [str(Path(name).parent / included)] + [f"{root}/{included}".lstrip("/") for root in ROOTS]
            target = next((c for c in candidates if c in known), None)
            other = target and room_of(Path(target), layers)
            if other and other != room:
                found[room, other].append(f"{name} includes {included}")
    return found, homeless


def circles(layers):
    """The rooms that reach themselves by allowed arrows."""
    reach = {room: set(others) for room, others in layers.items()}
    for middle in reach:
        for room in reach:
            if middle in reach[room]:
                reach[room] |= reach[middle]
    return sorted(room for room in reach if room in reach[room])


def check(source, files, layers):
    """The sentences of what is wrong."""
    found, homeless = arrows(source, files, layers)
    problems = [f"{name} lies in no room of tests/house/layers.txt" for name in homeless]
    for (room, other), places in sorted(found.items()):
        if other not in layers[room]:
            problems.append(f"{places[0]}: {room} must not include {other} (tests/house/layers.txt)")
    for room, others in layers.items():
        for other in sorted(others):
            if (room, other) not in found:
                problems.append(f"tests/house/layers.txt: {room} includes nothing of {other}; remove the arrow")
    problems += [f"tests/house/layers.txt: {room} reaches itself" for room in circles(layers)]
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", type=Path, help="the checkout")
    source = parser.parse_args().source
    layers = read_layers((source / "tests/house/layers.txt").read_text(encoding="utf-8"))
    listed = subprocess.run(["git", "-c", f"safe.directory={source.resolve()}", "-C", str(source), "ls-files", "kernels", "tests", "perf"],
                            check=True, capture_output=True, text=True).stdout.split("\n")
    files = [name for name in listed if name.endswith((".h", ".cuh", ".cpp", ".cu")) and (source / name).is_file()]
    if not files:
        sys.exit(f"{source}: git lists no sources")
    problems = check(source, files, layers)
    print("\n".join(problems) or f"{len(files)} files, {len(layers)} rooms, {sum(map(len, layers.values()))} arrows")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
