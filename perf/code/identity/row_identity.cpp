// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/code/identity/row_identity.h"

#include "perf/code/identity/cubin.h"
#include "perf/code/identity/elf.h"
#include "runtime/hash.h"
#include "runtime/ptx/fatbin.h"

#include <algorithm>
#include <set>
#include <utility>

namespace kg::identity {
namespace {

// The highest architecture of the container's machine code that the GPU can run, or 0. Machine code
// runs on later minor versions of the same major version; sm_90a only on 9.0.
int best_arch(const std::vector<FatbinEntry>& entries, int major, int minor) {
  int best = 0;
  for (const FatbinEntry& entry : entries)
    if (entry.kind == FatbinEntry::Kind::elf && entry.arch / 10 == major &&
        entry.arch % 10 <= minor && (!entry.specific || entry.arch % 10 == minor))
      best = std::max(best, entry.arch);
  return best;
}

} // namespace

std::string row_identity(const std::vector<LaunchRecord>& launches,
                         const std::function<std::string(const std::string& kernel)>& code) {
  if (launches.empty()) return "";
  Hash hash;
  for (const LaunchRecord& launch : launches) {
    const std::string kernel = code(launch.kernel_name);
    if (kernel.empty()) return "";
    hash.field(kernel).field(launch.kernel_name);
    for (const dim3& extent : {launch.grid, launch.block, launch.cluster})
      hash.number(extent.x).number(extent.y).number(extent.z);
    hash.number(launch.shared_bytes).number(launch.cooperative);
  }
  return hash.hex();
}

std::map<std::string, std::string> device_code(std::string_view executable, const std::string& file,
                                               int compute_major, int compute_minor) {
  const Elf elf(executable, file);
  const ElfSection* section = elf.find(".nv_fatbin");
  if (!section) throw Error(file + ": it has no section .nv_fatbin; build it with nvcc");
  const std::vector<FatbinEntry> entries = read_fatbin(section->contents, file);
  const int arch = best_arch(entries, compute_major, compute_minor);
  std::map<std::string, std::set<std::string>> found;
  for (const FatbinEntry& entry : entries)
    if (entry.kind == FatbinEntry::Kind::elf && entry.arch == arch)
      for (const CubinKernel& kernel : read_cubin(entry.cubin(), file))
        found[kernel.name].insert(kernel.hash);
  std::map<std::string, std::string> code;
  for (const auto& [name, hashes] : found) {
    Hash hash;
    for (const std::string& one : hashes) hash.field(one);
    code[name] = hash.hex();
  }
  return code;
}

} // namespace kg::identity
