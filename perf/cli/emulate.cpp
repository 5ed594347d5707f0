// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// kernelgrade emulate -- PROGRAM ARGUMENTS: runs a program with this build's libcudart and libcuda
// in place of CUDA's (kernels/cuda/binary). Its kernels run on the executor: with --checked under
// the checkers, with --counts counted. kernelgrade-guard supervises it, so no process survives the
// program or the guard. Then lists kernels that never ran, and approximations.
#include "perf/cli/candidate/sandbox.h"
#include "perf/cli/commands.h"
#include "perf/cli/exec_program.h"
#include "perf/code/coverage/coverage.h"
#include "perf/code/coverage/fidelity.h"
#include "perf/format/sinks.h"
#include "perf/measure/child_process.h"
#include "runtime/atomic_file.h"
#include "runtime/temporary_folder.h"

#include <cstdlib>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <vector>

namespace kg::cli {
namespace {

namespace fs = std::filesystem;

// Searches PATH like a shell.
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

// Symbols show that nvcc linked the runtime into the program.
void demand_symbols(const fs::path& program) {
  const auto image = read_file(program);
  if (!image) throw UsageError(fmt::format("{}: no such program", program.string()));
  const auto names = [&](const char* word) { return image->find(word) != std::string::npos; };
  if (image->starts_with("\177ELF") && names("cuGetExportTable") && !names("libcudart.so.") &&
      !names("libcudart_static_"))
    throw Error(fmt::format("{}: it is stripped, and the CUDA runtime is linked into it; do not "
                            "strip it, or link it with nvcc -cudart shared",
                            program.string()));
}

void put(const char* name, const std::string& value) { setenv(name, value.c_str(), 1); }

// Keeps a framework's compiled kernels apart from code for GPUs.
void set_cache(const char* variable, const char* in_home) {
  const char* const given = std::getenv(variable);
  const char* const home = std::getenv("HOME");
  const fs::path cache =
      given && *given ? fs::path(given) : fs::path(home ? home : "/tmp") / in_home;
  put(variable, cache / "kernelgrade");
}

// Puts a path before the others of a variable such as LD_PRELOAD.
void put_first(const char* name, const std::string& path) {
  const char* const others = std::getenv(name);
  put(name, others && *others ? path + ":" + others : path);
}

// Makes Triton, CuPy, Numba, PyCUDA and cuda.bindings load PTX instead of machine code, through the
// emulated driver and runtime. `common` holds what they share, `folder` the libraries.
void lead_frameworks(const fs::path& common, const fs::path& folder) {
  put("TRITON_LIBCUDA_PATH", folder);
  put("TRITON_PTXAS_PATH", common / "ptxas");
  put("TRITON_PTXAS_BLACKWELL_PATH", common / "ptxas"); // Triton 3.9, from capability 9.0 on
  put_first("PYTHONPATH", common / "python");
  set_cache("TRITON_CACHE_DIR", ".triton");
  put("CUPY_COMPILE_WITH_PTX", "1");
  set_cache("CUPY_CACHE_DIR", ".cupy/kernel_cache");
  put("NUMBA_CUDA_DRIVER", folder / "libcuda.so.1");
}

// The checkers' verdict without findings; faults are printed when they occur.
std::string verdict(const coverage::Notes& notes, int exit_code) {
  if (notes.printed_fault) return "";
  if (notes.launches == 0)
    return exit_code == 0 ? "nothing was checked: the program launched no kernel, or it ended by "
                            "_exit()\n"
                          : "";
  const std::string checked =
      fmt::format("no races, memory errors or wrong barriers ({} {} in one order of threads)",
                  notes.launches, notes.launches == 1 ? "launch" : "launches");
  return exit_code == 0
             ? fmt::format("passed: {}\n", checked)
             : fmt::format("{}, but the program ended with exit code {}\n", checked, exit_code);
}

// Runs the program below the guard with `words`, then summarizes its notes. Returns its exit code.
int run_and_sum_up(const EmulateOptions& options, std::vector<std::string> words, World& world) {
  const fs::path guard = world.executable.parent_path() / "kernelgrade-guard";
  need(world, guard, "kernelgrade-guard", "build the target commands");
  words.insert(words.begin(), {guard.string(), "--with-parent", "1"});
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "notes";
  put("KERNELGRADE_NOTES", file);
  if (!options.coverage.empty()) put("KERNELGRADE_LINES", "1");
  world.out.flush();
  const perf::Finished finished = perf::wait_process(perf::start_process(words));
  const coverage::Notes notes = coverage::read_notes(read_file(file).value_or(""));
  world.err << judge::printable(coverage::coverage_text(notes, fs::current_path().string()) +
                                coverage::fidelity_text(notes.inexact))
            << (options.checked ? verdict(notes, finished.exit_code) : "") << std::flush;
  if (!options.json.empty())
    write_file(options.json, judge::for_json({{"schema", 1},
                                              {"program", options.program},
                                              {"exit_code", finished.exit_code},
                                              {"coverage", coverage::notes_json(notes)}},
                                             2) +
                                 "\n");
  if (!options.coverage.empty()) write_file(options.coverage, coverage::lcov_of(notes));
  return finished.exit_code;
}

} // namespace

int emulate(const Options& options, World& world) {
  if (options.emulated.program.empty())
    throw UsageError("emulate: name a program: kernelgrade emulate -- ./program");
  const fs::path program = located(options.emulated.program.front());
  demand_symbols(program);
  for (const fs::path& file :
       {options.emulated.counts, options.emulated.json, options.emulated.coverage}) {
    try { // fail now, not when the program is over
      if (!file.empty()) require_writable(file);
    } catch (const Error& error) {
      throw UsageError(error.what());
    }
  }
  fs::path folder = world.executable.parent_path().parent_path() / "lib" / "emulate";
  const fs::path common = folder;
  if (options.emulated.checked) folder /= "checked";
  if (!options.emulated.counts.empty()) {
    folder /= "counted";
    put("KERNELGRADE_COUNTS", fs::absolute(options.emulated.counts));
  }
  need(world, folder / "libcudart.so.13", "emulate",
       "it takes nvcc, on the PATH when CMake configures the host preset");
  put_first("LD_LIBRARY_PATH", folder.string() + ":" + common.string());
  if (options.emulated.uninitialised_loads) put("KERNELGRADE_UNINITIALISED_LOADS", "1");
  const fs::path redirects = common / "libkernelgrade_static_cudart.so";
  need(world, redirects, "emulate", "build the target emulate");
  put_first("LD_PRELOAD", redirects);
  std::vector<std::string> words;
  std::optional<TemporaryFolder> cache;
  if (const candidate::Sandbox sandbox = candidate::sandbox(); sandbox.on) {
    world.err << sandbox.words << "\n";
    // g++ compiles PTX to host code in the temporary folder.
    words = {"--write", fs::current_path().string(), "--write", fs::temp_directory_path().string()};
    // A sandboxed program must not leave code that runs outside the sandbox. So compiled kernels
    // are kept for this run only, unless the caller names a folder.
    for (const char* const variable :
         {"KERNELGRADE_JIT_CACHE", "TRITON_CACHE_DIR", "CUPY_CACHE_DIR", "PYCUDA_CACHE_DIR"}) {
      if (const char* const named = std::getenv(variable); named && *named) {
        fs::create_directories(named);
        words.insert(words.end(), {"--write", fs::absolute(named)});
      } else {
        if (!cache) cache.emplace();
        fs::create_directory(cache->path() / variable);
        put(variable, cache->path() / variable);
      }
    }
    if (!options.emulated.counts.empty())
      words.insert(words.end(), {"--write", fs::absolute(options.emulated.counts).parent_path()});
  }
  lead_frameworks(common, folder);
  words.insert(words.end(), {"--", fs::absolute(program).string()});
  words.insert(words.end(), options.emulated.program.begin() + 1, options.emulated.program.end());
  return run_and_sum_up(options.emulated, words, world);
}

} // namespace kg::cli
