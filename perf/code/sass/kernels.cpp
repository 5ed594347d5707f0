// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/code/sass/kernels.h"

#include "perf/code/identity/cubin.h"
#include "perf/code/resources/occupancy.h"
#include "perf/code/sass/nvdisasm.h"
#include "perf/judge/exact_table.h"
#include "runtime/atomic_file.h"
#include "runtime/error.h"
#include "runtime/ptx/fatbin.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <utility>

namespace kg::sass {
namespace {

double value_of(const judge::ExactRow& row, std::string_view quantity) {
  const auto& quantities = judge::resource_table().quantities;
  const auto at = std::find_if(quantities.begin(), quantities.end(),
                               [&](const judge::Quantity& one) { return one.name == quantity; });
  return row.values.at(static_cast<std::size_t>(at - quantities.begin()));
}

Kernel kernel_of(std::string key, std::string name, Analysis analysis, const judge::ExactRow& row,
                 int most_warps) {
  Kernel made{std::move(key), std::move(name), std::move(analysis), 0, 0, 0, 0};
  made.registers = static_cast<int>(value_of(row, "registers"));
  made.threads = static_cast<int>(value_of(row, "threads"));
  made.shared_bytes =
      static_cast<int>(value_of(row, "static_shared") + value_of(row, "dynamic_shared"));
  made.warps = static_cast<int>(std::lround(value_of(row, "occupancy_pct") / 100 * most_warps));
  return made;
}

} // namespace

std::vector<Kernel> kernels_in(const std::filesystem::path& folder, std::string_view arch,
                               const std::string& op, const resources::Launches& launches,
                               const std::filesystem::path& nvdisasm, const Rates& rates) {
  std::map<std::string, judge::ExactRow> rows; // by key
  for (const judge::ExactMeasured& one :
       resources::compiled_resources(folder, arch, op, launches, {}))
    rows.emplace(one.row.key.at(0), one.row);
  const int most_warps = resources::sm_limits(arch).warps;
  std::map<std::string, Kernel> found; // by key: a template's kernel may be in several files
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".fatbin") continue;
    const std::string file = entry.path().string();
    const std::string fatbin = read_file(entry.path()).value_or("");
    for (const FatbinEntry& one : read_fatbin(fatbin, file)) {
      if (one.kind != FatbinEntry::Kind::elf) continue;
      std::map<std::string, std::string> names; // by symbol
      for (const identity::CubinKernel& kernel : identity::read_cubin(one.cubin(), file))
        names.emplace(kernel.symbol, kernel.name);
      if (names.empty()) continue; // host code only
      for (Analysis& analysis :
           analyse(read_listing(disassemble(nvdisasm, one.cubin(), file), file), rates)) {
        const auto name = names.find(analysis.symbol);
        if (name == names.end()) continue; // not a kernel
        const std::string key = resources::kernel_key(op, name->second);
        if (const auto row = rows.find(key); row != rows.end())
          found.emplace(key,
                        kernel_of(key, name->second, std::move(analysis), row->second, most_warps));
      }
    }
  }
  for (const auto& [key, row] : rows)
    if (found.count(key) == 0)
      throw Error(fmt::format("{}: the disassembly of its fatbins lacks the kernel {}; use an "
                              "nvdisasm that is no older than the nvcc that compiled it",
                              folder.string(), key));
  std::vector<Kernel> kernels;
  for (auto& [key, kernel] : found) kernels.push_back(std::move(kernel));
  return kernels;
}

} // namespace kg::sass
