# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# spack repo add packaging/spack/spack_repo/kernelgrade && spack install kernelgrade   (Spack 1.0 or newer)
from pathlib import Path

from spack.package import *
from spack_repo.builtin.build_systems.cmake import CMakePackage, generator


class Kernelgrade(CMakePackage):
    """Correctness and performance test suite for CUDA kernels, with or without a GPU."""

    git = f"file://{Path(__file__).resolve().parents[6]}"  # the clone that has this recipe
    license("Apache-2.0")

    version("main", branch="main")
    version("0.2.0", tag="v0.2.0")

    variant("cuda", default=False, description="With `kernelgrade emulate`, which nvcc's headers are needed to build")

    generator("ninja")
    requires("target=x86_64:")
    requires("%gcc@12:", msg="g++ alone instruments kernels as the checkers need it")

    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("patchelf", type="build")
    depends_on("python@3.9:", type="build")
    depends_on("cli11@2.1:")
    depends_on("fmt@9+shared")
    depends_on("googletest@1.12:+gmock")
    depends_on("intel-tbb@2021.8:")
    depends_on("libbacktrace@master cflags=-fPIC")  # 2020-02-19 misreads what g++ 12 writes
    depends_on("libffi")
    depends_on("nlohmann-json@3.11:")
    depends_on("onednn@2.7:3")
    depends_on("openblas@0.3.21:")
    depends_on("pugixml")
    depends_on("sqlite")
    depends_on("thrust@1.17:")
    depends_on("zstd")
    depends_on("cuda@13", type=("build", "run"), when="+cuda")
    depends_on("gcc@12:", type="run")  # compiles the kernels of users

    build_targets = ["installable"]

    def cmake_args(self):
        return [
            self.define("CMAKE_INSTALL_LIBDIR", "lib"),
            self.define("CMAKE_SKIP_INSTALL_ALL_DEPENDENCY", True),  # the tests of 56 operations
            self.define("KERNELGRADE_BACKEND", "host"),
            self.define("KERNELGRADE_BUNDLE", True),  # calls the g++ on PATH, not the compiler wrapper
            self.define("KERNELGRADE_HOST_ARCH", "-march=x86-64-v2"),
        ]

    def check(self):
        """No tests of the build, which were not built: see test_check."""

    @run_after("install")
    def keep_examples(self):
        cache_extra_test_sources(self, ["examples/check"])

    def test_check(self):
        """find the data race of an example"""
        kernelgrade = which(self.prefix.bin.kernelgrade, required=True)
        with working_dir(self.test_suite.current_test_cache_dir.examples.check):
            said = kernelgrade("check", "race.cu", output=str.split, error=str.split, fail_on_error=False)
        check_outputs([r"\[race\] kernel reverse_chunks"], said)
