// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/code/ncu/agreement.h"

#include "runtime/error.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>
#include <optional>

namespace kg::hardware {
namespace {

using count::Access;
using count::Memory;
using count::Site;

template <class Count>
double sum(const count::Launch& launch, Memory memory, std::optional<Access> access, Count count) {
  double total = 0;
  for (const Site& site : launch.sites)
    if (site.memory == memory && (!access || site.access == *access))
      total += static_cast<double>(count(site));
  return total;
}

double requests(const Site& site) { return static_cast<double>(site.requests); }
double sectors(const Site& site) { return static_cast<double>(site.sectors); }
double least_wavefronts(const Site& site) {
  return static_cast<double>(site.least_direct_wavefronts);
}
double conflicts(const Site& site) {
  return static_cast<double>(site.direct_wavefronts) - least_wavefronts(site);
}

double shuffles(const count::Launch& launch) {
  double total = 0;
  for (const auto& [name, count] : launch.collectives)
    if (name.starts_with("__shfl")) total += static_cast<double>(count);
  return total;
}

// Each warp reads its thread index at least once.
double warps(const count::Launch& launch) {
  constexpr unsigned kLanes = 32;
  const auto& [x, y, z] = launch.block;
  double warps = (x * y * z + kLanes - 1) / kLanes;
  for (const unsigned blocks : launch.grid) warps *= blocks;
  return warps;
}

double total_of(const std::vector<std::string>& metrics, const Launch& launch) {
  double total = 0;
  for (const std::string& metric : metrics) {
    const auto found = launch.metrics.find(metric);
    if (found != launch.metrics.end()) total += found->second;
  }
  return total;
}

std::optional<double> measured_value(const Quantity& quantity, const Launch& launch) {
  if (!launch.metrics.contains(quantity.metrics.front())) return std::nullopt;
  return total_of(quantity.metrics, launch) - total_of(quantity.without, launch);
}

std::string text(const std::string& kernel, const std::array<unsigned, 3>& grid,
                 const std::array<unsigned, 3>& block) {
  return fmt::format("{} of ({}) blocks of ({}) threads", kernel, fmt::join(grid, ", "),
                     fmt::join(block, ", "));
}

} // namespace

const std::vector<Quantity>& quantities() {
  constexpr const char* kBankConflicts = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum";
  // Names from `ncu --query-metrics`; .sum adds all multiprocessors.
  static const std::vector<Quantity> kAll = {
      {"load requests",
       {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
        "l1tex__t_requests_pipe_lsu_mem_global_op_ldgsts.sum"},
       {},
       [](const count::Launch& launch) {
         return sum(launch, Memory::global, Access::load, requests);
       }},
      {"load sectors",
       {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
        "l1tex__t_sectors_pipe_lsu_mem_global_op_ldgsts.sum"},
       {},
       [](const count::Launch& launch) {
         return sum(launch, Memory::global, Access::load, sectors);
       }},
      {"store requests",
       {"l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"},
       {},
       [](const count::Launch& launch) {
         return sum(launch, Memory::global, Access::store, requests);
       }},
      {"store sectors",
       {"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"},
       {},
       [](const count::Launch& launch) {
         return sum(launch, Memory::global, Access::store, sectors);
       }},
      {"shared wavefronts",
       {"l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"},
       {kBankConflicts},
       [](const count::Launch& launch) {
         return sum(launch, Memory::shared, std::nullopt, least_wavefronts) + shuffles(launch) +
                static_cast<double>(launch.barriers) + warps(launch);
       }},
      {"bank conflicts",
       {kBankConflicts},
       {},
       [](const count::Launch& launch) {
         return sum(launch, Memory::shared, std::nullopt, conflicts);
       }},
  };
  return kAll;
}

double Compared::ratio() const {
  if (counted == measured) return 1;
  return measured > 0 ? counted / measured : std::numeric_limits<double>::infinity();
}

std::vector<Compared> compare(const std::vector<count::Launch>& counted,
                              std::span<const Launch> measured) {
  require(counted.size() == measured.size(),
          fmt::format("{} launches here and {} on the hardware: they are of different code or "
                      "another device's choice of variant",
                      counted.size(), measured.size()));
  std::vector<Compared> found;
  for (std::size_t i = 0; i < counted.size(); ++i) {
    const std::string here = text(own_name(counted[i].kernel), counted[i].grid, counted[i].block);
    const std::string there =
        text(own_name(measured[i].kernel), measured[i].grid, measured[i].block);
    require(here == there,
            fmt::format("launch {} is {} here and {} on the hardware", i + 1, here, there));
    for (const Quantity& quantity : quantities())
      if (const auto value = measured_value(quantity, measured[i]))
        found.push_back(
            {own_name(counted[i].kernel), quantity.name, quantity.counted(counted[i]), *value});
  }
  return found;
}

} // namespace kg::hardware
