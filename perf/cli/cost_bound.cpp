// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/cli/cost_bound.h"

#include "perf/cli/cost_model.h"
#include "perf/cli/counted.h"
#include "perf/code/cost/bound.h"
#include "perf/code/cost/modelled.h"
#include "perf/code/resources/compiled.h"
#include "runtime/device.h"

#include <filesystem>
#include <fmt/format.h>
#include <string_view>
#include <utility>

namespace kg::cli {
namespace {

// For GPUs older than those of kBoundResources.
constexpr const char* kOlderResources = "sm_80-cuda13.0";

// Kernels of operations are in our namespace; others are compiled at run time, so their resources
// are not known in advance.
bool is_compiled_before(const std::string& kernel) { return kernel.starts_with("kg::"); }

// "kg::gemm::tiled<true>" -> "gemm"
std::string namespace_of(const std::string& kernel) {
  const std::size_t begin = std::string_view("kg::").size();
  return kernel.substr(begin, kernel.find("::", begin) - begin);
}

// The kernel's row from the operation's own sources, or from those of the operation whose `run` it
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

struct Found {
  cost::TakenByKernel taken;
  std::string fault; // empty if all required resources are known
};

Found registers_of(const std::vector<count::Launch>& launches, const std::string& op,
                   const judge::ExactFile& file) {
  Found found;
  if (!file.problems.empty()) found.fault = judge::text(file.problems.front());
  for (const count::Launch& launch : launches) {
    if (!is_compiled_before(launch.kernel)) continue;
    if (const judge::ExactRow* const known = row_of(launch.kernel, op, file.rows))
      found.taken[launch.kernel] = cost::taken_of(*known);
    else if (found.fault.empty())
      found.fault = fmt::format("{} has no kernel {}, whose registers the bound needs; bless them "
                                "first: kernelgrade resources --bless --op {}",
                                file.path, resources::kernel_key(op, launch.kernel), op);
  }
  return found;
}

judge::ExactFile blessed(const Options& options, const char* name) {
  return judge::load_exact(judge::resource_table(), resource_file(options, name));
}

// The resources that the bound uses for this GPU.
const char* resources_of(const model::Gpu& gpu) {
  return std::stod(gpu.compute_capability) < 9 ? kOlderResources : kBoundResources;
}

} // namespace

CostFigures::CostFigures(const Options& options, const World& world)
    : CostFigures(options, world, "") {}

CostFigures::CostFigures(const Options& options, const World& world, const std::string& gpu)
    : gpu_(model::part_of(modelled_gpu(world, gpu), device_properties().sm_count)),
      resources_(blessed(options, resources_of(gpu_))) {}

std::vector<cost::Metric> CostFigures::of(const Row& row,
                                          const std::vector<count::Launch>& launches) const {
  const Found found = registers_of(launches, row.registered.op, resources_);
  std::vector<cost::Metric> all = cost::metrics(launches, row.work);
  for (cost::Metric& metric : cost::bound_metrics(launches, row.work, gpu_, found.taken)) {
    if (!found.fault.empty()) metric.fault = found.fault;
    all.push_back(std::move(metric));
  }
  return all;
}

std::string CostFigures::bound_text(const Row& row,
                                    const std::vector<count::Launch>& launches) const {
  const Found found = registers_of(launches, row.registered.op, resources_);
  std::string text =
      fmt::format("lower bound on the time, modelled, not measured: {} multiprocessors of {}, as "
                  "many as the emulated device has, with their share of its memory; registers of "
                  "{}\n",
                  gpu_.sms, gpu_.name, std::filesystem::path(resources_.path).stem().string());
  try {
    text += cost::modelled_text(launches, row.work, gpu_, found.taken);
  } catch (const Error& lacking) { // the GPU has no Tensor Cores for the type
    return text + fmt::format("none: {}\n", lacking.what());
  }
  return found.fault.empty() ? text : text + found.fault + "\n";
}

} // namespace kg::cli
