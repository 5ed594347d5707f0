// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/code/resources/compiled.h"

#include "perf/code/identity/cubin.h"
#include "perf/code/resources/definition.h"
#include "perf/code/resources/occupancy.h"
#include "perf/code/resources/ptx.h"
#include "perf/code/resources/ptxas_log.h"
#include "perf/code/resources/remarks.h"
#include "runtime/atomic_file.h"
#include "runtime/error.h"
#include "runtime/ptx/fatbin.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <set>
#include <utility>

namespace kg::resources {
namespace {

constexpr int kMostThreads = 1024; // per block, on every architecture

std::string contents_of(const std::filesystem::path& path) {
  const auto contents = read_file(path);
  if (!contents) throw Error(path.string() + ": no such file; build it again");
  return *contents;
}

std::vector<std::filesystem::path> fatbins_in(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> fatbins;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".fatbin") fatbins.push_back(entry.path());
  std::sort(fatbins.begin(), fatbins.end());
  return fatbins;
}

// The entry with machine code or PTX. A file is compiled for a single architecture.
const FatbinEntry& entry_of(FatbinEntry::Kind kind, const std::vector<FatbinEntry>& entries,
                            const std::string& file) {
  const auto at = std::find_if(entries.begin(), entries.end(),
                               [&](const auto& one) { return one.kind == kind; });
  if (at == entries.end())
    throw Error(file + ": it must hold machine code and PTX, and lacks one; build it again");
  return *at;
}

// Data of an entry function. Both must exist: an incomplete log may lack remarks as well.
struct Entry {
  const PtxasKernel* used = nullptr;
  const SplitAccesses* split = nullptr;
  bool is_function() const { return !used && !split; }
};

Entry entry_called(const std::string& symbol, const std::vector<PtxasKernel>& used,
                   const std::map<std::string, SplitAccesses>& split, const std::string& file) {
  Entry found;
  for (const PtxasKernel& one : used)
    if (one.symbol == symbol) found.used = &one;
  if (const auto at = split.find(symbol); at != split.end()) found.split = &at->second;
  if (found.is_function() || (found.used && found.split)) return found;
  throw Error(fmt::format("{}: its {} the kernel {}; build it again", file,
                          found.split ? "log says nothing of" : "PTX lacks", symbol));
}

// Values in the order of judge::resource_table().
judge::ExactRow row_of(const std::string& op, const identity::CubinKernel& kernel,
                       const PtxasKernel& used, const SplitAccesses& split,
                       const Launches& launches, const SmLimits& limits) {
  Launched launched{kernel.max_threads > 0 ? kernel.max_threads : kMostThreads, 0};
  if (const auto at = launches.find(kernel.name); at != launches.end()) launched = at->second;
  const double occupancy = occupancy_pct(
      {used.registers, used.shared_bytes + launched.dynamic_shared, launched.threads}, limits);
  judge::ExactRow row;
  row.key = {kernel_key(op, kernel.name)};
  row.values = {static_cast<double>(used.registers),
                static_cast<double>(used.spill_bytes),
                static_cast<double>(used.stack_bytes),
                static_cast<double>(used.shared_bytes),
                static_cast<double>(launched.dynamic_shared),
                static_cast<double>(launched.threads),
                occupancy,
                static_cast<double>(split.loads),
                static_cast<double>(split.stores)};
  row.values.resize(judge::resource_table().quantities.size(), // the rest: see perf/code/sass
                    std::numeric_limits<double>::quiet_NaN());
  return row;
}

std::string with_site(const std::string& fault, const std::string& site) {
  return site.empty() ? fault : fmt::format("{}; the kernel is at {}", fault, site);
}

} // namespace

std::vector<Compiled> compiled_in(const std::filesystem::path& folder) {
  std::vector<Compiled> found;
  if (!std::filesystem::is_directory(folder)) return found;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.is_directory()) found.push_back({entry.path(), entry.path().filename().string()});
  std::sort(found.begin(), found.end(),
            [](const Compiled& a, const Compiled& b) { return a.name < b.name; });
  return found;
}

bool is_compiled(const std::filesystem::path& folder) {
  return std::filesystem::is_directory(folder) && !fatbins_in(folder).empty();
}

std::string kernel_key(const std::string& op, std::string name) {
  const std::string space = "kg::" + op + "::";
  for (std::size_t at; (at = name.find(space)) != name.npos;) name.erase(at, space.size());
  return op + "." + name;
}

std::vector<judge::ExactMeasured> compiled_resources(const std::filesystem::path& folder,
                                                     std::string_view arch, const std::string& op,
                                                     const Launches& launches,
                                                     const std::filesystem::path& sources) {
  const SmLimits& limits = sm_limits(arch);
  std::vector<judge::ExactMeasured> rows;
  std::set<std::string> seen; // a template's kernel may be in several files
  for (const std::filesystem::path& path : fatbins_in(folder)) {
    using Kind = FatbinEntry::Kind;
    const std::string file = path.string(), fatbin = contents_of(path);
    const std::vector<FatbinEntry> entries = read_fatbin(fatbin, file);
    const std::string_view ptx = entry_of(Kind::ptx, entries, file).ptx();
    const auto split = split_accesses(ptx, file);
    const std::string log = std::filesystem::path(path).replace_extension(".log").string();
    const std::string said = contents_of(log);
    const std::vector<PtxasKernel> used = read_ptxas_log(said, log);
    const auto faults = remark_faults(read_remarks(said), ptx, file);
    for (const identity::CubinKernel& kernel :
         identity::read_cubin(entry_of(Kind::elf, entries, file).cubin(), file)) {
      const Entry entry = entry_called(kernel.symbol, used, split, file);
      if (entry.is_function() || !seen.insert(kernel.symbol).second) continue;
      rows.push_back({row_of(op, kernel, *entry.used, *entry.split, launches, limits),
                      judge::Gating::always,
                      definition_of(kernel.name, sources_in(sources, path.stem().string())), ""});
      if (const auto fault = faults.find(kernel.symbol); fault != faults.end())
        rows.back().fault = with_site(fault->second, rows.back().site);
    }
  }
  std::sort(rows.begin(), rows.end(),
            [](const auto& a, const auto& b) { return a.row.key < b.row.key; });
  return rows;
}

} // namespace kg::resources
