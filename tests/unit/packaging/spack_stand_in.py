# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# A stand-in for the part of Spack that package.py uses: it notes the directives, and runs the phases of a CMakePackage in their order.
import collections
import contextlib
import re
import runpy
import shutil
import subprocess
import sys
import types
from pathlib import Path


class Prefix(str):
    """A folder whose attributes are what lies in it."""

    def __getattr__(self, name):
        return Prefix(f"{self}/{name}")


def which(program, required=False):
    def run(*arguments, output=None, error=None, fail_on_error=True):
        done = subprocess.run([program, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=fail_on_error)
        return done.stdout

    found = shutil.which(program)
    assert found or not required, f"{program} is not there"
    return run if found else None


def check_outputs(patterns, text):
    for pattern in patterns:
        assert re.search(pattern, text), f"nothing matches {pattern}:\n{text}"


def cache_extra_test_sources(package, folders):
    for folder in folders:
        shutil.copytree(f"{package.source}/{folder}", f"{package.test_suite.current_test_cache_dir}/{folder}")


def run_after(phase):
    def marked(method):
        method.run_after = phase
        return method

    return marked


class CMakePackage:
    build_targets = []
    install_targets = ["install"]

    def __init__(self, source, work):
        self.source, self.build, self.prefix = source, f"{source}/build/spack", Prefix(f"{work}/prefix")
        self.test_suite = types.SimpleNamespace(current_test_cache_dir=Prefix(f"{work}/tests"))

    def define(self, name, value):
        return f"-D{name}:BOOL={'ON' if value else 'OFF'}" if isinstance(value, bool) else f"-D{name}:STRING={value}"

    def methods(self):
        return [getattr(self, name) for name in dir(type(self))]

    def install(self, *options):
        """Configures with `options` behind the recipe's own, builds, installs, and runs the test_ methods."""
        standard = [f"-DCMAKE_INSTALL_PREFIX={self.prefix}", "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_CXX_COMPILER=g++"]
        subprocess.run(["cmake", "-G", "Ninja", "-S", self.source, "-B", self.build, *standard, *self.cmake_args(), *options], check=True)
        for targets in (self.build_targets, self.install_targets):
            subprocess.run(["cmake", "--build", self.build, "--target", *targets], check=True)
        hooks = [method for method in self.methods() if getattr(method, "run_after", None) == "install"]
        tests = [method for method in self.methods() if getattr(method, "__name__", "").startswith("test_")]
        assert tests, "the recipe has no test_ method"
        for method in hooks + tests:
            method()


def load(path: Path):
    """The package's class, with its directives as `directives`: name -> list of (arguments, named arguments)."""
    directives = collections.defaultdict(list)
    api = types.ModuleType("spack.package")
    for name in ("depends_on", "license", "requires", "variant", "version"):
        setattr(api, name, lambda *arguments, _name=name, **named: directives[_name].append((arguments, named)))
    for function in (which, check_outputs, cache_extra_test_sources, run_after):
        setattr(api, function.__name__, function)
    api.working_dir = contextlib.chdir
    cmake = types.ModuleType("spack_repo.builtin.build_systems.cmake")
    cmake.CMakePackage = CMakePackage
    cmake.generator = lambda name: directives["generator"].append(((name,), {}))
    sys.modules.update({module.__name__: module for module in (types.ModuleType("spack"), api, cmake)})
    for parent in ("spack_repo", "spack_repo.builtin", "spack_repo.builtin.build_systems"):
        sys.modules[parent] = types.ModuleType(parent)
    (package,) = [each for each in runpy.run_path(str(path)).values() if isinstance(each, type) and issubclass(each, CMakePackage) and each is not CMakePackage]
    package.directives = directives
    return package
