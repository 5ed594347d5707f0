// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/report/crossovers.h"

#include "perf/format/table.h"
#include "perf/lab/study/analysis.h"
#include "perf/measure/measure.h"
#include "perf/report/rows.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <tuple>
#include <utility>

namespace kg::report {
namespace {

using judge::Measured;
using study::Timed;

// A case with its variants' times.
struct TimedCase {
  SweepPoint point;
  std::map<std::string, Timed> times;
};

// "rows#_cols#" of "softmax.f32.rows32_cols512".
std::string shape_of(const Measured& row) {
  const std::string& id = row.key.case_id;
  const std::size_t front = row.op.size() + row.dtype.size() + 2;
  const std::string shape = id.size() > front ? id.substr(front) : id;
  static const std::regex number("[0-9]+");
  return std::regex_replace(shape, number, "#");
}

bool is_swept(const Measured& row) {
  return row.kind == judge::Kind::ours && row.verified.empty() && row.median_ns > 0 &&
         row.bytes + row.flops > 0;
}

std::string automatic_of(const Measured& row) {
  const auto at = row.tags.find(perf::kAutomaticTag);
  return at == row.tags.end() ? "" : at->second;
}

std::vector<TimedCase> cases_of(const std::vector<const Measured*>& rows, bool operations) {
  std::map<std::string, TimedCase> cases;
  for (const Measured* row : rows) {
    const double size = operations ? row->flops : row->bytes;
    if (size <= 0) continue;
    TimedCase& one = cases[row->key.case_id];
    one.point.case_id = row->key.case_id;
    one.point.size = size;
    one.times[row->key.variant] = {size, row->median_ns, row->ci_ns};
    if (one.point.automatic.empty()) one.point.automatic = automatic_of(*row);
  }
  std::vector<TimedCase> sorted;
  for (auto& [id, one] : cases) sorted.push_back(std::move(one));
  std::stable_sort(sorted.begin(), sorted.end(), [](const TimedCase& a, const TimedCase& b) {
    return a.point.size < b.point.size;
  });
  return sorted;
}

void rank(TimedCase& one, judge::Device device) {
  const auto& [variant, best] =
      *std::min_element(one.times.begin(), one.times.end(),
                        [](const auto& a, const auto& b) { return a.second.ns < b.second.ns; });
  one.point.fastest = variant;
  for (const auto& [name, time] : one.times)
    if (name != variant && study::slower(best, time) == 0) one.point.as_fast.push_back(name);
  const auto chosen = one.times.find(one.point.automatic);
  if (chosen == one.times.end() || device == judge::Device::host) return;
  const bool is_slower = study::slower(best, chosen->second) < 0;
  one.point.loss_pct = is_slower ? 100 * (chosen->second.ns / best.ns - 1) : 0;
}

// Why the change cannot be located between the two cases; empty if it can.
std::string obstacle(const SweepChange& change, const TimedCase& from, const TimedCase& to) {
  for (const TimedCase* side : {&from, &to})
    for (const std::string& variant : {change.before, change.after})
      if (!side->times.contains(variant))
        return fmt::format("{} has no time in {}", variant, side->point.case_id);
  for (const TimedCase* side : {&from, &to})
    if (study::slower(side->times.at(change.before), side->times.at(change.after)) == 0)
      return fmt::format("the intervals of {} and {} overlap in {}", change.before, change.after,
                         side->point.case_id);
  return "";
}

SweepChange change_between(const TimedCase& from, const TimedCase& to) {
  SweepChange change{from.point.fastest, to.point.fastest, from.point.size, to.point.size, {}, {}};
  change.reason = obstacle(change, from, to);
  if (change.reason.empty())
    change.size = study::crossing({from.times.at(change.before), from.times.at(change.after)},
                                  {to.times.at(change.before), to.times.at(change.after)});
  return change;
}

// Cases with equal element counts in different shapes may differ in size by their vectors.
constexpr double kOneSize = 1.1;

// If cases of one size have different fastest variants, the size does not decide. The change lies
// within that size, and none is located between it and its neighbours.
std::vector<SweepChange> changes_of(const std::vector<TimedCase>& cases) {
  std::vector<SweepChange> changes;
  const TimedCase* last = nullptr; // the last of the smaller sizes; null if those disagree
  for (std::size_t i = 0, end = 0; i < cases.size(); i = end) {
    const TimedCase* other = nullptr;
    for (end = i; end < cases.size() && cases[end].point.size <= kOneSize * cases[i].point.size;
         ++end)
      if (cases[end].point.fastest != cases[i].point.fastest) other = &cases[end];
    const TimedCase& first = cases[i];
    if (other)
      changes.push_back({first.point.fastest, other->point.fastest, first.point.size,
                         other->point.size, std::nullopt,
                         fmt::format("cases of about one size differ: {} and {}",
                                     first.point.case_id, other->point.case_id)});
    else if (last && last->point.fastest != first.point.fastest)
      changes.push_back(change_between(*last, first));
    last = other ? nullptr : &cases[end - 1];
  }
  return changes;
}

std::string size_text(double size, const std::string& unit) {
  if (unit == "flops") return fmt::format("{:.3g} operations", size);
  for (const auto& [name, bytes] : {std::pair("GiB", 0x1p30), {"MiB", 0x1p20}, {"KiB", 0x1p10}})
    if (size >= bytes) return fmt::format("{:.4g} {}", size / bytes, name);
  return fmt::format("{:.4g} B", size);
}

std::string place_text(const SweepChange& change, const std::string& unit) {
  const std::string at = change.size ? size_text(*change.size, unit) : "not resolved";
  const std::string from = size_text(change.from, unit), to = size_text(change.to, unit);
  return from == to ? fmt::format("{} (at {})", at, from)
                    : fmt::format("{} (between {} and {})", at, from, to);
}

} // namespace

std::vector<Sweep> sweeps(const judge::Results& run) {
  using Key = std::tuple<std::string, std::string, std::string, std::string>;
  std::map<Key, std::vector<const Measured*>> groups;
  std::vector<Key> order;
  for (const Measured& row : run.rows) {
    if (!is_swept(row)) continue;
    const Key key(row.op, row.dtype, std::string(judge::name(row.key.mode)), shape_of(row));
    if (!groups.contains(key)) order.push_back(key);
    groups[key].push_back(&row);
  }
  std::vector<Sweep> result;
  for (const Key& key : order) {
    const std::vector<const Measured*>& rows = groups.at(key);
    double bytes = 0, flops = 0;
    for (const Measured* row : rows) {
      bytes += row->bytes;
      flops += row->flops;
    }
    const bool operations = counts_operations(bytes, flops);
    std::vector<TimedCase> cases = cases_of(rows, operations);
    if (cases.empty()) continue;
    for (TimedCase& one : cases) rank(one, device_of(run));
    const auto& [op, dtype, mode, shape] = key;
    Sweep sweep{op, dtype, mode, shape, operations ? "flops" : "bytes", {}, changes_of(cases)};
    for (TimedCase& one : cases) sweep.points.push_back(std::move(one.point));
    result.push_back(std::move(sweep));
  }
  return result;
}

nlohmann::json json(const std::vector<Sweep>& sweeps) {
  nlohmann::json all = nlohmann::json::array();
  for (const Sweep& sweep : sweeps) {
    nlohmann::json points = nlohmann::json::array(), changes = nlohmann::json::array();
    for (const SweepPoint& each : sweep.points) {
      nlohmann::json point = {{"case", each.case_id},
                              {"size", each.size},
                              {"fastest", each.fastest},
                              {"as_fast", each.as_fast}};
      if (!each.automatic.empty()) point["automatic"] = each.automatic;
      if (each.loss_pct) point["loss_pct"] = *each.loss_pct;
      points.push_back(std::move(point));
    }
    for (const SweepChange& each : sweep.changes) {
      nlohmann::json change = {
          {"before", each.before}, {"after", each.after}, {"from", each.from}, {"to", each.to}};
      if (each.size)
        change["size"] = *each.size;
      else
        change["reason"] = each.reason;
      changes.push_back(std::move(change));
    }
    all.push_back({{"op", sweep.op},
                   {"dtype", sweep.dtype},
                   {"mode", sweep.mode},
                   {"shape", sweep.shape},
                   {"unit", sweep.unit},
                   {"points", points},
                   {"changes", changes}});
  }
  return all;
}

std::string markdown(const std::vector<Sweep>& sweeps) {
  if (sweeps.empty()) return "";
  judge::TextTable changes(
      {"cases", "mode", "fastest of Kernelgrade's", "changes at", "why not resolved"});
  judge::TextTable losses({"case", "mode", "automatic takes", "the fastest", "loss"});
  std::size_t changed = 0, judged = 0;
  for (const Sweep& sweep : sweeps) {
    const std::string cases = fmt::format("{}.{}.{}", sweep.op, sweep.dtype, sweep.shape);
    for (const SweepChange& each : sweep.changes)
      changes.add({cases, sweep.mode, each.before + " -> " + each.after,
                   place_text(each, sweep.unit), each.reason.empty() ? "-" : each.reason});
    changed += !sweep.changes.empty();
    for (const SweepPoint& each : sweep.points) {
      judged += each.loss_pct.has_value();
      if (each.loss_pct.value_or(0) > 0)
        losses.add({each.case_id, sweep.mode, each.automatic, each.fastest,
                    fmt::format("{:.1f} %", *each.loss_pct)});
    }
  }
  std::string text = fmt::format("## Which variant at which size\n\nIn {} of {} sweeps over sizes "
                                 "the fastest of Kernelgrade's is not the same throughout.\n",
                                 changed, sweeps.size());
  if (changed > 0) text += "\n" + changes.markdown();
  const std::size_t slower = losses.lines().size() - 1;
  text += judged > 0
              ? fmt::format("\n`automatic` takes a slower variant in {} of {} cases and modes.\n",
                            slower, judged)
              : "\nWhether `automatic` takes the fastest is not judged: that needs times of a GPU, "
                "for which it chooses, and rows that say what it takes.\n";
  if (slower > 0) text += "\n" + losses.markdown();
  return text + "\n";
}

} // namespace kg::report
