// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The part that both backends share: keys, the cache, and the text passed to the compiler.
#include "runtime/jit.h"

#include "runtime/atomic_file.h"
#include "runtime/backend.h"
#include "runtime/murmur_hash.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <mutex>
#include <optional>
#include <pthread.h>
#include <set>
#include <string_view>

namespace kg::jit {
namespace {

namespace fs = std::filesystem;

// --- Cache entries: the code, then a seal of fixed length: a mark, the compile time in
// nanoseconds, and a checksum. Loaders of shared libraries ignore trailing data.
constexpr std::string_view kMark = "kernelgrade jit 2 ";
constexpr std::size_t kTimeDigits = 16;
constexpr std::size_t kChecksumDigits = 32;
constexpr std::size_t kSealBytes = kMark.size() + kTimeDigits + kChecksumDigits;

// Includes the key, so that an entry under another entry's name is invalid.
std::string checksum(const std::string& key, std::string_view code, std::string_view time) {
  return MurmurHash().field(key).field(code).field(time).hex();
}

std::string sealed(const std::string& key, const std::string& code, std::uint64_t compile_ns) {
  const std::string time = fmt::format("{:0{}x}", compile_ns, kTimeDigits);
  return code + std::string(kMark) + time + checksum(key, code, time);
}

// Returns nothing if the entry is damaged.
std::optional<MachineCode> unsealed(const std::string& key, const std::string& file,
                                    std::string entry) {
  if (entry.size() < kSealBytes) return std::nullopt;
  const std::size_t size = entry.size() - kSealBytes;
  const std::string_view seal = std::string_view(entry).substr(size);
  const std::string_view time = seal.substr(kMark.size(), kTimeDigits);
  std::uint64_t compile_ns = 0;
  std::from_chars(time.data(), time.data() + time.size(), compile_ns, 16);
  if (!seal.starts_with(kMark) || seal.substr(kMark.size() + kTimeDigits) !=
                                      checksum(key, std::string_view(entry).substr(0, size), time))
    return std::nullopt;
  entry.resize(size);
  return MachineCode{std::move(entry), file, static_cast<double>(compile_ns) * 1e-3, true};
}

std::string file_of(const std::string& key, const Toolchain& toolchain) {
  return fmt::format("{}/{}.{}", toolchain.cache, key, backend == Backend::cuda ? "cubin" : "so");
}

// Within its scope, only this thread of the process uses a given cache file.
class Turn {
 public:
  explicit Turn(const std::string& file) : file_(file) {
    std::unique_lock lock(shared().mutex);
    shared().ended.wait(lock, [&] { return shared().files.insert(file_).second; });
  }
  ~Turn() {
    {
      const std::lock_guard lock(shared().mutex);
      shared().files.erase(file_);
    }
    shared().ended.notify_all();
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  struct Shared {
    std::mutex mutex;
    std::condition_variable ended;
    std::set<std::string> files;
  };
  // Never destroyed, because threads may outlive static objects. After a fork, the child lacks the
  // threads that hold turns, and would wait for them forever.
  static Shared& shared() {
    static Shared* only = [] {
      ::pthread_atfork(nullptr, nullptr, [] { only = new Shared; });
      return new Shared;
    }();
    return *only;
  }

  std::string file_;
};

// The constants follow the headers, which must not see them.
std::string text_for_compiler(const Source& source) {
  if (source.bare) return source.text;
  std::string text = "#include \"runtime/device_code.h\"\n";
  if (backend == Backend::host)
    text += "#undef __shared__\n"
            "#define __shared__ _Pragma(\"GCC error \\\"a kernel compiled at run time takes shared "
            "memory from kg::dynamic_shared\\\"\")\n";
  for (const auto& [name, value] : source.constants)
    text += fmt::format("#define {} {}\n", name, value);
  return text + fmt::format("#line 1 \"{}\"\n", source.name) + source.text;
}

} // namespace

namespace detail {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::string include_folder(const std::string& built_with) {
  std::string folder = environment("KERNELGRADE_JIT_INCLUDE");
  if (folder.empty()) folder = built_with;
  require(fs::exists(folder + "/runtime/device_code.h"),
          folder + ": it does not hold runtime/device_code.h, which kernels that are compiled at "
                   "run time need; set KERNELGRADE_JIT_INCLUDE to the folder that does");
  return folder;
}

std::string hash_headers(const std::string& include) {
  std::vector<fs::path> files;
  for (const char* folder : {"runtime", "primitives", "instructions"}) {
    const fs::path path = fs::path(include) / folder;
    if (!fs::is_directory(path)) continue; // an installed package has only some of them
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(path))
      if (entry.path().extension() == ".h") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  MurmurHash hash;
  for (const fs::path& file : files)
    hash.field(file.lexically_relative(include).string()).field(read_file(file).value_or(""));
  return hash.hex();
}

std::string cache_folder() {
  if (const std::string own = environment("KERNELGRADE_JIT_CACHE"); !own.empty()) return own;
  if (const std::string all = environment("XDG_CACHE_HOME"); !all.empty())
    return all + "/kernelgrade";
  const std::string home = environment("HOME");
  require(!home.empty(), "no folder for compiled kernels: neither XDG_CACHE_HOME nor HOME "
                         "is set; set KERNELGRADE_JIT_CACHE to one");
  return home + "/.cache/kernelgrade";
}

} // namespace detail

std::string key(const Source& source, const Toolchain& toolchain) {
  MurmurHash hash;
  hash.field(kMark).field(name(backend));
  hash.field(source.name).field(source.text).number(source.bare).number(source.constants.size());
  for (const auto& [name, value] : source.constants) hash.field(name).field(value);
  hash.field(toolchain.compiler).field(toolchain.version).field(toolchain.architecture);
  hash.field(toolchain.headers);
  for (const std::string& flag : toolchain.flags) hash.field(flag);
  return hash.hex();
}

bool is_kept(const Source& source, const Toolchain& toolchain) {
  return fs::exists(file_of(key(source, toolchain), toolchain));
}

MachineCode machine_code(const Source& source, const Toolchain& toolchain, Location where) {
  const std::string key = jit::key(source, toolchain);
  const std::string file = file_of(key, toolchain);
  const Turn turn(file);
  if (std::optional<std::string> entry = read_file(file))
    if (std::optional<MachineCode> code = unsealed(key, file, std::move(*entry))) return *code;

  const auto start = std::chrono::steady_clock::now();
  std::string code = detail::build(source, text_for_compiler(source), toolchain, where);
  const std::chrono::nanoseconds took = std::chrono::steady_clock::now() - start;
  const auto compile_ns = static_cast<std::uint64_t>(took.count());
  write_file(file, sealed(key, code, compile_ns));
  return {std::move(code), file, static_cast<double>(compile_ns) * 1e-3, false};
}

} // namespace kg::jit
