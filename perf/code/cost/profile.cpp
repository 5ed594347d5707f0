// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/code/cost/profile.h"

#include "perf/format/table.h"
#include "perf/judge/bands.h"
#include "perf/judge/exact_table.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <map>

namespace kg::cost {
namespace {

using count::Launch;
using count::Memory;
using count::Site;

std::string metric_table(const std::vector<Metric>& metrics) {
  judge::TextTable table({"metric", "value", "minimum", "min/value", "most of it at"});
  for (const Metric& metric : metrics) {
    const bool bounded = metric.minimum > 0;
    table.add(
        {metric.name, judge::exact_number(metric.value),
         bounded ? judge::exact_number(metric.minimum) : "-",
         bounded ? fmt::format("{:.3f}", judge::cost_ratio(metric.minimum, metric.value)) : "-",
         metric.site.empty() ? "" : std::filesystem::path(metric.site).filename().string()});
  }
  return table.plain();
}

std::string per_request(std::uint64_t count, std::uint64_t requests) {
  return fmt::format("{:.2f}", static_cast<double>(count) / static_cast<double>(requests));
}

std::vector<std::string> row_of(const Site& site, const std::string& line, const std::string& what,
                                const std::string& hint) {
  const bool global = site.memory == Memory::global;
  return {line,
          what,
          std::to_string(site.accesses),
          std::to_string(site.requests),
          per_request(site.lanes, site.requests),
          global ? per_request(site.sectors, site.requests) : "-",
          global ? "-" : per_request(site.wavefronts, site.least_wavefronts),
          hint};
}

void add_figures(const Site& more, Site& sum) {
  for (const auto member : {&Site::requests, &Site::lanes, &Site::sectors, &Site::least_sectors,
                            &Site::wavefronts, &Site::least_wavefronts, &Site::addresses})
    sum.*member += more.*member;
  sum.most_lanes = std::max(sum.most_lanes, more.most_lanes);
}

// One row per line, memory, kind and width, with the sum over all its accesses. Then the total of
// each memory.
std::string site_table(std::vector<Site> sites) {
  std::stable_sort(sites.begin(), sites.end(),
                   [](const Site& a, const Site& b) { return excess(a) > excess(b); });
  judge::TextTable table({"line", "what", "accesses", "requests", "lanes", "sectors/request",
                          "conflict degree", "hint"});
  std::map<Memory, Site> totals;
  for (const Site& site : sites) {
    table.add(row_of(site, std::filesystem::path(site.line).filename().string(), access_name(site),
                     hint(site)));
    Site& total = totals[site.memory];
    total.memory = site.memory;
    total.accesses += site.accesses;
    add_figures(site, total);
  }
  for (const auto& [memory, total] : totals)
    table.add(row_of(total, "total", memory == Memory::global ? "global" : "shared", ""));
  return table.plain();
}

std::string configuration(const Launch& launch) {
  const auto extents = [](const std::array<unsigned, 3>& e) {
    return fmt::format("({},{},{})", e[0], e[1], e[2]);
  };
  return fmt::format("grid {}, block {}, {} bytes of dynamic shared memory", extents(launch.grid),
                     extents(launch.block), launch.shared_bytes);
}

std::string kernel_text(const Launch& launch) {
  std::string text = fmt::format("kernel {}: {}\n", launch.kernel, configuration(launch));
  std::string meetings = fmt::format("{} barriers", launch.barriers);
  if (launch.barrier_phases > 0)
    meetings += fmt::format(", {} phases of other barriers", launch.barrier_phases);
  for (const auto& [name, count] : launch.collectives)
    meetings += fmt::format(", {} {}", count, name);
  for (const auto& [name, count] : launch.wgmma)
    meetings += fmt::format(", {} wgmma {}", count, name);
  text += fmt::format("reads {} unique sectors, writes {}; {}\n", launch.unique_read,
                      launch.unique_written, meetings);
  if (launch.bulk_loaded + launch.bulk_stored > 0)
    text += fmt::format("bulk copies load {} bytes and store {}; at most {} of a block are in "
                        "flight\n",
                        launch.bulk_loaded, launch.bulk_stored, launch.bulk_in_flight);
  return text + site_table(launch.sites);
}

void add(const Site& more, std::vector<Site>& sites) {
  const auto same = std::find_if(sites.begin(), sites.end(), [&](const Site& site) {
    return site.line == more.line && site.memory == more.memory && site.access == more.access &&
           site.width == more.width;
  });
  if (same == sites.end()) return sites.push_back(more);
  add_figures(more, *same);
  same->accesses = std::max(same->accesses, more.accesses); // each launch executes the same code
}

} // namespace

std::string kernels_text(const std::vector<Launch>& launches) {
  struct Kernel {
    const Launch* first;
    std::size_t launches = 0;
    std::vector<Site> sites;
  };
  std::vector<Kernel> kernels; // in order of first launch
  for (const Launch& launch : launches) {
    auto kernel = std::find_if(kernels.begin(), kernels.end(), [&](const Kernel& known) {
      return known.first->kernel == launch.kernel;
    });
    if (kernel == kernels.end()) kernel = kernels.insert(kernels.end(), {&launch, 0, {}});
    ++kernel->launches;
    for (const Site& site : launch.sites) add(site, kernel->sites);
  }
  std::string text;
  for (const Kernel& kernel : kernels)
    text +=
        fmt::format("{}kernel {}: {} of {}\n{}", text.empty() ? "" : "\n", kernel.first->kernel,
                    kernel.launches == 1 ? "one launch"
                                         : fmt::format("{} launches, the first", kernel.launches),
                    configuration(*kernel.first), site_table(kernel.sites));
  return text;
}

std::string profile_text(const std::vector<Launch>& launches, const Work& work) {
  std::string text = metric_table(metrics(launches, work));
  for (const Launch& launch : launches) text += "\n" + kernel_text(launch);
  return text;
}

} // namespace kg::cost
