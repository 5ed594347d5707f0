# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
"""What a command printed, compared with what a page says that it prints."""

import difflib
import re
from pathlib import Path

LIKE = 0.6  # similarity from which two lines count as one changed line
NUMBER = r"\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?"
NORMALIZED = [
    (r"\b\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d)?Z?)?\b|\b\d{8}T\d{6}Z\b", "<date>"),
    (r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}\b", "<commit>"),
    (rf"\b{NUMBER} (?:h|min)(?: \d+ (?:min|s))*\b", "<time>"),
    (rf"\b{NUMBER} ?(?:ns|us|µs|ms|s|seconds?|minutes?)\b", "<time>"),
    (rf"\b{NUMBER} ?(?:[KMGT]i?B|[GT]FLOPS?|[GT]FLOP|[GM]Hz)(?:/s)?\b", "<size>"),
    (r"(?<![\w.:,])(?:\d{4,}|\d{1,3}(?:,\d{3})+)(?:\.\d+)?(?![\w,])", "<number>"),
]


class Shown:
    """How output is shown in a page: `folders` have the names that they would have for a reader."""

    def __init__(self, folders: dict[Path, str]) -> None:
        self.names = {str(each): name for folder, name in folders.items() for each in (folder, folder.resolve())}
        longest_first = sorted(map(re.escape, self.names), key=len, reverse=True)
        self.pattern = re.compile(rf"(?:{'|'.join(longest_first)})(?![\w.-])")

    def lines(self, output: str) -> list[str]:
        text = self.pattern.sub(lambda match: self.names[match.group(0)], output)
        lines = [line.split("\r")[-1].rstrip() for line in re.sub(r"\x1b\[[0-9;]*m", "", text).split("\n")]
        while lines and not lines[-1]:
            lines.pop()
        return lines


def normalized(line: str, numbers_vary: bool) -> str:
    for pattern, word in NORMALIZED:
        line = re.sub(pattern, word, line)
    if numbers_vary:
        line = re.sub(rf"(?<![\w.])-?{NUMBER}(?!\w)|<(?:time|size|number)>", "<number>", line)
    return " ".join(line.split())


def matches(expected: list[str], actual: list[str], numbers_vary: bool = False) -> bool:
    """Whether a page's output fits: a line `...` fits any lines, `...` inside a line any text."""
    parts = []
    for line in expected:
        if line.strip() == "...":
            parts.append(r"(?:[^\n]*\n)*")
        else:
            words = [re.escape(normalized(word, numbers_vary)) for word in line.split("...")]
            parts.append(r"[^\n]*".join(words) + r" ?\n")
    text = "".join(normalized(line, numbers_vary) + "\n" for line in actual)
    return re.fullmatch("".join(parts).replace(r"[^\n]* ?\n", r"[^\n]*\n"), text) is not None


def shortened(expected: str, actual: str) -> str:
    """The line to write in the place of `expected`, which may break off with `...`."""
    if matches([expected], [actual]):
        return expected
    if not expected.endswith("..."):
        return actual
    count = len(expected.removesuffix("...").split())
    found = re.match(rf"\s*(?:\S+\s+){{{count}}}", actual)
    return found.group(0) + "..." if found else actual


def likeness(expected: list[str], actual: list[str]) -> float:
    return difflib.SequenceMatcher(None, "\n".join(expected), "\n".join(actual)).ratio()


def merged(expected: list[str], actual: list[str]) -> list[str]:
    """The output to write: of each run of lines between two `...` the lines of `actual` that are most like it."""
    runs: list[list[str]] = [[]]
    for line in expected:
        if line.strip() == "...":
            runs.append([])
        else:
            runs[-1].append(line)
    if len(runs) == 1:
        return actual
    if len(runs[0]) + len(runs[-1]) >= len(actual):
        return actual
    end = len(actual) - len(runs[-1])
    places = [(0, runs[0])]
    at = len(runs[0])
    for run in runs[1:-1]:
        likely = max(range(at, end - len(run) + 1), key=lambda start: likeness(run, actual[start : start + len(run)]), default=None)
        if run and likely is not None and likeness(run, actual[likely : likely + len(run)]) > LIKE:
            places.append((likely, run))
            at = likely + len(run)
    places.append((end, runs[-1]))
    lines: list[str] = []
    at = 0
    for start, run in places:
        if start > at:
            lines.append("...")
        lines += [shortened(*pair) for pair in zip(run, actual[start:], strict=False)]
        at = start + len(run)
    return lines
