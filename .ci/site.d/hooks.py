# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
"""What MkDocs does differently with the pages of docs/: links to sources, tables, and llms.txt."""

import posixpath
import re
from pathlib import Path

LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s#]*)(#[^)\s]*)?\)")
BLOCK = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
FIRST_PARAGRAPH = re.compile(r"^(?![#|<])\S.*(?:\n.+)*", re.MULTILINE)


def link_to_sources(text: str, page: str, repository: str) -> str:
    """Links that leave docs/ go to the repository; without one only their words stay. `page` is a path below docs/."""

    def of(match: re.Match) -> str:
        image, words, target, anchor = match.group(1), match.group(2), match.group(3), match.group(4) or ""
        path = posixpath.normpath(posixpath.join("docs", posixpath.dirname(page), target))
        if image or not target or ":" in target or path.startswith("docs/"):
            return match.group(0)
        return f"[{words}]({repository}/blob/main/{path}{anchor})" if repository else words

    return LINK.sub(of, text)


def plain_bars(text: str) -> str:
    """GitHub wants the bars of a code span in a table escaped, MkDocs does not."""
    rows = re.compile(r"^\|.*$", re.MULTILINE)
    return rows.sub(lambda row: re.sub(r"`[^`]*`", lambda code: code.group(0).replace("\\|", "|"), row.group(0)), text)


def breakable_ids(text: str) -> str:
    """An id that fills a cell of a table, such as sort.f32.keys_n65536_d2, may break after each point and underscore."""
    return re.sub(r"(?<=\| )[\w.]{20,}(?= \|)", lambda name: re.sub(r"[_.]", r"\g<0><wbr>", name.group(0)), text)


def converted(text: str, page: str, repository: str) -> str:
    """The page as MkDocs takes it. Code blocks stay as they are."""
    parts = BLOCK.split(text)
    parts[::2] = [link_to_sources(breakable_ids(plain_bars(part)), page, repository) for part in parts[::2]]
    return "".join(parts)


def summary(text: str) -> str:
    """The first paragraph, without comments and its links' targets; empty if there is none."""
    found = FIRST_PARAGRAPH.search(BLOCK.sub("", COMMENT.sub("", text)))
    return " ".join(LINK.sub(r"\2", found.group(0)).split()) if found else ""


def index(name: str, description: str, sections: list[tuple[str, list[tuple[str, str, str]]]]) -> str:
    """llms.txt (llmstxt.org): for each section the title, the address and the summary of its pages."""
    lines = [f"# {name}", "", f"> {description}"]
    for title, pages in sections:
        lines += ["", f"## {title}", ""]
        lines += [f"- [{page}]({url})" + (f": {text}" if text else "") for page, url, text in pages]
    return "\n".join(lines) + "\n"


def on_page_markdown(markdown, page, config, files):
    return converted(markdown, page.file.src_uri, (config.repo_url or "").rstrip("/"))


def on_nav(nav, config, files):
    config.extra["nav"] = nav


def on_post_build(config):
    """Each page's Markdown lies beside it, for those who read llms.txt."""
    site, address = Path(config.site_dir), config.site_url or "/"
    sections = []
    for item in config.extra["nav"].items:
        pages = []
        for page in item.children if item.is_section else [item]:
            file = site / page.file.src_uri
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(page.markdown, encoding="utf-8")
            pages.append((page.title, posixpath.join(address, page.file.src_uri), summary(page.markdown)))
        sections.append((item.title, pages))
    (site / "llms.txt").write_text(index(config.site_name, config.site_description, sections), encoding="utf-8")
