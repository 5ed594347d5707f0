// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/code/cost/metrics.h"

#include "runtime/error.h"

#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <functional>
#include <iterator>
#include <map>

namespace kg::cost {
namespace {

using count::Access;
using count::Launch;
using count::Memory;
using count::Site;

constexpr double kSectorBytes = 32;
constexpr double kLanes = 32;

double number(std::uint64_t count) { return static_cast<double>(count); }
double ratio(double a, double b, double none) { return b > 0 ? a / b : none; }

std::string global_hint(const Site& site) {
  if (site.sectors <= site.least_sectors) return "";
  const double per_request = number(site.sectors) / number(site.requests);
  const double used = number(site.least_sectors) / number(site.sectors);
  const char* what = site.access == Access::load ? "read" : "write";
  if (site.sectors <= site.least_sectors + site.requests)
    return fmt::format("misaligned {}: {:.3g} sectors per request where {:.3g} would do; let each "
                       "warp begin at a multiple of 32 bytes",
                       what, per_request, per_request * used);
  return fmt::format(
      "uncoalesced {}: {:.3g} sectors per request, {:.3g} % of their bytes used; let "
      "neighbouring lanes access neighbouring addresses, or transpose the tile through "
      "shared memory",
      what, per_request, 100 * used);
}

std::string shared_hint(const Site& site) {
  if (site.wavefronts <= site.least_wavefronts) return "";
  const double degree = number(site.wavefronts) / number(site.least_wavefronts);
  const unsigned words = std::max(site.width / 4, 1u);
  return fmt::format(
      "{:.3g}-way bank conflict: lanes want different words of one bank; pad the row "
      "by {}, or swizzle",
      degree, words == 1 ? "one word" : fmt::format("{} words", words));
}

// Suggests wider accesses at a site.
std::string width_hint(const Site& site) {
  constexpr unsigned kWidest = 16;
  if (site.memory != Memory::global || site.access == Access::atomic || site.width >= kWidest)
    return "";
  return fmt::format("{} bytes per lane; accesses of {} would take {:.3g} of the requests",
                     site.width, kWidest, static_cast<double>(site.width) / kWidest);
}

std::string atomic_hint(const Site& site) {
  if (site.access != Access::atomic || site.lanes <= site.addresses) return "";
  return fmt::format("up to {} lanes of a warp update one address, {:.3g} on the average; add up "
                     "within the warp or block first",
                     site.most_lanes, number(site.lanes) / number(site.addresses));
}

// The site with the largest `loss`; null if no site has any.
const Site* worst(const std::vector<Launch>& launches,
                  const std::function<double(const Site&)>& loss) {
  const Site* found = nullptr;
  double most = 0;
  for (const Launch& launch : launches) {
    for (const Site& site : launch.sites) {
      if (loss(site) <= most) continue;
      most = loss(site);
      found = &site;
    }
  }
  return found;
}

double excess_sectors(const Site& site) {
  return number(site.sectors) - number(site.least_sectors);
}
double sectors(const Site& site) { return number(site.sectors); }
double excess_wavefronts(const Site& site) {
  return number(site.wavefronts) - number(site.least_wavefronts);
}
double contention(const Site& site) {
  return site.access == Access::atomic ? number(site.lanes) - number(site.addresses) : 0;
}
double atomic_lanes(const Site& site) {
  return site.access == Access::atomic ? number(site.lanes) : 0;
}
double global_requests(const Site& site) {
  return site.memory == Memory::global ? number(site.requests) : 0;
}
double idle_lanes(const Site& site) { return kLanes * number(site.requests) - number(site.lanes); }

// The line with most block barriers.
std::string most_barriers(const std::vector<Launch>& launches) {
  std::map<std::string, std::uint64_t> at;
  for (const Launch& launch : launches)
    for (const auto& [line, count] : launch.barriers_at) at[line] += count;
  const auto most = std::max_element(
      at.begin(), at.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == at.end() ? "" : most->first;
}

struct Sums {
  double requests[2] = {}, lanes = 0; // by memory: global and shared
  double sectors = 0, least_sectors = 0, unique = 0;
  double wavefronts = 0, least_wavefronts = 0;
  double atomic_lanes = 0, addresses = 0;
  double barriers = 0, phases = 0, collectives = 0;
  double matrix_instructions = 0, matrix_flops = 0;
  double wgmma = 0, wgmma_flops = 0;
  double bulk_loaded = 0, bulk_stored = 0, bulk_in_flight = 0;
};

// ldmatrix is counted as the reads that it makes.
bool is_load(std::string_view collective) { return collective.starts_with("ldmatrix"); }

Sums sums_of(const std::vector<Launch>& launches) {
  Sums sums;
  for (const Launch& launch : launches) {
    sums.unique += number(launch.unique_read + launch.unique_written);
    sums.barriers += number(launch.barriers);
    sums.phases += number(launch.barrier_phases);
    for (const auto& [name, count] : launch.collectives) {
      if (const MatrixInstruction* const instruction = matrix_instruction(name)) {
        sums.matrix_instructions += number(count);
        sums.matrix_flops += number(count) * instruction->flops;
      } else if (!is_load(name)) {
        sums.collectives += number(count);
      }
    }
    for (const auto& [name, count] : launch.wgmma) {
      sums.wgmma += number(count);
      sums.wgmma_flops += number(count) * warpgroup_instruction(name).flops;
    }
    sums.bulk_loaded += number(launch.bulk_loaded);
    sums.bulk_stored += number(launch.bulk_stored);
    sums.bulk_in_flight = std::max(sums.bulk_in_flight, number(launch.bulk_in_flight));
    for (const Site& site : launch.sites) {
      sums.requests[static_cast<int>(site.memory)] += number(site.requests);
      sums.lanes += number(site.lanes);
      sums.sectors += number(site.sectors);
      sums.least_sectors += number(site.least_sectors);
      sums.wavefronts += number(site.wavefronts);
      sums.least_wavefronts += number(site.least_wavefronts);
      sums.addresses += number(site.addresses);
      if (site.access == Access::atomic) sums.atomic_lanes += number(site.lanes);
    }
  }
  return sums;
}

} // namespace

const MatrixInstruction* matrix_instruction(std::string_view collective) {
  static constexpr MatrixInstruction kAll[] = {{"mma_m16n8k16<f16>", "f16", 2.0 * 16 * 8 * 16},
                                               {"mma_m16n8k16<bf16>", "bf16", 2.0 * 16 * 8 * 16},
                                               {"mma_m16n8k8_f16", "f16", 2.0 * 16 * 8 * 8},
                                               {"mma_m16n8k8_tf32", "tf32", 2.0 * 16 * 8 * 8}};
  const auto found =
      std::find_if(std::begin(kAll), std::end(kAll),
                   [&](const MatrixInstruction& known) { return known.name == collective; });
  return found == std::end(kAll) ? nullptr : &*found;
}

WarpgroupInstruction warpgroup_instruction(const std::string& name) {
  constexpr double kRows = 64;
  int columns = 0, depth = 0, end = 0;
  const int read = std::sscanf(name.c_str(), "m64n%dk%d<%n", &columns, &depth, &end);
  require(read == 2 && end > 0 && columns > 0 && depth > 0,
          fmt::format("'{}' names no wgmma; write \"m64n256k16<bf16>\"", name));
  const std::string types = name.substr(static_cast<std::size_t>(end));
  return {types.substr(0, types.find_first_of(",>")), 2 * kRows * columns * depth};
}

std::string access_name(const Site& site) {
  const char* access = site.access == Access::load    ? "load"
                       : site.access == Access::store ? "store"
                                                      : "atomic";
  return fmt::format("{} {} B {}", site.memory == Memory::global ? "global" : "shared", site.width,
                     access);
}

std::string hint(const Site& site) {
  const std::string memory = site.memory == Memory::global ? global_hint(site) : shared_hint(site);
  const std::string atomic = atomic_hint(site);
  return memory.empty() || atomic.empty() ? memory + atomic : memory + "; " + atomic;
}

double excess(const Site& site) {
  constexpr double kSectorsPerPass = 4;
  return excess_sectors(site) / kSectorsPerPass + excess_wavefronts(site);
}

std::vector<Metric> metrics(const std::vector<Launch>& launches, const Work& work) {
  const Sums sums = sums_of(launches);
  const double global = sums.requests[static_cast<int>(Memory::global)];
  const double needed = work.bytes / kSectorBytes;
  std::vector<Metric> all;
  const auto add = [&](const char* name, double value, double minimum, bool of_compiler,
                       double (*loss)(const Site&) = nullptr,
                       std::string(*fix)(const Site&) = hint) {
    Metric metric{name, value, minimum, of_compiler, "", "", false, ""};
    if (const Site* site = loss ? worst(launches, loss) : nullptr) {
      metric.site = site->line;
      metric.hint = fix(*site);
    }
    all.push_back(std::move(metric));
  };
  // If bytes must move, at least one request is needed, and it touches at least one sector.
  add("sectors_per_request", ratio(sums.sectors, global, 0),
      ratio(sums.least_sectors, global, needed > 0 ? 1 : 0), false, excess_sectors);
  add("unique_sectors", sums.unique, needed, false);
  add("bank_conflict_degree", ratio(sums.wavefronts, sums.least_wavefronts, 1), 1, false,
      excess_wavefronts);
  add("barriers", sums.barriers, 0, false);
  all.back().site = most_barriers(launches);
  add("barrier_phases", sums.phases, 0, false);
  add("collectives", sums.collectives, 0, false);
  const double flops = sums.matrix_flops + sums.wgmma_flops;
  if (sums.matrix_instructions > 0)
    add("matrix_instructions", sums.matrix_instructions,
        sums.matrix_instructions * work.flops / flops, false);
  if (sums.wgmma > 0) {
    add("wgmma_instructions", sums.wgmma, sums.wgmma * work.flops / flops, false);
    add("wgmma_flops", sums.wgmma_flops, sums.wgmma_flops * work.flops / flops, false);
  }
  if (sums.bulk_loaded > 0) add("bulk_load_bytes", sums.bulk_loaded, 0, false);
  if (sums.bulk_stored > 0) add("bulk_store_bytes", sums.bulk_stored, 0, false);
  if (sums.bulk_in_flight > 0) {
    add("bulk_bytes_in_flight", sums.bulk_in_flight, 0, false);
    all.back().informs = true;
  }
  add("atomics", sums.atomic_lanes, 0, false, atomic_lanes);
  add("atomic_contention", ratio(sums.atomic_lanes, sums.addresses, 1), 1, false, contention);
  add("global_requests", global, 0, true, global_requests, width_hint);
  // If no request touches more sectors than necessary, there are too many requests.
  const bool scattered = sums.sectors > sums.least_sectors;
  add("sectors", sums.sectors, needed, true, scattered ? excess_sectors : sectors);
  add("shared_wavefronts", sums.wavefronts, sums.least_wavefronts, true, excess_wavefronts);
  const double slots = kLanes * (global + sums.requests[static_cast<int>(Memory::shared)]);
  add("idle_lanes_pct", slots > 0 ? 100 * (1 - sums.lanes / slots) : 0, 0, true, idle_lanes);
  return all;
}

} // namespace kg::cost
