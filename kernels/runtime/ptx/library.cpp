// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/ptx/library.h"

#include "runtime/atomic_file.h"
#include "runtime/jit.h"
#include "runtime/ptx/ahead.h"
#include "runtime/ptx/emit.h"
#include "runtime/ptx/fatbin.h"
#include "runtime/ptx/prelude.h"
#include "runtime/ptx/variables.h"

#include <atomic>
#include <charconv>
#include <cstdlib>
#include <deque>
#include <dlfcn.h>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string_view>
#include <unordered_map>
#include <vector>

extern "C" [[gnu::weak]] const char __executable_start; // not in a shared library

namespace kg::ptx_run {
namespace {

namespace fs = std::filesystem;

// Like kernels compiled at run time, but less optimized: compilation takes less than half the time,
// and the code runs as fast, because the functions that it calls take the time. What would be a
// fault of a source, such as an overflowing sum, is not one of machine code.
const jit::Toolchain& toolchain() {
  static const jit::Toolchain made = [] {
    jit::Toolchain result = jit::toolchain();
    std::vector<const char*> flags = {
        "-Og", "-w", "-fno-sanitize=bounds,signed-integer-overflow,shift,integer-divide-by-zero"};
    if (result.version.find("clang") == std::string::npos) // g++'s passes; a seventh of its time
      flags.insert(flags.end(), {"-fno-guess-branch-probability", "-fno-tree-ch",
                                 "-fno-cprop-registers", "-fira-region=one"});
    result.flags.insert(result.flags.end(), flags.begin(), flags.end());
    return result;
  }();
  return made;
}

struct Translated {
  Module module; // with only this kernel
  Emitted emitted;
  jit::Source source;
};

Translated translate(const Program& program, const std::string& entry, std::size_t place = 0) {
  Translated made{program.with(entry), {}, {}};
  require(!made.module.entries.empty(),
          fmt::format("{}: it has no entry named {}", made.module.name, entry));
  made.emitted = emit(made.module, made.module.entries.front(), place);
  made.source.name = made.module.name;
  made.source.text = made.emitted.text;
  made.source.kernel = made.emitted.function;
  made.source.bare = true;
  return made;
}

// Creates what a library looks up when it is loaded.
void make_variables(const Translated& translated) {
  for (const std::string& variable : translated.emitted.variables)
    make_variable(translated.module, variable);
  if (!translated.emitted.lines.empty())
    record_lines(translated.module.id + " " + translated.module.entries.front().name,
                 translated.emitted.lines);
  keep_primitives();
}

struct Kept { // as long as the process lives, because kernels are launched again
  std::mutex mutex;
  std::deque<std::shared_ptr<void>> libraries;
  std::deque<std::string> names;
  std::deque<std::vector<std::size_t>> parameters, offsets;
  std::map<const void*, StaticShared> shared; // of kernels that have any
};
Kept& kernels_kept() {
  static Kept kept;
  return kept;
}

// Loads the kernel of `source`, which may also contain the texts of other kernels. All their
// variables exist.
LoadedKernel load(const Translated& translated, const jit::Source& source,
                  const std::string& entry) {
  Kept& kept = kernels_kept();
  const Module& module = translated.module;
  const std::shared_ptr<void> library =
      jit::detail::load(jit::machine_code(source, toolchain()), Location::here());
  const void* const run =
      jit::detail::find_kernel(library.get(), translated.emitted.function, Location::here());
  const std::lock_guard lock(kept.mutex);
  kept.libraries.push_back(library);
  kept.names.push_back(detail::readable_kernel_name(entry.c_str()));
  detail::name_kernel(run, kept.names.back().c_str());
  if (const Emitted& emitted = translated.emitted; emitted.static_shared_bytes > 0)
    kept.shared[run] = {emitted.static_shared_bytes, emitted.shared};
  kept.parameters.emplace_back();
  kept.offsets.emplace_back();
  std::size_t end = 0;
  for (const Parameter& parameter : module.entries.front().parameters) {
    const std::size_t begin =
        (end + parameter.alignment - 1) / parameter.alignment * parameter.alignment;
    kept.parameters.back().push_back(parameter.bytes);
    kept.offsets.back().push_back(begin);
    end = begin + parameter.bytes;
  }
  return {reinterpret_cast<void (*)(void**)>(const_cast<void*>(run)),
          translated.emitted.static_shared_bytes,
          kept.parameters.back(),
          kept.offsets.back(),
          translated.emitted.inexact,
          module.entries.front().cluster};
}

LoadedKernel load(const Translated& translated, const std::string& entry) {
  make_variables(translated);
  return load(translated, translated.source, entry);
}

// The 16-bit types in a kernel's name: a test run of an operation uses one type.
std::pair<bool, bool> types_of(std::string_view mangled) {
  const auto has = [&](std::string_view type) { return mangled.find(type) != mangled.npos; };
  return {has("6__half"), has("13__nv_bfloat16")};
}

std::atomic<bool> ahead_allowed = true;

// The PTX of a folder's fat binaries, and the text that contains each kernel.
class Library {
 public:
  explicit Library(std::string folder) : folder_(std::move(folder)) {
    require(fs::is_directory(folder_), "KERNELGRADE_PTX=" + folder_ +
                                           ": no such folder; build the target fatbins, and name "
                                           "<build>/resources/<arch>-cuda<version>");
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder_))
      if (entry.path().extension() == ".fatbin" || entry.path().extension() == ".ptx")
        add(entry.path());
    require(!where_.empty(), "KERNELGRADE_PTX=" + folder_ +
                                 ": no file in it holds PTX; compile "
                                 "with nvcc -fatbin for a virtual architecture as well");
  }

  // A folder is compiled for one architecture, that of the first module: ".target sm_90a".
  int architecture() const {
    constexpr std::string_view kTarget = ".target sm_";
    const std::string_view ptx = texts_.front().ptx;
    const std::size_t at = ptx.find(kTarget);
    int found = 0;
    if (at != std::string_view::npos)
      std::from_chars(ptx.data() + at + kTarget.size(), ptx.data() + ptx.size(), found);
    require(found != 0, texts_.front().name + " names no architecture (.target sm_...)");
    return found;
  }

  LoadedKernel load(const char* name) {
    const auto found = where_.find(std::string_view(name));
    if (found == where_.end())
      throw Error(
          fmt::format("{}: no fat binary in KERNELGRADE_PTX={} holds this kernel; build the target "
                      "fatbins, or unset the variable",
                      detail::readable_kernel_name(name), folder_));
    Text& text = *found->second;
    const Translated translated = translate(text.read(), name);
    if (ahead_allowed && !jit::is_kept(translated.source, toolchain())) compile_ahead(text, name);
    return ptx_run::load(translated, name);
  }

 private:
  struct Text {
    explicit Text(const fs::path& path)
        : folder(path.parent_path()), name(path.stem().string() + ".ptx"), file(path) {}

    const Program& read() {
      if (!program) program.emplace(ptx, name);
      return *program;
    }

    fs::path folder;  // one per operation
    std::string name; // "softmax.ptx"
    MappedFile file;  // the fat binary
    std::string_view ptx;
    std::vector<std::string> kernels;
    std::optional<Program> program; // after the first launch
  };

  // A program that launches a kernel not yet compiled will launch others of its operation and type.
  void compile_ahead(const Text& wanted, std::string_view kernel) {
    for (Text& text : texts_) {
      if (text.folder != wanted.folder) continue;
      for (const std::string& name : text.kernels)
        if (name != kernel && types_of(name) == types_of(kernel) && begun_.insert(name).second)
          do_ahead([&program = text.read(), &name] {
            jit::machine_code(translate(program, name).source, toolchain());
          });
    }
  }

  void add(const fs::path& path) {
    Text& kept = texts_.emplace_back(path);
    if (path.extension() == ".ptx")
      kept.ptx = kept.file.contents();
    else
      for (const FatbinEntry& entry : read_fatbin(kept.file.contents(), path.string()))
        if (entry.kind == FatbinEntry::Kind::ptx) kept.ptx = entry.ptx();
    kept.kernels = entry_names(kept.ptx);
    for (const std::string& name : kept.kernels) where_.emplace(name, &kept);
  }

  std::string folder_;
  std::deque<Text> texts_; // at stable addresses
  std::unordered_map<std::string_view, Text*> where_;
  std::set<std::string_view> begun_; // queued for compilation
};

// A folder's kernels, and the results of looking up launched kernels.
struct Opened {
  std::unique_ptr<Library> library; // opened on first use
  std::map<const void*, std::optional<LoadedKernel>> known;

  Library& library_of(const std::string& folder) {
    if (!library) library = std::make_unique<Library>(folder);
    return *library;
  }
};

// The kernels that launches run. A test that switches between two folders opens each only once.
struct Chosen {
  std::mutex mutex;
  std::string folder = [] {
    const char* value = std::getenv("KERNELGRADE_PTX");
    return std::string(value ? value : "");
  }();
  std::map<std::string, Opened> opened;
  std::atomic<bool> enabled = !folder.empty();
};
Chosen& chosen() {
  static Chosen made;
  return made;
}

} // namespace

void take_cluster(const LoadedKernel& kernel, LaunchConfig& config) {
  if (!kernel.cluster) return;
  const auto [x, y, z] = *kernel.cluster;
  const dim3 given = config.cluster;
  if (given.x * given.y * given.z > 1 && (given.x != x || given.y != y || given.z != z))
    fail(fmt::format("a launch with clusters of ({},{},{}) blocks of a kernel whose clusters have "
                     "({},{},{}); leave the attribute out",
                     given.x, given.y, given.z, x, y, z),
         config.where);
  config.cluster = {x, y, z};
}

const StaticShared& static_shared(const void* run) {
  static const StaticShared none;
  Kept& kept = kernels_kept();
  const std::lock_guard lock(kept.mutex);
  const auto found = kept.shared.find(run);
  return found == kept.shared.end() ? none : found->second;
}

LoadedKernel compile(std::string_view ptx, const std::string& name, const std::string& entry) {
  return compile(Program(ptx, name), entry);
}

LoadedKernel compile(const Program& program, const std::string& entry) {
  return load(translate(program, entry), entry);
}

std::vector<LoadedKernel> compile(std::string_view ptx, const std::string& name,
                                  const std::vector<std::string>& entries) {
  const Program program(ptx, name);
  std::vector<Translated> translated;
  jit::Source all;
  for (const std::string& entry : entries) {
    translated.push_back(translate(program, entry, translated.size()));
    all.text += translated.back().source.text;
    make_variables(translated.back());
  }
  all.name = name;
  all.kernel = name;
  all.bare = true;
  std::vector<LoadedKernel> kernels;
  for (std::size_t i = 0; i < entries.size(); ++i)
    kernels.push_back(load(translated[i], all, entries[i]));
  return kernels;
}

detail::ErasedKernel erased(const LoadedKernel& kernel) {
  return {reinterpret_cast<const void*>(kernel.run), [](const void* run, void** arguments) {
            reinterpret_cast<void (*)(void**)>(const_cast<void*>(run))(arguments);
          }};
}

void use(const std::string& folder) {
  Chosen& now = chosen();
  const std::lock_guard lock(now.mutex);
  now.folder = folder;
  now.enabled = !folder.empty();
}

void compile_only_launched() { ahead_allowed = false; }

bool enabled() { return chosen().enabled; }

int architecture() {
  Chosen& now = chosen();
  const std::lock_guard lock(now.mutex);
  return now.opened[now.folder].library_of(now.folder).architecture();
}

std::optional<LoadedKernel> find(const void* kernel) {
  Chosen& now = chosen();
  const std::lock_guard lock(now.mutex);
  Opened& opened = now.opened[now.folder];
  if (const auto found = opened.known.find(kernel); found != opened.known.end())
    return found->second;
  Dl_info info;
  require(dladdr(kernel, &info) != 0, "the launched kernel belongs to no loaded module");
  std::optional<LoadedKernel> loaded;
  // The tests' own kernels are in no fat binary, and no test covers them.
  const std::string_view name = info.dli_sname ? info.dli_sname : "";
  if (info.dli_fbase == &__executable_start && !name.starts_with("_ZN2kg4test")) {
    require(!name.empty(),
            "a kernel without a visible name has no PTX: link the program with -rdynamic (CMake: "
            "ENABLE_EXPORTS)");
    loaded = opened.library_of(now.folder).load(info.dli_sname);
  }
  opened.known.emplace(kernel, loaded);
  return loaded;
}

} // namespace kg::ptx_run
