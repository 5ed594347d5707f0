// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// kernelgrade emulate -- PROGRAM ARGUMENTS: a program that nvcc made, with this build's libcudart
// in the place of CUDA's (kernels/emulate): its kernels run on the executor, with --checked under
// the checkers, with --counts counted. It runs below kernelgrade-guard, so that no process of it is
// left when it, or the guard, ends.
#include "perf/candidate/sandbox.h"
#include "perf/cli/become.h"
#include "perf/cli/commands.h"
#include "runtime/atomic_file.h"

#include <cstdlib>
#include <fmt/format.h>
#include <vector>

namespace kg::cli {
namespace {

namespace fs = std::filesystem;

// As a shell finds it.
fs::path located(const std::string& program) {
  if (program.find('/') != std::string::npos) return program;
  const char* const path = std::getenv("PATH");
  std::string folder;
  for (const char* at = path ? path : "";; ++at) {
    if (*at != ':' && *at != '\0') {
      folder += *at;
      continue;
    }
    if (const fs::path found = fs::path(folder) / program; fs::exists(found)) return found;
    if (*at == '\0') return program;
    folder.clear();
  }
}

} // namespace

int emulate(const Options& options, World& world) {
  if (options.emulated.program.empty())
    throw UsageError("emulate: name a program: kernelgrade emulate -- ./program");
  const fs::path program = located(options.emulated.program.front());
  const auto image = read_file(program);
  if (!image) throw UsageError(fmt::format("{}: there is no such program", program.string()));
  if (image->find("libcudart.so.13") == std::string::npos)
    throw Error(fmt::format("{}: it is not linked with CUDA 13's libcudart.so; link it with nvcc "
                            "-cudart shared, and keep PTX in it (-gencode "
                            "arch=compute_80,code=compute_80)",
                            program.string()));
  fs::path folder = world.executable.parent_path().parent_path() / "lib" / "emulate";
  if (options.emulated.checked) folder /= "checked";
  if (!options.emulated.counts.empty()) {
    folder /= "counted";
    require_writable(options.emulated.counts); // not when the program is over
    setenv("KERNELGRADE_COUNTS", fs::absolute(options.emulated.counts).c_str(), 1);
  }
  need(world, folder / "libcudart.so.13", "emulate",
       "it takes nvcc, on the PATH when CMake configures the host preset");
  const char* const others = std::getenv("LD_LIBRARY_PATH");
  const std::string libraries =
      folder.string() + (others && *others ? std::string(":") + others : "");
  setenv("LD_LIBRARY_PATH", libraries.c_str(), 1);
  std::vector<std::string> words;
  if (const candidate::Sandbox sandbox = candidate::sandbox(); sandbox.on) {
    world.err << sandbox.words << "\n";
    words = {"--write", fs::current_path().string()};
    if (!options.emulated.counts.empty())
      words.insert(words.end(), {"--write", fs::absolute(options.emulated.counts).parent_path()});
  }
  words.insert(words.end(), {"--", fs::absolute(program).string()});
  words.insert(words.end(), options.emulated.program.begin() + 1, options.emulated.program.end());
  become(world, "kernelgrade-guard", words, "build the target commands");
}

} // namespace kg::cli
