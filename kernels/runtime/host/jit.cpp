// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Kernels compiled at run time on the host backend: a C++ compiler builds a shared library that
// uses this program's executor.
#include "runtime/jit.h"

#include "runtime/atomic_file.h"
#include "runtime/hash.h"
#include "runtime/jit_build.h"
#include "runtime/temporary_folder.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <dlfcn.h>
#include <fmt/format.h>
#include <fstream>
#include <memory>
#include <optional>
#include <sys/wait.h>

// Called by instrumented code. A program defines the __tsan functions if it is linked with the
// checkers or the counters.
extern "C" [[gnu::weak]] void __tsan_init();

namespace kg::jit {
namespace {

struct Finished {
  int status = 0; // as of waitpid
  std::string output;
};

// Quotes one word of a shell command.
std::string quoted(const std::string& word) {
  std::string text = "'";
  for (const char c : word) {
    if (c == '\'')
      text += "'\\''";
    else
      text += c;
  }
  return text + '\'';
}

std::string command_line(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + quoted(word);
  return line;
}

// Runs a command and returns its standard output and standard error.
Finished run(const std::vector<std::string>& words) {
  struct Close {
    void operator()(std::FILE* pipe) const { pclose(pipe); }
  };
  const std::string line = command_line(words) + " 2>&1";
  std::unique_ptr<std::FILE, Close> pipe(popen(line.c_str(), "re"));
  if (!pipe)
    fail("cannot start " + line + ": " + system_error_text(errno) +
         "; are processes or memory limited?");
  Finished finished;
  std::array<char, 4096> block;
  while (const std::size_t got = std::fread(block.data(), 1, block.size(), pipe.get()))
    finished.output.append(block.data(), got);
  finished.status = pclose(pipe.release());
  return finished;
}

bool succeeded(const Finished& finished) {
  return WIFEXITED(finished.status) && WEXITSTATUS(finished.status) == 0;
}

std::string version_of(const std::string& compiler) {
  const Finished finished = run({compiler, "--version"});
  if (!succeeded(finished))
    fail(fmt::format("{} does not run as a C++ compiler: {}; set KERNELGRADE_JIT_CXX to one",
                     compiler, finished.output));
  return finished.output;
}

// The target of -march=native: the first processor's model and features, as Linux reports them.
std::string processor() {
  std::ifstream lines("/proc/cpuinfo");
  std::string model;
  Hash features;
  for (std::string line; std::getline(lines, line) && !line.empty();) {
    if (line.starts_with("model name")) model = line.substr(line.find(':') + 1);
    if (line.starts_with("flags") || line.starts_with("Features")) features.field(line);
  }
  return model + ' ' + features.hex();
}

void must_run(const Source& source, const std::vector<std::string>& command, Location where) {
  const Finished finished = run(command);
  if (!succeeded(finished))
    fail(fmt::format("{} ({}) does not compile:\n{}by {}", source.kernel, source.name,
                     finished.output, command_line(command)),
         where);
}

} // namespace

Toolchain toolchain() { return toolchain(processor()); }

Toolchain toolchain(const std::string& architecture) {
  const Build& build = build_settings();
  Toolchain result;
  result.compiler = detail::environment("KERNELGRADE_JIT_CXX");
  if (result.compiler.empty()) result.compiler = build.compiler;
  result.version = version_of(result.compiler);
  result.architecture = architecture;
  const std::string include = detail::include_folder(build.include);
  result.flags = build.flags;
  const std::vector<std::string>& kernels = __tsan_init ? build.checked_flags : build.kernel_flags;
  result.flags.insert(result.flags.end(), kernels.begin(), kernels.end());
  // CUDA code reads floats as int4 and the like. The program's thread-local variables have fixed
  // offsets.
  for (const char* flag :
       {"-DKG_BACKEND_CUDA=0", "-fno-strict-aliasing", "-fPIC", "-ftls-model=initial-exec", "-I"})
    result.flags.emplace_back(flag);
  result.flags.back() += include;
  result.headers = detail::hash_headers(include);
  result.cache = detail::cache_folder();
  return result;
}

namespace detail {

std::string build(const Source& source, const std::string& text, const Toolchain& toolchain,
                  Location where) {
  const TemporaryFolder folder;
  const std::string input = folder.path() / "kernel.cpp";
  const std::string object = folder.path() / "kernel.o";
  const std::string output = folder.path() / "kernel.so";
  write_file(input, text);
  std::vector<std::string> command = {toolchain.compiler};
  command.insert(command.end(), toolchain.flags.begin(), toolchain.flags.end());
  for (const std::string& word : {std::string("-c"), std::string("-o"), object, input})
    command.push_back(word);
  must_run(source, command, where);
  // Links separately and without the flags: instrumented code calls the program, not a sanitizer's
  // library. Inline functions that program and library both define bind to the library's own copy.
  must_run(source, {toolchain.compiler, "-shared", "-Wl,-Bsymbolic", "-o", output, object}, where);
  std::optional<std::string> code = read_file(output);
  require(code.has_value(), toolchain.compiler + " has made no library", where);
  return std::move(*code);
}

std::shared_ptr<void> load(const MachineCode& code, Location where) {
  void* const library = dlopen(code.file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    fail(fmt::format("a kernel compiled at run time cannot be loaded: {}; a symbol that is missing "
                     "must be exported by the program (CMake: ENABLE_EXPORTS)",
                     dlerror()),
         where);
  return {library, dlclose};
}

const void* find_kernel(void* library, const std::string& name, Location where) {
  const void* const kernel = dlsym(library, name.c_str());
  if (!kernel)
    fail(name + ": the text that was compiled at run time has no such kernel; declare it extern "
                "\"C\" __global__",
         where);
  return kernel;
}

} // namespace detail
} // namespace kg::jit
