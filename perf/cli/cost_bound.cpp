// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/cli/cost_bound.h"

#include "perf/cli/cost_model.h"
#include "perf/cli/counted.h"
#include "perf/cost/bound.h"
#include "perf/resources/compiled.h"
#include "runtime/device.h"

#include <fmt/format.h>
#include <string_view>

namespace kg::cli {
namespace {

// Whose registers the bound counts with.
constexpr const char* kBoundResources = "sm_90a-cuda13.0";

// An operation's kernel lies in a namespace of ours; others are compiled at run time, and what they
// take is not known before.
bool is_compiled_before(const std::string& kernel) { return kernel.starts_with("kg::"); }

// "kg::gemm::tiled<true>" -> "gemm"
std::string namespace_of(const std::string& kernel) {
  const std::size_t begin = std::string_view("kg::").size();
  return kernel.substr(begin, kernel.find("::", begin) - begin);
}

// Of the kernel as the operation's own sources have it, or as those of the one whose `run` it
// calls.
const judge::ExactRow* row_of(const std::string& kernel, const std::string& op,
                              const std::vector<judge::ExactRow>& rows) {
  for (const std::string& owner : {op, namespace_of(kernel)}) {
    const std::string key = resources::kernel_key(owner, kernel);
    for (const judge::ExactRow& row : rows)
      if (row.key.front() == key) return &row;
  }
  return nullptr;
}

} // namespace

CostFigures::CostFigures(const Options& options, const World& world)
    : gpu_(model::part_of(modelled_gpu(world, ""), device_properties().sm_count)),
      resources_(
          judge::load_exact(judge::resource_table(), resource_file(options, kBoundResources))) {}

std::vector<cost::Metric> CostFigures::of(const Row& row,
                                          const std::vector<count::Launch>& launches) const {
  const std::string& op = row.registered.op;
  cost::TakenByKernel taken;
  std::string fault = resources_.problems.empty() ? "" : judge::text(resources_.problems.front());
  for (const count::Launch& launch : launches) {
    if (!is_compiled_before(launch.kernel)) continue;
    if (const judge::ExactRow* const known = row_of(launch.kernel, op, resources_.rows))
      taken[launch.kernel] = cost::taken_of(*known);
    else if (fault.empty())
      fault = fmt::format("{} has no kernel {}, whose registers the bound needs; bless them first: "
                          "kernelgrade resources --bless --op {}",
                          resources_.path, resources::kernel_key(op, launch.kernel), op);
  }
  std::vector<cost::Metric> all = cost::metrics(launches, row.work);
  for (cost::Metric& metric : cost::bound_metrics(launches, row.work, gpu_, taken)) {
    if (!fault.empty()) metric.fault = fault;
    all.push_back(std::move(metric));
  }
  return all;
}

} // namespace kg::cli
