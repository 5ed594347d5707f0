#!/usr/bin/env python3
# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs the commands that the documentation shows, and compares what they print.

  python3 tests/docs/commands.py [--build DIR] [PAGE...]      all pages without an argument; exit code 1 if something differs
  python3 tests/docs/commands.py --rewrite PAGE...            writes what the commands print into the pages
  python3 tests/docs/commands.py --here PAGE...               runs in the source tree itself, a fresh clone, with its own ./grade

Of a page, each block ```console runs, in order, in one scratch folder: the lines that begin with '$ ' are commands, the others what
they print. A command goes on in the next line after a backslash. The folder and the exported variables are kept from one command to
the next. The build tree's programs are on PATH; examples/ is a copy, build/host is the build tree, and ./grade COMMAND is kernelgrade
COMMAND. In the expected output `...` stands for anything: for any number of lines if it is alone on its line. Times, rates, sizes with
a unit, numbers from 1,000, dates, commits and the folders' names may differ (output.NORMALIZED).

A comment on a line of its own before a block changes how it runs:

  <!-- run: never, REASON -->      not at all: it needs a GPU, a network, another machine
  <!-- run: nightly -->            with --nightly alone, in a fresh clone with its own ./grade
  <!-- exit: 1 -->                 the exit code of the block's last command is 1; of all others it is 0
  <!-- needs: nvcc, nvdisasm -->   not where one of these programs is missing, or the command exits with 77
  <!-- numbers: vary -->           every number may differ
  <!-- file: NAME -->              before a block of another language: it is written to NAME in the scratch folder
  <!-- patch -->                   before a block ```diff: it is applied to the files of the scratch folder
"""

import argparse
import difflib
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from output import Shown, matches, merged
from page import Block, Page, pages, root

SECONDS = 300  # a longer command counts as hung
NIGHTLY_SECONDS = 7200
SKIPPED = 77
# A file passes the shell's state, its folder and exported variables, from one command to the next.
SHELL = 'source "$1"; eval "$2"; code=$?; { export -p; printf "cd %q\\n" "$PWD"; } >"$1"; exit $code'
# Commands build what they lack. Here it must already be built, because CTest runs other tests of the same tree in parallel.
CMAKE = """#!/bin/sh
for word; do
  if [ "$(realpath -m -- "$word")" = {build} ]; then
    echo "[1/1] not built: cmake $*; build it before this test, or say <!-- run: nightly -->"
    exit 1
  fi
done
exec {cmake} "$@"
"""
GRADE = '#!/bin/sh\n# ./grade COMMAND, where everything is built.\nexec kernelgrade "$@"\n'


@dataclass
class Command:
    line: int
    text: str
    expected: list[str] = field(default_factory=list)
    end: int = 0  # the line after its expected output


@dataclass
class Manner:
    """How a block runs."""

    when: str = "always"  # or nightly, never
    code: int = 0
    needs: list[str] = field(default_factory=list)
    numbers_vary: bool = False
    file: str = ""
    patch: bool = False


def manner(block: Block, where: str) -> Manner:
    """Raises ValueError for a comment of these words that says nothing we know."""
    found = Manner()
    for comment in block.comments:
        word, _, value = (part.strip() for part in comment.partition(":"))
        if word == "run" and re.fullmatch(r"never, \S.*", value, re.DOTALL):
            found.when = "never"
        elif word == "run" and re.fullmatch(r"nightly(, .+)?", value, re.DOTALL):
            found.when = "nightly"
        elif word == "exit" and re.fullmatch(r"\d+", value):
            found.code = int(value)
        elif word == "needs" and value:
            found.needs = [part.strip() for part in value.split(",")]
        elif word == "numbers" and value == "vary":
            found.numbers_vary = True
        elif word == "file" and value and not value.startswith("/") and ".." not in Path(value).parts:
            found.file = value
        elif word == "patch" and not value:
            found.patch = True
        elif word in ("run", "exit", "needs", "numbers", "file", "patch"):
            raise ValueError(
                f"{where}: <!-- {comment} --> is not known; write 'run: never, REASON', 'run: nightly', 'exit: CODE', "
                "'needs: PROGRAM', 'numbers: vary', 'file: NAME' inside the folder, or 'patch'"
            )
    return found


def commands_of(block: Block, where: str) -> list[Command]:
    """Raises ValueError for a block that does not begin with a command."""
    found: list[Command] = []
    more = False
    for number, line in enumerate(block.lines, block.line + 1):
        if more:
            found[-1].text += "\n" + line.removeprefix("> ")
        elif line.startswith("$ "):
            found.append(Command(number, line[2:]))
        elif found:
            found[-1].expected.append(line)
        else:
            raise ValueError(f"{where}: a block ```console begins with '$ ' and a command, got '{line}'")
        more = (more or line.startswith("$ ")) and line.endswith("\\")
        found[-1].end = number + 1
    if not found:
        raise ValueError(f"{where}: this block ```console has no command; write '$ ' before it")
    return found


def script(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


class Run:
    """One page's scratch folder and shell."""

    def __init__(self, source: Path, build: Path, nightly: bool = False, here: bool = False) -> None:
        self.folder = tempfile.TemporaryDirectory(prefix="kernelgrade-docs-")
        base = Path(self.folder.name)
        self.here, self.state, self.limit = base / "kernelgrade", base / "state", SECONDS
        path = [str(build / "perf"), str(build), os.environ["PATH"]]
        if here or nightly:
            self.limit = NIGHTLY_SECONDS
        if here:
            self.here = source
        elif nightly:
            subprocess.run(["git", "clone", "-q", str(source), str(self.here)], check=True)
        else:
            self.here.mkdir()
            if (source / "examples").is_dir():
                shutil.copytree(source / "examples", self.here / "examples")
            (self.here / "build").mkdir()
            (self.here / "build/host").symlink_to(build)
            script(self.here / "grade", GRADE)
            if cmake := shutil.which("cmake"):
                script(base / "bin/cmake", CMAKE.format(build=shlex.quote(str(build)), cmake=shlex.quote(cmake)))
            path.insert(0, str(base / "bin"))
        self.state.write_text(f"cd {shlex.quote(str(self.here))}\n")
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith(("CTEST_", "GTEST_", "KERNELGRADE_", "CI"))}
        self.environment |= {
            "PATH": os.pathsep.join(path),
            "TERM": "dumb",
            "LC_ALL": "C.UTF-8",
            "HOME": os.environ.get("HOME", str(base)) if here else str(base),  # a build may use the caches in HOME
            "GIT_CEILING_DIRECTORIES": str(base),
        }
        self.shown = Shown({base: "~", source: "~/kernelgrade", build: "~/kernelgrade/build/host", build.parent.parent: "~/kernelgrade"})

    def close(self) -> None:
        self.folder.cleanup()

    def command(self, text: str) -> tuple[int, list[str]]:
        """The exit code and what is printed to both streams. 124: it took too long."""
        call = ["timeout", "-k", "5", str(self.limit), "bash", "--norc", "-c", SHELL, "bash", str(self.state), text]
        done = subprocess.run(
            call, cwd=self.folder.name, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, check=False,
        )
        return done.returncode, self.shown.lines(done.stdout.decode(errors="replace"))

    def apply(self, block: Block) -> str:
        """Applies a patch; what git says against it."""
        text = "\n".join(block.lines) + "\n"
        done = subprocess.run(
            ["git", "apply", "--recount", "--unidiff-zero", "-"], cwd=self.here, env=self.environment, input=text, capture_output=True,
            text=True, check=False,
        )
        return done.stderr.strip() if done.returncode else ""


def check_page(path: Path, source: Path, build: Path, nightly: bool = False, rewrite: bool = False, here: bool = False) -> tuple[list[str], int, int]:
    """The findings, how many commands ran, and how many were left out. With `rewrite` the page's text is corrected."""
    name = os.path.relpath(path, source)
    found: list[str] = []
    ran = left_out = 0
    try:
        page = Page(path)
        blocks = [(block, manner(block, f"{name}:{block.line}")) for block in page.blocks]
        commands = {block.line: commands_of(block, f"{name}:{block.line}") for block in page.blocks if block.language == "console"}
    except (OSError, ValueError) as error:
        return [str(error)], 0, 0
    if not commands or (nightly and all(how.when != "nightly" for _, how in blocks)):
        return [], 0, 0
    lines = list(page.lines)
    changes: list[tuple[int, int, list[str]]] = []
    run = Run(source, build, nightly, here)
    try:
        for block, how in blocks:
            where = f"{name}:{block.line}"
            if block.language != "console":
                if how.file:
                    (run.here / how.file).parent.mkdir(parents=True, exist_ok=True)
                    (run.here / how.file).write_text("\n".join(block.lines) + "\n", encoding="utf-8")
                elif how.patch and (why := run.apply(block)):
                    found.append(f"{where}: the patch does not apply: {why}")
                continue
            missing = any(shutil.which(program, path=run.environment["PATH"]) is None for program in how.needs)
            if how.when == "never" or (how.when == "nightly" and not nightly) or missing:
                left_out += len(commands[block.line])
                continue
            for command in commands[block.line]:
                ran += 1
                code, actual = run.command(command.text)
                wanted = how.code if command is commands[block.line][-1] else 0
                if how.needs and code == SKIPPED:
                    ran, left_out = ran - 1, left_out + 1
                elif code != wanted:
                    found.append("\n  ".join([f"{name}:{command.line}: exit code {code}, expected {wanted}: $ {command.text}", *actual[-20:]]))
                elif not matches(command.expected, actual, how.numbers_vary):
                    if rewrite:
                        start = command.line + command.text.count("\n") + 1
                        changes.append((start - 1, command.end - 1, merged(command.expected, actual)))
                    else:
                        delta = list(difflib.unified_diff(command.expected, actual, "the page", "the command", lineterm="", n=1))
                        hint = f"$ {command.text}; if that is right: python3 tests/docs/commands.py --rewrite {name}"
                        found.append("\n  ".join([f"{name}:{command.line}: output differs: {hint}", *delta[:60]]))
    finally:
        run.close()
    for start, end, text in reversed(changes):
        lines[start:end] = text
    if changes:
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return found, ran, left_out


def main() -> int:
    parser = argparse.ArgumentParser(description="Runs the commands that the documentation shows, and compares what they print.")
    parser.add_argument("page", nargs="*", type=Path, help="default: all")
    parser.add_argument("--source", type=Path, default=root(), help="the project's root")
    parser.add_argument("--build", type=Path, help="the build tree whose programs run; default: build/host")
    parser.add_argument("--nightly", action="store_true", help="the pages with blocks `run: nightly`, in fresh clones")
    parser.add_argument("--here", action="store_true", help="run in the source tree itself, with its own ./grade, which may build")
    parser.add_argument("--rewrite", action="store_true", help="write what the commands print into the pages that are named")
    options = parser.parse_args()
    source = options.source.resolve()
    build = (options.build or source / "build/host").resolve()
    if (options.rewrite or options.here) and not options.page:
        parser.error("--rewrite and --here need the pages by name")
    if not (build / "CMakeCache.txt").exists():
        parser.error(f"--build {build}: no build tree; configure and build it, or name another one")
    chosen = [page.resolve() for page in options.page] or pages(source)
    with ThreadPoolExecutor(1 if options.here else os.cpu_count()) as pool:
        results = list(pool.map(lambda page: check_page(page, source, build, options.nightly, options.rewrite, options.here), chosen))
    for found, _, _ in results:
        for line in found:
            print(line)
    ran, left_out = sum(each[1] for each in results), sum(each[2] for each in results)
    findings = sum(len(each[0]) for each in results)
    print(f"{ran} commands ran, {left_out} were left out by their comments, {findings} findings")
    if ran + left_out == 0:
        print("skipped: no page has a block `run: nightly`" if options.nightly else "no page shows a command in a block ```console")
        return SKIPPED if options.nightly else 1
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
