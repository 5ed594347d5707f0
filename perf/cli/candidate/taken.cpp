// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/cli/candidate/taken.h"

#include "perf/cli/candidate/process.h"
#include "perf/code/resources/definition.h"
#include "perf/code/resources/occupancy.h"
#include "perf/format/table.h"
#include "perf/judge/exact_table.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace kg::candidate {
namespace {

namespace fs = std::filesystem;

constexpr int kNoCompiler = 77; // compile-cuda's exit code
constexpr const char* kOp = "candidate";

// The kernel's name in its cubin, without kernel_key's prefix.
std::string whole_name_of(const judge::ExactMeasured& row) {
  return row.row.key.front().substr(std::string(kOp).size() + 1);
}
std::string kernel_of(const judge::ExactMeasured& row) {
  std::string name = whole_name_of(row);
  constexpr std::string_view kUnnamed = "(anonymous namespace)::";
  for (std::size_t at; (at = name.find(kUnnamed)) != name.npos;) name.erase(at, kUnnamed.size());
  return name;
}

bool is_always_a_loss(std::string_view quantity) {
  return quantity == "spill_bytes" || quantity == "split_loads" || quantity == "split_stores";
}

double value_of(const judge::ExactMeasured& row, std::string_view quantity) {
  const std::vector<judge::Quantity>& all = judge::resource_table().quantities;
  const auto at = std::find_if(all.begin(), all.end(),
                               [&](const judge::Quantity& each) { return each.name == quantity; });
  return row.row.values.at(static_cast<std::size_t>(at - all.begin()));
}

// The executor names a kernel as the source does at its launch, cubins by its full name. For PTX
// the executor adds a block's static shared memory to the dynamic one.
resources::Launches by_whole_name(const resources::Launches& launches,
                                  const std::vector<judge::ExactMeasured>& kernels, bool ptx) {
  resources::Launches result;
  for (const judge::ExactMeasured& row : kernels) {
    const std::string whole = whole_name_of(row);
    for (const auto& [name, launched] : launches)
      if (resources::last_name(name) == resources::last_name(whole)) {
        resources::Launched& known = result[whole];
        known.threads = std::max(known.threads, launched.threads);
        const int statically = ptx ? static_cast<int>(value_of(row, "static_shared")) : 0;
        known.dynamic_shared = std::max(known.dynamic_shared, launched.dynamic_shared - statically);
      }
  }
  return result;
}

// Other options belong to the host compiler.
bool is_of_any_compiler(const std::string& option) {
  return option.starts_with("-D") || option.starts_with("-U") || option.starts_with("-I");
}

} // namespace

Taken compile_for_gpu(const Programs& programs, const fs::path& source,
                      const std::vector<std::string>& compile_options, const std::string& arch,
                      const resources::Launches& launches, const fs::path& folder) {
  resources::sm_limits(arch);
  Taken taken{arch, "", "", {}};
  const fs::path compiled = folder / "gpu";
  std::vector<std::string> command = {programs.compile.string(), "gpu", arch,
                                      fs::absolute(source).string(), compiled.string()};
  for (const std::string& option : compile_options)
    if (is_of_any_compiler(option)) command.push_back(option);
  const perf::Finished finished = run_guarded(programs.guard, command, kCompileSeconds, folder);
  if (finished.exit_code == kNoCompiler)
    taken.skipped = "nvcc not found; install the CUDA toolkit, or name its folder by CUDA_HOME";
  else if (finished.exit_code != 0)
    taken.refused = finished.output;
  if (!taken.skipped.empty() || !taken.refused.empty()) return taken;
  const auto rows = [&](const resources::Launches& known) {
    return resources::compiled_resources(compiled, arch, kOp, known,
                                         fs::absolute(source).parent_path());
  };
  const resources::Launches launched =
      by_whole_name(launches, rows({}), source.extension() == ".ptx");
  for (judge::ExactMeasured& row : rows(launched)) {
    const std::string kernel = kernel_of(row);
    taken.kernels.push_back({kernel, launched.contains(whole_name_of(row)), std::move(row)});
  }
  std::stable_sort(taken.kernels.begin(), taken.kernels.end(),
                   [](const auto& a, const auto& b) { return a.launched > b.launched; });
  return taken;
}

report::Section taken_section(const Taken& taken) {
  report::Section section{"Registers and spills", {}};
  if (!taken.refused.empty())
    section.lines.push_back(fmt::format("nvcc refuses it for {}: {}", taken.arch, taken.refused));
  else if (!taken.skipped.empty())
    section.lines.push_back("registers and spills: not known: " + taken.skipped);
  else if (taken.kernels.empty())
    section.lines.emplace_back("registers and spills: the source defines no kernel");
  if (!section.lines.empty()) return section;
  const std::vector<judge::Quantity>& quantities = judge::resource_table().quantities;
  std::vector<std::string> header = {"kernel, " + taken.arch};
  for (const judge::Quantity& quantity : quantities)
    if (!quantity.optional) header.emplace_back(quantity.name);
  judge::TextTable table(header);
  std::vector<std::string> others;
  for (const auto& [kernel, launched, row] : taken.kernels) {
    if (!launched && taken.kernels.front().launched) {
      others.push_back(kernel);
      continue;
    }
    if (!row.fault.empty()) section.lines.push_back(fmt::format("{}: {}", kernel, row.fault));
    std::vector<std::string> cells = {kernel};
    for (std::size_t i = 0; i < quantities.size(); ++i) {
      const double value = row.row.values.at(i);
      if (quantities[i].optional) continue;
      cells.push_back(judge::exact_number(value));
      if (value > 0 && is_always_a_loss(quantities[i].name))
        section.lines.push_back(fmt::format("{}: {} {}: {}", fs::path(row.site).filename().string(),
                                            quantities[i].name, cells.back(), quantities[i].hint));
    }
    table.add(cells);
  }
  if (!others.empty())
    section.lines.push_back(
        fmt::format("not launched in the listed shapes: {}", fmt::join(others, ", ")));
  section.table = std::move(table);
  return section;
}

nlohmann::json to_json(const Taken& taken) {
  nlohmann::json json = {{"arch", taken.arch},
                         {"skipped", taken.skipped},
                         {"refused", taken.refused},
                         {"kernels", nlohmann::json::array()}};
  const std::vector<judge::Quantity>& quantities = judge::resource_table().quantities;
  for (const auto& [name, launched, row] : taken.kernels) {
    nlohmann::json kernel = {{"kernel", name}, {"launched", launched}, {"site", row.site}};
    if (!row.fault.empty()) kernel["fault"] = row.fault;
    for (std::size_t i = 0; i < quantities.size(); ++i)
      if (!quantities[i].optional) kernel[std::string(quantities[i].name)] = row.row.values.at(i);
    json["kernels"].push_back(std::move(kernel));
  }
  return json;
}

} // namespace kg::candidate
