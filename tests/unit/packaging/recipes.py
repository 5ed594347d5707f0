# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# recipes.py SOURCE BUILD [TEST...]: the Spack and conda recipes of packaging/ agree with the tree, and their steps make an installation
# that works. `Read` compares files; `Built` builds one operation by each recipe, in minutes. conda's are read and run by rattler-build
# itself where this Python has it (pip install py-rattler-build), with empty packages for what this machine has. 77: there is no PyYAML,
# or no patchelf to build with.
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

try:
    import yaml
except ImportError:
    print("skipped: there is no PyYAML (Debian: python3-yaml)")
    sys.exit(77)
if "Built" in sys.argv and not shutil.which("patchelf"):
    print("skipped: there is no patchelf (Debian: patchelf)")
    sys.exit(77)
try:
    import rattler_build
except ImportError:
    rattler_build = None
import spack_stand_in

source, build = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
spack = spack_stand_in.load(source / "packaging/spack/spack_repo/kernelgrade/packages/kernelgrade/package.py")
conda = source / "packaging/conda"

# Packages of Debian (cmake/packages.txt), and those of Spack and conda for them. Recipes bring no compiler cache, nothing to fetch sources
# by, and no Boost, which other CPUs and tests alone need.
NAMES = {
    "build-essential": ("cxx gcc libbacktrace", "compiler gxx libbacktrace"),
    "ca-certificates": ("", ""),
    "ccache": ("", ""),
    "cmake": ("cmake", "cmake"),
    "git": ("", ""),
    "googletest": ("googletest", "gtest"),
    "libboost-context-dev": ("", ""),
    "libcli11-dev": ("cli11", "cli11"),
    "libdnnl-dev": ("onednn", "onednn"),
    "libffi-dev": ("libffi", "libffi"),
    "libfmt-dev": ("fmt", "fmt"),
    "libgmock-dev": ("googletest", "gmock"),
    "libgtest-dev": ("googletest", "gtest"),
    "libopenblas-dev": ("openblas", "openblas"),
    "libpugixml-dev": ("pugixml", "pugixml"),
    "libsqlite3-dev": ("sqlite", "sqlite"),
    "libtbb-dev": ("intel-tbb", "tbb-devel"),
    "libthrust-dev": ("thrust", "cccl"),
    "libzstd-dev": ("zstd", "zstd"),
    "ninja-build": ("", "ninja"),  # Spack's `generator` brings it
    "nlohmann-json3-dev": ("nlohmann-json", "nlohmann_json"),
    "python3": ("python", "python"),
}


def recipe(name: str) -> dict:
    return yaml.safe_load((conda / name).read_text())


def first_words(texts) -> set[str]:
    return {re.search(r"[a-z][\w-]*", text)[0] for text in texts}


def options(text: str) -> dict[str, str]:
    """-DKERNELGRADE_X=value of a command line."""
    return dict(re.findall(r"-D(KERNELGRADE_\w+)(?::\w+)?=(\S+)", text))


class Read(unittest.TestCase):
    def test_version(self):
        (version,) = re.findall(r"^project\(Kernelgrade VERSION ([\d.]+)", (source / "CMakeLists.txt").read_text(), re.M)
        self.assertEqual(recipe("recipe.yaml")["package"]["version"], version)
        newest = [(arguments, named) for arguments, named in spack.directives["version"] if "tag" in named][0]
        self.assertEqual(newest, ((version,), {"tag": f"v{version}"}))

    def test_dependencies(self):
        packages = [line.split() for line in (source / "cmake/packages.txt").read_text().splitlines() if line and not line.startswith("#")]
        debian = {name for group, name in packages if group in ("build", "no-cuda")}
        self.assertEqual(debian, set(NAMES), "name it here and in both recipes")
        wanted = [{name for each in NAMES.values() for name in each[of].split()} | {"patchelf"} for of in (0, 1)]  # KERNELGRADE_BUNDLE
        always = [arguments[0] for arguments, named in spack.directives["depends_on"] if "when" not in named]
        self.assertEqual(first_words(always), wanted[0])
        self.assertEqual(first_words(sum(recipe("recipe.yaml")["requirements"].values(), [])), wanted[1])
        needed = {arguments[0].split("@")[0] for arguments, named in spack.directives["depends_on"] if named.get("when")}
        self.assertEqual(needed, {arguments[0] for arguments, _ in spack.directives["variant"]})

    def test_options(self):
        known = set(re.findall(r"(?m)^(KERNELGRADE_\w+):", (build / "CMakeCache.txt").read_text()))
        wheel = re.search(r"\[tool.scikit-build.cmake.define\]\n(.*?)\n\n", (source / "pyproject.toml").read_text(), re.S)[1]
        wheel = dict(re.findall(r'^(KERNELGRADE_\w+) = "(.*)"', wheel, re.M))
        self.assertLessEqual(set(wheel), known)
        self.assertEqual(options((conda / "build.sh").read_text()), wheel)
        self.assertEqual(options(" ".join(spack(source, "").cmake_args())), wheel)

    @unittest.skipUnless(rattler_build, "no py-rattler-build")
    def test_conda_is_rendered(self):
        for name in ("recipe.yaml", "libbacktrace/recipe.yaml"):
            (rendered,) = rattler_build.Stage0Recipe.from_file(conda / name).render(rattler_build.VariantConfig())
            self.assertEqual(rendered.recipe.package.version, recipe(name)["package"]["version"])


class Built(unittest.TestCase):
    def setUp(self):
        self.work = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.work)
        self.source = self.work / "source"
        shutil.copytree(source, self.source, ignore=lambda folder, _: {".git", "build"} if Path(folder) == source else set())

    def test_spack(self):
        spack(self.source, self.work).install("-DKERNELGRADE_OPS=axpy")

    def test_conda(self):
        if rattler_build:
            (rendered,) = rattler_build.Stage0Recipe.from_file(self.source / "packaging/conda/recipe.yaml").render(rattler_build.VariantConfig())
            channel = self.channel(rendered.recipe.to_dict()["requirements"])
            tool = rattler_build.ToolConfiguration(test_strategy="native", error_prefix_in_binary=True)
            alike = rattler_build.EnvironmentIsolation.NONE # the compiler and its cache are this machine's
            rendered.run_build(tool, self.work / "out", channels=[channel.as_uri()], env_isolation=alike)
            return
        prefix = self.work / "prefix"
        given = {**os.environ, "PREFIX": str(prefix), "CMAKE_ARGS": "-DKERNELGRADE_OPS=axpy", "CXX": "g++"}
        subprocess.run(["bash", conda / "build.sh"], cwd=self.source, env=given, check=True)
        given["PATH"] = f"{prefix}/bin:{given['PATH']}"
        scripted, listed = recipe("recipe.yaml")["tests"]
        for command in scripted["script"]:
            subprocess.run(["bash", "-ec", command], cwd=self.source, env=given, check=True)
        for file in listed["package_contents"]["files"]:
            self.assertTrue((prefix / file).exists(), file)

    def channel(self, requirements: dict) -> Path:
        """Empty packages for the recipe's, but one that asks for one operation and one that holds patchelf."""
        folder, packages = self.work / "channel/linux-64", {}
        ops = self.work / "ops.sh"
        ops.write_text("export CMAKE_ARGS=-DKERNELGRADE_OPS=axpy CXX=g++\n")
        held = {"cmake": [(ops, "etc/conda/activate.d/ops.sh")], "patchelf": [(shutil.which("patchelf"), "bin/patchelf")]}
        for text in sum(requirements.values(), []):
            name, version = text.split()[0], re.search(r"[\d.]*\d|$", " ".join(text.split()[1:]))[0] or "1"
            files = [rattler_build.FileEntry.from_paths(*each) for each in held.get(name, [])]
            made = rattler_build.assemble_package(name=name, version=version, target_platform="linux-64", build_string="0", output_dir=folder, files=files)
            packages[made.path.name] = {"name": name, "version": version, "build": "0", "build_number": 0, "depends": [], "subdir": "linux-64",
                                        "sha256": hashlib.sha256(made.path.read_bytes()).hexdigest(), "size": made.path.stat().st_size}
        (folder / "repodata.json").write_text(json.dumps({"info": {"subdir": "linux-64"}, "packages": {}, "packages.conda": packages}))
        (self.work / "channel/noarch").mkdir()
        (self.work / "channel/noarch/repodata.json").write_text(json.dumps({"info": {"subdir": "noarch"}, "packages": {}, "packages.conda": {}}))
        return self.work / "channel"


unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
