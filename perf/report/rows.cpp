// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/report/rows.h"

#include "perf/format/units.h"
#include "perf/judge/peers.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <map>
#include <utility>

namespace kg::report {
namespace {

using judge::Measured;
using judge::RowResult;

std::string spread_text(const Measured& row) {
  const double share = judge::half_width(row.ci_ns, row.median_ns);
  return share > 1 ? "> ±100 %" : fmt::format("±{:.1f} %", 100 * share); // exact value meaningless
}

bool is_valid(const Measured& row) { return row.verified.empty() && !row.samples_ns.empty(); }

// The first columns of both tables.
class Columns {
 public:
  Columns(const std::vector<Measured>& rows, judge::Device device)
      : gpu_(device == judge::Device::gpu) {
    if (gpu_) vendor_speedups_ = vendor_speedups(rows);
  }

  std::vector<std::string> header(const std::vector<std::string>& more) const {
    std::vector<std::string> names = {"case", "variant", "mode", "median", "±99 % CI", "rate"};
    if (gpu_) names.emplace_back("vs vendor");
    names.insert(names.end(), more.begin(), more.end());
    return names;
  }

  // `row` may be null: not measured.
  std::vector<std::string> cells(const judge::RowKey& key, const Measured* row,
                                 const std::vector<std::string>& more) const {
    const bool timed = row && !row->samples_ns.empty();
    std::vector<std::string> cells = {key.case_id,
                                      key.variant,
                                      std::string(judge::name(key.mode)),
                                      timed ? judge::time_text(row->median_ns) : "-",
                                      timed ? spread_text(*row) : "-",
                                      timed ? rate_text(*row) : "-"};
    if (gpu_) cells.push_back(vendor_speedup_text(key));
    cells.insert(cells.end(), more.begin(), more.end());
    return cells;
  }

 private:
  std::string vendor_speedup_text(const judge::RowKey& key) const {
    const auto found = vendor_speedups_.find(key);
    if (found == vendor_speedups_.end()) return "-";
    return fmt::format("{:.2f} {}", found->second, judge::name(judge::grade(found->second)));
  }

  bool gpu_;
  std::map<judge::RowKey, double> vendor_speedups_;
};

// Sorts failures first, then rows with a ratio from slow to fast, then the rest.
double badness(const RowResult& row) {
  constexpr double kWorst = -std::numeric_limits<double>::infinity();
  if (row.exit_code == judge::kExitFail && !row.ratio) return kWorst;
  const double ratio = row.ratio.value_or(std::numeric_limits<double>::max());
  constexpr double kBeforeAllOthers = 1e6; // larger than any ratio
  return row.exit_code == judge::kExitFail ? ratio - kBeforeAllOthers : ratio;
}

} // namespace

std::string rate_text(const Measured& row) {
  if (row.samples_ns.empty()) return "-";
  if (counts_operations(row.bytes, row.flops))
    return fmt::format("{:.4g} GFLOP/s", row.flops / row.median_ns); // flops per ns = GFLOP/s
  if (row.bytes > 0) return fmt::format("{:.4g} GB/s", row.bytes / row.median_ns);
  return "-";
}

std::map<judge::RowKey, double> vendor_speedups(const std::vector<Measured>& rows) {
  std::map<std::pair<std::string, judge::Mode>, double> fastest; // vendor time by case and mode
  for (const Measured& row : rows) {
    if (!judge::is_library(row) || !is_valid(row)) continue;
    const auto [at, is_new] =
        fastest.emplace(std::pair(row.key.case_id, row.key.mode), row.median_ns);
    if (!is_new) at->second = std::min(at->second, row.median_ns);
  }
  std::map<judge::RowKey, double> result;
  for (const Measured& row : rows) {
    if (row.kind != judge::Kind::ours || !is_valid(row)) continue;
    const auto vendor = fastest.find({row.key.case_id, row.key.mode});
    if (vendor != fastest.end()) result.emplace(row.key, vendor->second / row.median_ns);
  }
  return result;
}

judge::TextTable measured_table(const std::vector<Measured>& rows, judge::Device device) {
  const Columns columns(rows, device);
  judge::TextTable table(columns.header({""}));
  for (const Measured& row : rows)
    table.add(columns.cells(row.key, &row,
                            {row.verified.empty() ? row.skipped : "INVALID: " + row.verified}));
  return table;
}

judge::TextTable judged_table(const judge::GateResult& result, const std::vector<Measured>& rows,
                              judge::Device device) {
  std::map<judge::RowKey, const Measured*> times;
  for (const Measured& row : rows) times.emplace(row.key, &row);
  std::vector<const RowResult*> order;
  for (const RowResult& row : result.rows) order.push_back(&row);
  std::stable_sort(order.begin(), order.end(), [](const RowResult* a, const RowResult* b) {
    return badness(*a) < badness(*b);
  });
  const Columns columns(rows, device);
  judge::TextTable table(columns.header({"grade", "ratio", "verdict"}));
  for (const RowResult* row : order) {
    const auto found = times.find(row->key);
    table.add(
        columns.cells(row->key, found == times.end() ? nullptr : found->second,
                      {row->grade ? judge::grade_text(*row->grade, row->ratio_interval) : "n/a",
                       row->ratio ? fmt::format("{:.3f}", *row->ratio) : "-",
                       std::string(judge::name(row->verdict))}));
  }
  return table;
}

judge::Device device_of(const judge::Results& run) {
  const auto device = run.environment.find("device");
  return device == run.environment.end() || device->second == "host" ? judge::Device::host
                                                                     : judge::Device::gpu;
}

} // namespace kg::report
