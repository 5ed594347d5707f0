// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/code/sass/nvdisasm.h"

#include "perf/measure/child_process.h"
#include "runtime/atomic_file.h"
#include "runtime/error.h"
#include "runtime/temporary_folder.h"

#include <cstdlib>
#include <fmt/format.h>
#include <unistd.h>
#include <vector>

namespace kg::sass {
namespace {

namespace fs = std::filesystem;

bool is_program(const fs::path& path) {
  return fs::is_regular_file(path) && access(path.c_str(), X_OK) == 0;
}

std::vector<fs::path> folders() {
  std::vector<fs::path> found;
  const char* const path = std::getenv("PATH");
  std::string_view rest = path ? path : "";
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    if (end > 0) found.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  if (const char* const home = std::getenv("CUDA_HOME")) found.push_back(fs::path(home) / "bin");
  found.emplace_back("/usr/local/cuda/bin");
  return found;
}

// The CUDA 13 packages share nvidia/cu13; earlier packages had separate folders.
fs::path of_python() {
  constexpr const char* kFind = "import glob,nvidia\n"
                                "for p in nvidia.__path__:\n"
                                "  for f in sorted(glob.glob(p+'/*/bin/nvdisasm')): print(f)\n";
  try {
    const perf::Finished asked = perf::run_process({"python3", "-c", kFind}, perf::Output::capture);
    const std::string first = asked.output.substr(0, asked.output.find('\n'));
    if (asked.exit_code == 0 && is_program(first)) return first;
  } catch (const Error&) { // there is no Python
  }
  return {};
}

} // namespace

fs::path find_nvdisasm() {
  const char* const named = std::getenv("KERNELGRADE_NVDISASM");
  if (named != nullptr && std::string_view(named) == "none") return {};
  if (named != nullptr && *named != '\0') {
    require(is_program(named),
            fmt::format("KERNELGRADE_NVDISASM is {}, which is not a program; set it to the path of "
                        "nvdisasm, or not at all",
                        named));
    return named;
  }
  for (const fs::path& folder : folders())
    if (is_program(folder / "nvdisasm")) return folder / "nvdisasm";
  return of_python();
}

std::string nvdisasm_missing() {
  return "nvdisasm not found on PATH, in the CUDA toolkit or in python3's packages; install it "
         "(`pip install nvidia-cuda-nvdisasm`), or let KERNELGRADE_NVDISASM name it";
}

std::string disassemble(const fs::path& nvdisasm, std::string_view cubin, const std::string& file) {
  const TemporaryFolder folder;
  const fs::path written = folder.path() / "kernels.cubin";
  write_file(written, std::string(cubin));
  const perf::Finished ran = perf::run_process(
      {nvdisasm.string(), "-c", "-gi", "-hex", written.string()}, perf::Output::capture);
  if (ran.exit_code != 0)
    throw Error(fmt::format("{}: {} ended {}; use an nvdisasm that is no older than the nvcc that "
                            "compiled it",
                            file, nvdisasm.string(), perf::ending(ran)));
  return ran.output;
}

} // namespace kg::sass
