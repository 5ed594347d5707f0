// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/lab/profile/profile.h"

#include "runtime/error.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

namespace kg::profile {
namespace {

using Kind = Activity::Kind;

double total(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

// The length of the union of the device's activities: kernels of several streams overlap.
double busy_ns(const std::vector<Activity>& activities) {
  std::vector<std::pair<double, double>> spans;
  for (const Activity& activity : activities)
    if (activity.kind != Kind::call)
      spans.emplace_back(activity.start_ns, activity.start_ns + activity.duration_ns);
  std::sort(spans.begin(), spans.end());
  double busy = 0, end = spans.empty() ? 0 : spans.front().first;
  for (const auto& [start, stop] : spans) {
    busy += std::max(0.0, stop - std::max(start, end));
    end = std::max(end, stop);
  }
  return busy;
}

void longest_first(std::vector<Part>& parts) {
  std::stable_sort(parts.begin(), parts.end(),
                   [](const Part& a, const Part& b) { return a.total_ns > b.total_ns; });
}

void take_shares(std::vector<Part>& parts) {
  double all = 0;
  for (const Part& part : parts) all += part.total_ns;
  for (Part& part : parts) part.share = all > 0 ? part.total_ns / all : 0;
}

// Adds `part` to the entry of its kind and name.
using Parts = std::map<std::pair<Kind, std::string>, Part>;
void add(Parts& parts, const Part& part) {
  const auto [at, is_new] = parts.emplace(std::pair(part.kind, part.name), part);
  if (is_new) return;
  Part& whole = at->second;
  whole.launches += part.launches;
  whole.total_ns += part.total_ns;
  whole.min_ns = std::min(whole.min_ns, part.min_ns);
  whole.max_ns = std::max(whole.max_ns, part.max_ns);
}

} // namespace

std::string_view name(Kind kind) {
  switch (kind) {
  case Kind::kernel: return "kernel";
  case Kind::copy: return "copy";
  case Kind::fill: return "fill";
  case Kind::call: return "call";
  }
  return "";
}

RowProfile aggregate(const judge::RowKey& key, std::span<const double> walls_ns,
                     const Trace& trace) {
  require(!walls_ns.empty(), "walls_ns: expected at least one, got none; run the row");
  const auto runs = static_cast<double>(walls_ns.size());
  RowProfile profile;
  profile.key = key;
  profile.runs = walls_ns.size();
  profile.wall_ns = total(walls_ns) / runs;
  profile.wall_min_ns = *std::min_element(walls_ns.begin(), walls_ns.end());
  profile.wall_max_ns = *std::max_element(walls_ns.begin(), walls_ns.end());
  profile.device_ns = busy_ns(trace.activities) / runs;
  profile.dropped = trace.dropped;
  Parts parts;
  for (const Activity& activity : trace.activities) {
    const double ns = activity.duration_ns;
    add(parts, {activity.kind, activity.name, 1 / runs, ns / runs, 0, ns, ns});
  }
  for (const auto& [name, part] : parts)
    (part.kind == Kind::call ? profile.calls : profile.device).push_back(part);
  take_shares(profile.device);
  longest_first(profile.device);
  longest_first(profile.calls);
  return profile;
}

std::vector<Part> top_kernels(std::span<const RowProfile> rows, std::size_t count) {
  Parts parts;
  for (const RowProfile& row : rows)
    for (const Part& part : row.device) add(parts, part);
  std::vector<Part> kernels;
  for (const auto& [name, part] : parts) kernels.push_back(part);
  take_shares(kernels);
  std::erase_if(kernels, [](const Part& part) { return part.kind != Kind::kernel; });
  longest_first(kernels);
  kernels.resize(std::min(kernels.size(), count));
  return kernels;
}

RowProfile profile_row(const judge::RowKey& key, const perf::Workload& workload, Stream& stream,
                       const perf::Clock& now, int runs) {
  constexpr int kWarmUp = 3;
  for (int i = 0; i < kWarmUp; ++i) workload.run(stream);
  stream.synchronize();
  const std::unique_ptr<Tracer> tracer = start_trace();
  std::vector<double> walls_ns;
  for (int i = 0; i < runs; ++i) {
    const double start = now();
    workload.run(stream);
    stream.synchronize();
    walls_ns.push_back(now() - start);
  }
  return aggregate(key, walls_ns, tracer->finish());
}

} // namespace kg::profile
