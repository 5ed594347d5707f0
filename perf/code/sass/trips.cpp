// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/code/sass/trips.h"

#include "perf/code/sass/flow.h"
#include "perf/code/sass/registers.h"
#include "perf/code/timing_model/model.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace kg::sass {
namespace {

enum class Kind { global_load, global_write, shared_load, shared_write, barrier };
using Evidence = std::pair<std::string, Kind>; // source line, and what it does

std::string file_name(const std::string& line) { return line.substr(line.rfind('/') + 1); }

std::optional<Kind> kind_of(const Instruction& one) {
  if (one.opcode == "BAR") return Kind::barrier;
  switch (space_of(one)) {
  case Space::global: return is_load(one) ? Kind::global_load : Kind::global_write;
  case Space::shared: return is_load(one) ? Kind::shared_load : Kind::shared_write;
  default: return std::nullopt; // a generic access may be either
  }
}

Kind kind_of(const count::Site& site) {
  const bool load = site.access == count::Access::load;
  if (site.memory == count::Memory::global) return load ? Kind::global_load : Kind::global_write;
  return load ? Kind::shared_load : Kind::shared_write;
}

double product(const std::array<unsigned, 3>& extents) {
  return static_cast<double>(extents[0]) * extents[1] * extents[2];
}

// Bytes per lane of all requests, and barriers per warp, summed over all warps.
std::map<Evidence, double> counted(const count::Launch& launch, double warps_of_block) {
  std::map<Evidence, double> sums;
  for (const count::Site& site : launch.sites)
    sums[{file_name(site.line), kind_of(site)}] += static_cast<double>(site.requests) * site.width;
  for (const auto& [line, count] : launch.barriers_at)
    sums[{file_name(line), Kind::barrier}] += static_cast<double>(count) * warps_of_block;
  return sums;
}

// The same for one execution of a basic block.
std::map<Evidence, double> of_block(const Function& function, const Block& block) {
  std::map<Evidence, double> sums;
  for (std::size_t at = block.begin; at < block.end; ++at) {
    const Instruction& one = function.code[at];
    if (const std::optional<Kind> kind = kind_of(one))
      sums[{file_name(one.line), *kind}] += *kind == Kind::barrier ? 1 : bytes_moved(one);
  }
  return sums;
}

struct Placed {
  std::map<Evidence, double> once; // in one execution
  std::size_t region = 0;          // the innermost region that contains the block
};

std::vector<Placed> placed(const Function& function, const Flow& flow) {
  std::vector<Placed> blocks(flow.blocks.size());
  for (std::size_t at = 0; at < blocks.size(); ++at) {
    blocks[at].once = of_block(function, flow.blocks[at]);
    for (std::size_t region = 0; region < flow.regions.size(); ++region) {
      const Region& one = flow.regions[region];
      if (one.depth >= flow.regions[blocks[at].region].depth &&
          std::binary_search(one.blocks.begin(), one.blocks.end(), at))
        blocks[at].region = region;
    }
  }
  return blocks;
}

// The region to which a line's work is attributed: among the innermost, the one with most of it.
std::map<Evidence, std::size_t> owners(const std::vector<Placed>& blocks, const Flow& flow) {
  std::map<Evidence, std::map<std::size_t, double>> amounts;
  for (const Placed& block : blocks)
    for (const auto& [evidence, amount] : block.once) amounts[evidence][block.region] += amount;
  std::map<Evidence, std::size_t> found;
  for (const auto& [evidence, by_region] : amounts)
    found[evidence] =
        std::max_element(by_region.begin(), by_region.end(), [&](const auto& a, const auto& b) {
          return std::pair(flow.regions[a.first].depth, a.second) <
                 std::pair(flow.regions[b.first].depth, b.second);
        })->first;
  return found;
}

} // namespace

double Executed::issue_clocks() const {
  return std::max(instructions, *std::max_element(clocks.begin(), clocks.end()));
}

count::Launch as_compiled(count::Launch launch, const Function& function) {
  std::map<Evidence, std::map<int, double>> widths; // bytes by access width
  for (const Instruction& one : function.code)
    if (const std::optional<Kind> kind = kind_of(one); kind && *kind != Kind::barrier)
      widths[{file_name(one.line), *kind}][bytes_moved(one)] += bytes_moved(one);
  std::vector<count::Site> sites;
  for (const count::Site& site : launch.sites) {
    const auto found = widths.find({file_name(site.line), kind_of(site)});
    if (site.memory != count::Memory::shared || found == widths.end()) {
      sites.push_back(site);
      continue;
    }
    double bytes = 0;
    for (const auto& [width, moved] : found->second) bytes += moved;
    for (const auto& [width, moved] : found->second) {
      const double wide = std::max(static_cast<double>(width), static_cast<double>(site.width));
      const double accesses = moved / bytes * site.width / wide; // per counted access
      const std::uint64_t passes = wide == 16  ? site.wavefronts_16
                                   : wide == 8 ? site.wavefronts_8
                                               : site.wavefronts;
      count::Site merged = site;
      merged.width = static_cast<unsigned>(wide);
      merged.requests = std::llround(accesses * static_cast<double>(site.requests));
      merged.wavefronts = std::llround(accesses * static_cast<double>(passes));
      sites.push_back(std::move(merged));
    }
  }
  launch.sites = std::move(sites);
  return launch;
}

Executed executed(const Function& function, const count::Launch& launch, const Rates& rates) {
  const double warps_of_block = std::ceil(product(launch.block) / model::kLanes);
  const double warps = warps_of_block * product(launch.grid);
  const Flow flow = flow_of(function);
  const std::vector<Placed> blocks = placed(function, flow);
  const std::map<Evidence, double> sums = counted(launch, warps_of_block);
  const std::map<Evidence, std::size_t> owner = owners(blocks, flow);
  std::map<Evidence, double> in_owner; // of one execution of all of the owner's blocks with it
  for (const Placed& block : blocks)
    for (const auto& [evidence, amount] : block.once)
      if (owner.at(evidence) == block.region) in_owner[evidence] += amount;

  // Executions of each block according to its lines; empty if they provide no evidence.
  std::vector<std::optional<double>> times(blocks.size());
  std::vector<std::optional<double>> of_region(flow.regions.size());
  of_region[0] = warps;
  for (std::size_t at = 0; at < blocks.size(); ++at) {
    double done = 0, once = 0;
    for (const auto& [evidence, amount] : blocks[at].once) {
      const auto sum = sums.find(evidence);
      if (sum == sums.end()) continue;
      once += amount;
      if (owner.at(evidence) == blocks[at].region)
        done += amount * sum->second / in_owner.at(evidence);
    }
    if (once == 0) continue;
    times[at] = done / once;
    std::optional<double>& region = of_region[blocks[at].region];
    if (blocks[at].region != 0) region = std::max(region.value_or(0), *times[at]);
  }
  // From outer loops to inner ones.
  std::vector<std::size_t> order(flow.regions.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return flow.regions[a].depth < flow.regions[b].depth;
  });
  Executed all;
  for (const std::size_t region : order) {
    const Region& here = flow.regions[region];
    for (const std::size_t other : order) // the innermost region around it comes last
      if (!of_region[region] && other != region && flow.regions[other].depth == here.depth - 1 &&
          std::binary_search(flow.regions[other].blocks.begin(), flow.regions[other].blocks.end(),
                             here.entry))
        of_region[region] = of_region[other];
    const std::vector<std::size_t> path = main_path(function, flow, here);
    const std::set<std::size_t> on_path(path.begin(), path.end());
    for (const std::size_t block : here.blocks) {
      if (blocks[block].region != region) continue;
      const bool passed = on_path.count(flow.blocks[block].begin) != 0;
      const double count = times[block].value_or(passed ? of_region[region].value_or(0) : 0);
      for (std::size_t at = flow.blocks[block].begin; at < flow.blocks[block].end; ++at) {
        const Instruction& one = function.code[at];
        all.instructions += count * static_cast<double>(1 + one.called);
        const Pipe pipe = pipe_of(one);
        // The counted wavefronts include what wide accesses and conflicts add.
        all.clocks[static_cast<std::size_t>(pipe)] +=
            count * (pipe == Pipe::lsu ? rates.lsu : clocks_of(one, rates));
      }
    }
  }
  return all;
}

} // namespace kg::sass
