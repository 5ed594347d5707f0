// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/cli/candidate/costs.h"

#include "perf/cli/candidate/process.h"
#include "perf/format/json_reader.h"
#include "perf/format/table.h"
#include "perf/judge/exact_table.h"
#include "runtime/atomic_file.h"
#include "runtime/error.h"
#include "runtime/without_places.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

namespace kg::candidate {
namespace {

namespace fs = std::filesystem;

double times_the_least(double value, double least) {
  value = judge::as_written(value);
  least = judge::as_written(least);
  // Fractions of a sector cannot be transferred.
  if (least == 0 || value <= least || (least > 100 && value < least + 1)) return 1;
  return value / least;
}

// Sort key: the ratio to the minimum, and after these the ratio to ours if no minimum is known.
std::pair<double, double> badness(const Cost& cost) {
  if (cost.times() > 1) return {cost.times(), 0};
  if (cost.least > 0 || cost.value <= cost.ours) return {0, 0};
  return {0, cost.ours > 0 ? cost.value / cost.ours : std::numeric_limits<double>::infinity()};
}

std::string factor(double times, double least) {
  return least > 0 ? fmt::format("{:.2f}", times) : "-";
}

void add_case(Costs& costs, const std::string& dtype, const nlohmann::json& counted) {
  const std::string id = counted.at("case");
  const nlohmann::json& tried = counted.at("candidate");
  const nlohmann::json& ours = counted.at("ours");
  for (const nlohmann::json& metric : tried.at("metrics")) {
    Cost cost;
    cost.dtype = dtype;
    cost.shape = id.substr(id.find('.', id.find('.') + 1) + 1);
    cost.name = metric.at("name");
    cost.value = metric.at("value");
    cost.least = metric.at("minimum");
    cost.variant = ours.at("variant");
    for (const nlohmann::json& one : ours.at("metrics"))
      if (one.at("name") == cost.name) {
        cost.ours = one.at("value");
        cost.ours_least = one.at("minimum");
      }
    cost.site = metric.at("site");
    cost.hint = metric.at("hint");
    costs.all.push_back(std::move(cost));
  }
  for (const nlohmann::json& launch : tried.at("launches")) {
    resources::Launched& known = costs.launches[launch.at("kernel")];
    const resources::Launched now{launch.at("threads"), launch.at("shared_bytes")};
    if (std::pair(now.dynamic_shared, now.threads) > std::pair(known.dynamic_shared, known.threads))
      known = now;
  }
}

} // namespace

double Cost::times() const { return times_the_least(value, least); }

std::vector<std::string> Costs::above(double most) const {
  std::vector<std::string> lines;
  for (const Cost& cost : all)
    if (!(cost.times() <= most)) // true for NaN
      lines.push_back(fmt::format("{} {}: {} is {:.3g} times the minimum; --max-cost allows {:g}",
                                  cost.dtype, cost.shape, cost.name, cost.times(), most));
  return lines;
}

Costs count_costs(const Programs& programs, const std::string& op,
                  const std::vector<std::string>& dtypes, const std::vector<std::string>& shapes,
                  const fs::path& library, const fs::path& folder) {
  Costs costs;
  const fs::path results = folder / "costs.json";
  for (const std::string& dtype : dtypes) {
    fs::remove(results);
    std::vector<std::string> command = {programs.try_counted.string(), op, library.string(), dtype,
                                        results.string()};
    command.insert(command.end(), shapes.begin(), shapes.end());
    const perf::Finished finished = run_guarded(programs.guard, command, kMostSeconds, folder);
    const std::size_t said = finished.output.rfind("FAILED: ");
    if (finished.exit_code != 0 && said != std::string::npos)
      costs.broken.push_back(dtype + ": " + without_places(finished.output.substr(said + 8)));
    else if (finished.exit_code != 0 || !fs::exists(results))
      costs.broken.push_back(dtype + ": counting left no results: " + perf::ending(finished));
    else
      for (const nlohmann::json& counted :
           judge::parse_json(read_file(results).value_or(""), results.string()))
        add_case(costs, dtype, counted);
  }
  return costs;
}

report::Section costs_section(const Costs& costs) {
  report::Section section{"Costs", {}};
  std::map<std::pair<std::string, std::string>, const Cost*> worst;
  for (const Cost& cost : costs.all) {
    const Cost*& known = worst[{cost.dtype, cost.name}];
    if (!known || badness(cost) > badness(*known)) known = &cost;
  }
  std::vector<const Cost*> shown;
  for (const auto& [key, cost] : worst)
    if (badness(*cost) > std::pair(0.0, 0.0)) shown.push_back(cost);
  std::stable_sort(shown.begin(), shown.end(),
                   [](const Cost* a, const Cost* b) { return badness(*a) > badness(*b); });
  if (shown.empty()) {
    section.lines.emplace_back("costs: the theoretical minimum in every listed shape");
    return section;
  }
  judge::TextTable table({"type", "cost, counted", "yours", "least", "times", "ours", "times",
                          "worst in", "most of it at"});
  for (const Cost* cost : shown) {
    const std::string line = fs::path(cost->site).filename().string();
    table.add({cost->dtype, cost->name, judge::exact_number(cost->value),
               cost->least > 0 ? judge::exact_number(cost->least) : "-",
               factor(cost->times(), cost->least),
               fmt::format("{} ({})", judge::exact_number(cost->ours), cost->variant),
               factor(times_the_least(cost->ours, cost->ours_least), cost->ours_least), cost->shape,
               line});
    // The problem at a line comes before the colon, and is reported once.
    const std::string wrong =
        fmt::format("{}: {}", line, cost->hint.substr(0, cost->hint.find(':')));
    const auto says_so = [&](const std::string& known) { return known.starts_with(wrong); };
    if (!cost->hint.empty() && std::none_of(section.lines.begin(), section.lines.end(), says_so))
      section.lines.push_back(fmt::format("{}: {}", line, cost->hint));
  }
  section.table = std::move(table);
  return section;
}

nlohmann::json to_json(const Costs& costs) {
  nlohmann::json all = nlohmann::json::array();
  for (const Cost& cost : costs.all)
    all.push_back({{"dtype", cost.dtype},
                   {"shape", cost.shape},
                   {"cost", cost.name},
                   {"value", cost.value},
                   {"least", cost.least},
                   {"times", cost.times()},
                   {"ours", cost.ours},
                   {"ours_least", cost.ours_least},
                   {"ours_variant", cost.variant},
                   {"site", cost.site},
                   {"hint", cost.hint}});
  return all;
}

} // namespace kg::candidate
