// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/code/cost/compiled.h"

#include "perf/code/cost/metrics.h"
#include "runtime/error.h"

#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <numeric>

namespace kg::cost {
namespace {

using count::Launch;
using count::Memory;
using count::Site;

struct Sum {
  std::uint64_t requests = 0;
  std::uint64_t passes = 0;
  std::map<std::string, std::uint64_t> lines; // requests
};

std::map<std::string, Sum> by_access(const Launch& launch) {
  std::map<std::string, Sum> sums;
  for (const Site& site : launch.sites) {
    Sum& sum = sums[access_name(site)];
    sum.requests += site.requests;
    sum.passes += site.memory == Memory::global ? site.sectors : site.wavefronts;
    sum.lines[std::filesystem::path(site.line).filename().string()] += site.requests;
  }
  return sums;
}

// Omits lines with equal counts on both sides.
std::string lines(const Sum& mine, const Sum& other) {
  std::string text;
  for (const auto& [line, requests] : mine.lines) {
    const auto same = other.lines.find(line);
    if (same != other.lines.end() && same->second == requests) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", line, requests);
  }
  return text;
}

std::uint64_t collectives(const Launch& launch) {
  return std::accumulate(launch.collectives.begin(), launch.collectives.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const auto& named) { return sum + named.second; });
}

void add(std::vector<Difference>& found, const Launch& source, const Launch& compiled) {
  std::map<std::string, Sum> of_source = by_access(source), of_compiled = by_access(compiled);
  for (const auto& [what, unused] : of_compiled) of_source[what];
  for (const auto& [what, a] : of_source) {
    const Sum& b = of_compiled[what];
    if (a.requests != b.requests || a.passes != b.passes)
      found.push_back({source.kernel, what, a.requests, b.requests, a.passes, b.passes, lines(a, b),
                       lines(b, a)});
  }
  if (source.barriers != compiled.barriers)
    found.push_back({source.kernel, "barriers", source.barriers, compiled.barriers, 0, 0, {}, {}});
  if (collectives(source) != collectives(compiled))
    found.push_back(
        {source.kernel, "collectives", collectives(source), collectives(compiled), 0, 0, {}, {}});
}

} // namespace

std::vector<Difference> differences(const std::vector<Launch>& source,
                                    const std::vector<Launch>& compiled) {
  const auto names = [](const std::vector<Launch>& launches) {
    std::string text;
    for (const Launch& launch : launches) text += (text.empty() ? "" : ", ") + launch.kernel;
    return text;
  };
  require(
      names(source) == names(compiled),
      fmt::format("g++'s code launched {}; nvcc's launched {}", names(source), names(compiled)));
  std::vector<Difference> found;
  for (std::size_t i = 0; i < source.size(); ++i) add(found, source[i], compiled[i]);
  return found;
}

} // namespace kg::cost
