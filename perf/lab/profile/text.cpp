// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/lab/profile/text.h"

#include "perf/format/sinks.h"
#include "perf/format/table.h"
#include "perf/format/units.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <vector>

namespace kg::profile {
namespace {

using judge::time_text;

// Vendors' kernel names may be several lines long.
std::string shortened(const std::string& name) {
  constexpr std::size_t kMost = 72;
  return name.size() <= kMost ? name : name.substr(0, kMost - 3) + "...";
}

judge::TextTable table_of(std::span<const Part> parts, const char* first) {
  judge::TextTable table({first, "per run", "time per run", "share", "mean", "min", "max"});
  for (const Part& part : parts)
    table.add({part.kind == Activity::Kind::call || part.kind == Activity::Kind::kernel
                   ? shortened(part.name)
                   : fmt::format("({})", part.name),
               fmt::format("{:.4g}", part.launches), time_text(part.total_ns),
               part.kind == Activity::Kind::call ? "-" : fmt::format("{:.1f} %", 100 * part.share),
               time_text(part.mean_ns()), time_text(part.min_ns), time_text(part.max_ns)});
  return table;
}

nlohmann::json to_json(std::span<const Part> parts) {
  nlohmann::json list = nlohmann::json::array();
  for (const Part& part : parts)
    list.push_back({{"kind", name(part.kind)},
                    {"name", part.name},
                    {"per_run", part.launches},
                    {"total_ns", part.total_ns},
                    {"share", part.share},
                    {"mean_ns", part.mean_ns()},
                    {"min_ns", part.min_ns},
                    {"max_ns", part.max_ns}});
  return list;
}

} // namespace

std::string plain_text(const RowProfile& row) {
  std::string out = fmt::format(
      "{} {}: {} per run ({} to {} in {} runs) = device {} ({:.1f} %) + host {}\n", row.key.case_id,
      row.key.variant, time_text(row.wall_ns), time_text(row.wall_min_ns),
      time_text(row.wall_max_ns), row.runs, time_text(row.device_ns),
      100 * row.device_ns / row.wall_ns, time_text(row.host_ns()));
  out += row.device.empty() ? "no kernel ran: all of it is host time\n"
                            : table_of(row.device, "kernel").plain();
  if (!row.calls.empty()) out += table_of(row.calls, "call of the caller").plain();
  if (row.dropped > 0)
    out += fmt::format("incomplete: {} activities were lost; profile fewer --runs\n", row.dropped);
  return out;
}

std::string plain_text(std::span<const Part> top) { return table_of(top, "top kernels").plain(); }

std::string json(std::span<const RowProfile> rows, std::span<const Part> top,
                 const std::map<std::string, std::string>& environment) {
  nlohmann::json list = nlohmann::json::array();
  for (const RowProfile& row : rows)
    list.push_back({{"case", row.key.case_id},
                    {"variant", row.key.variant},
                    {"runs", row.runs},
                    {"wall_ns", row.wall_ns},
                    {"wall_min_ns", row.wall_min_ns},
                    {"wall_max_ns", row.wall_max_ns},
                    {"device_ns", row.device_ns},
                    {"host_ns", row.host_ns()},
                    {"device", to_json(row.device)},
                    {"calls", to_json(row.calls)},
                    {"dropped", row.dropped}});
  const nlohmann::json whole = {{"schema", kProfileSchema},
                                {"environment", environment},
                                {"rows", list},
                                {"top", to_json(top)}};
  return judge::for_json(whole, 1) + "\n";
}

} // namespace kg::profile
