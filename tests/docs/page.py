# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
"""A page of the documentation, taken apart: paragraphs, table cells, code blocks, headings and links, each with its line."""

import re
from dataclasses import dataclass, field
from pathlib import Path

FENCE = re.compile(r"^\s*(```+|~~~+)\s*([\w+-]*)")
COMMENT = re.compile(r"<!--(.*?)-->", re.DOTALL)
CODE = re.compile(r"(`+)(.+?)\1", re.DOTALL)
LINK = re.compile(r"!?\[((?:[^\[\]]|\[[^\]]*\])*)\]\(\s*([^)\s]+)(?:\s+\"[^\"]*\")?\s*\)")
ITEM = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+")


@dataclass
class Text:
    """A run of words that starts at `line`; kind is paragraph, cell or heading."""

    kind: str
    line: int
    text: str


@dataclass
class Block:
    """A fenced code block: its first fence is at `line`. `comments` are those between it and the text before it."""

    line: int
    language: str
    lines: list[str] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)


def root() -> Path:
    return Path(__file__).resolve().parents[2]


def pages(source: Path) -> list[Path]:
    """The pages of the documentation: every .md at the root and below docs."""
    return [*sorted(source.glob("*.md")), *sorted((source / "docs").rglob("*.md"))]


def blank(match: re.Match) -> str:
    """Removes what was matched, but keeps its line ends, so that later lines keep their numbers."""
    return "\n" * match.group(0).count("\n")


def words_of(text: str) -> str:
    """The text as it is read: a code span is one word, a link is its text, an image is nothing."""
    text = CODE.sub(lambda match: "CODE" + blank(match), text)
    return LINK.sub(lambda match: blank(match) if match.group(0).startswith("!") else match.group(1), text)


def slug(heading: str) -> str:
    """The anchor that GitHub gives a heading."""
    text = LINK.sub(r"\1", heading).replace("`", "").strip().lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


class Page:
    """Raises ValueError, with file and line, for a code block that is never closed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lines = path.read_text(encoding="utf-8").splitlines()
        self.blocks: list[Block] = []
        self.prose: list[str] = []  # lines outside code blocks; lines inside are empty
        self._split()
        self.texts = self._texts()

    def _split(self) -> None:
        inside, fence, waiting = None, "", []
        for number, line in enumerate(self.lines, 1):
            match = FENCE.match(line)
            if inside is not None:
                if match and match.group(1).startswith(fence) and not match.group(2):
                    inside = None
                else:
                    inside.lines.append(line)
            elif match:
                inside, fence = Block(number, match.group(2), [], waiting), match.group(1)
                self.blocks.append(inside)
                waiting = []
            else:
                found = COMMENT.fullmatch(line.strip())
                if found:
                    waiting.append(found.group(1).strip())
                elif line.strip():
                    waiting = []
                self.prose.append(line)
                continue
            self.prose.append("")
        if inside is not None:
            raise ValueError(f"{self.path}:{inside.line}: this code block is never closed; add a line with {fence}")

    def _texts(self) -> list[Text]:
        texts: list[Text] = []
        open_text = None
        for number, raw in enumerate(COMMENT.sub(blank, "\n".join(self.prose)).split("\n"), 1):
            line = re.sub(r"^\s*>\s?", "", raw).strip()
            if not line or line.startswith("<"):
                open_text = None
            elif line.startswith("#"):
                texts.append(Text("heading", number, line.lstrip("#").strip()))
                open_text = None
            elif line.startswith("|"):
                open_text = None
                if not re.fullmatch(r"[|\s:-]+", line):
                    cells = re.split(r"(?<!\\)\|", CODE.sub("CODE", line).strip("|"))
                    texts += [Text("cell", number, cell.strip()) for cell in cells if cell.strip()]
            elif open_text is None or ITEM.match(raw):
                open_text = Text("paragraph", number, ITEM.sub("", line))
                texts.append(open_text)
            else:
                open_text.text += "\n" + line  # both without surrounding blanks
        return texts

    def links(self) -> list[tuple[int, str]]:
        """The targets of links and images, with their lines."""
        text = CODE.sub(blank, COMMENT.sub(blank, "\n".join(self.prose)))
        # A link's text may contain code, which is blanked here.
        return [(text.count("\n", 0, match.start()) + 1, match.group(2)) for match in LINK.finditer(text)]

    def code_spans(self) -> list[tuple[int, str]]:
        """Their texts, with their lines."""
        text = COMMENT.sub(blank, "\n".join(self.prose))
        return [(text.count("\n", 0, match.start()) + 1, match.group(2).strip()) for match in CODE.finditer(text)]

    def anchors(self) -> set[str]:
        seen: dict[str, int] = {}
        found = set(re.findall(r"<a (?:id|name)=\"([^\"]+)\"", "\n".join(self.prose)))
        for text in self.texts:
            if text.kind == "heading":
                name = slug(text.text)
                count = seen.get(name, 0)
                found.add(f"{name}-{count}" if count else name)
                seen[name] = count + 1
        return found
