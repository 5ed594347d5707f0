// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/code/cost/limits.h"

#include "perf/code/cost/metrics.h"

#include <algorithm>
#include <fmt/format.h>

namespace kg::cost {
namespace {

std::string unknown(const std::string& name, const std::vector<Metric>& all) {
  std::string text = fmt::format("no metric is named '{}'; there are", name);
  for (const Metric& metric : all) text += " " + metric.name;
  return text + "\n";
}

std::string report(const Metric& metric, double blessed) {
  std::string text = fmt::format("{} {} -> {}", metric.name, blessed, metric.value);
  if (!metric.site.empty()) text += ", most of it at " + metric.site;
  if (!metric.hint.empty()) text += ": " + metric.hint;
  return text + "\n";
}

} // namespace

std::string exceeded(const std::vector<count::Launch>& launches, const std::vector<Limit>& limits) {
  if (launches.empty())
    return "no launch was counted; were the kernels compiled for the counters, and did they run?\n";
  if (limits.empty()) return "no limits were given, so nothing was compared\n";
  const std::vector<Metric> all = metrics(launches, {});
  std::string text;
  for (const Limit& limit : limits) {
    const auto metric = std::find_if(all.begin(), all.end(),
                                     [&](const Metric& each) { return each.name == limit.metric; });
    if (metric == all.end())
      text += unknown(limit.metric, all);
    else if (!(metric->value <= limit.blessed)) // also true for a NaN limit
      text += report(*metric, limit.blessed);
  }
  return text;
}

} // namespace kg::cost
