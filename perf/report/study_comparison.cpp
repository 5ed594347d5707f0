// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/report/study_tables.h"

#include "perf/format/units.h"
#include "perf/judge/statistics.h"
#include "perf/lab/study/analysis.h"
#include "perf/measure/measure.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace kg::report {
namespace {

using judge::Measured;
using judge::TextTable;
using study::Curve;
using study::Experiment;
using study::Record;
using study::Study;

// The row with the lowest median; null if none is timed.
const Measured* fastest(const AtPoint& at, bool ours_only) {
  const Measured* best = nullptr;
  for (const Experiment* each : at.experiments) {
    const Measured& row = each->row;
    if (!is_timed(*each) || (ours_only && row.kind != judge::Kind::ours)) continue;
    if (!best || row.median_ns < best->median_ns) best = &row;
  }
  return best;
}

// The fastest variant, and those that are not significantly slower.
std::string choice(const AtPoint& at, bool ours_only) {
  const Measured* best = fastest(at, ours_only);
  if (!best) return "-";
  std::string text = best->key.variant;
  for (const Experiment* each : at.experiments) {
    const Measured& row = each->row;
    if (!is_timed(*each) || &row == best || (ours_only && row.kind != judge::Kind::ours)) continue;
    if (row.ci_ns.low <= best->ci_ns.high) text += " or " + row.key.variant;
  }
  return text;
}

std::vector<std::string> variants_of(const Record& record) {
  std::vector<std::string> variants;
  for (const study::Planned& planned : record.header.plan)
    if (std::find(variants.begin(), variants.end(), planned.variant) == variants.end())
      variants.push_back(planned.variant);
  return variants;
}

// "1.3e+04 elements"
std::string size_text(double size, const Study& study) {
  return fmt::format("{:.3g} {}", size, study.axis);
}

std::string fit_verdict(const Curve& curve, const std::optional<study::Fit>& fit,
                        const study::Scaling& scaling) {
  if (!fit) return "not fitted: fewer than three sizes above overhead";
  if (scaling.tolerance == 0) return "informs";
  if (!study::within(*fit, scaling)) return curve.judged ? "FAILED" : "outside (informs)";
  const double apart = std::fabs(fit->exponent - scaling.exponent);
  const bool another_fits = apart + fit->reach >= 1; // the interval includes the next whole power
  return apart <= scaling.tolerance && !another_fits ? "pass" : "inconclusive: the times scatter";
}

} // namespace

std::string curve_name(const Curve& curve) {
  return curve.group.empty() ? curve.variant : curve.variant + ", " + curve.group;
}

Section relative_section(const Study& study, const Record& record) {
  const std::vector<std::string> variants = variants_of(record);
  std::vector<std::string> header = {study.axis};
  header.insert(header.end(), variants.begin(), variants.end());
  Section section{"Relative times", {"1 is the fastest at that point"}, TextTable(header)};
  for (const AtPoint& at : by_point(record)) {
    const Measured* best = fastest(at, false);
    if (!best) continue;
    std::vector<std::string> cells = {at.point->label};
    for (const std::string& variant : variants) {
      const Experiment* found = record.find({at.point->case_id, variant});
      cells.push_back(found && is_timed(*found)
                          ? fmt::format("{:.2f}", found->row.median_ns / best->median_ns)
                          : "-");
    }
    section.table->add(cells);
  }
  return section;
}

Section choice_section(const Study& study, const Record& record) {
  Section section{"Which to take",
                  {"the fastest; \"or\": the 99 % intervals of the medians overlap"},
                  TextTable({study.axis, "of all", "of ours"})};
  for (const AtPoint& at : by_point(record))
    if (!at.experiments.empty())
      section.table->add({at.point->label, choice(at, false), choice(at, true)});
  return section;
}

namespace {

// The cost of one rule for choosing a variant.
struct Rule {
  std::string name;
  std::vector<double> times; // relative to Kernelgrade's fastest, by point
  std::size_t without = 0;   // points where the selected variant has no time
};

void apply(Rule& rule, const AtPoint& at, const std::string& variant, double fastest_ns) {
  const auto taken =
      std::find_if(at.experiments.begin(), at.experiments.end(), [&](const Experiment* each) {
        return each->row.kind == judge::Kind::ours && each->row.key.variant == variant;
      });
  if (taken == at.experiments.end() || !is_timed(**taken))
    ++rule.without;
  else
    rule.times.push_back((*taken)->row.median_ns / fastest_ns);
}

// `automatic` first, if the rows say what it selects, then each of our variants.
std::vector<Rule> rules_of(const Record& record) {
  Rule automatic{"automatic", {}, 0};
  std::vector<Rule> always;
  for (const AtPoint& at : by_point(record))
    for (const Experiment* each : at.experiments)
      if (each->row.kind == judge::Kind::ours &&
          std::none_of(always.begin(), always.end(),
                       [&](const Rule& rule) { return rule.name == each->row.key.variant; }))
        always.push_back({each->row.key.variant, {}, 0});
  for (const AtPoint& at : by_point(record)) {
    const Measured* const best = fastest(at, true);
    if (!best) continue;
    const auto tag = best->tags.find(perf::kAutomaticTag);
    apply(automatic, at, tag == best->tags.end() ? "" : tag->second, best->median_ns);
    for (Rule& rule : always) apply(rule, at, rule.name, best->median_ns);
  }
  for (Rule& rule : always) rule.name = "always " + rule.name;
  if (!automatic.times.empty()) always.insert(always.begin(), std::move(automatic));
  return always;
}

} // namespace

std::optional<Section> regret_section(const Record& record) {
  const std::vector<Rule> rules = rules_of(record);
  if (rules.size() < 2) return std::nullopt;
  Section section{
      "Regret",
      {"how much longer a rule's choice takes than the fastest of Kernelgrade's at each point: "
       "geometric mean and greatest"},
      TextTable({"rule", "mean", "greatest", "points", "not there"})};
  if (record.header.environment.at("device") == "host")
    section.lines.emplace_back("automatic chooses for GPUs; these times are the emulator's");
  for (const Rule& rule : rules) {
    const auto percent = [](double times) { return fmt::format("{:.1f} %", 100 * (times - 1)); };
    section.table->add(
        {rule.name, rule.times.empty() ? "-" : percent(judge::geometric_mean(rule.times)),
         rule.times.empty() ? "-"
                            : percent(*std::max_element(rule.times.begin(), rule.times.end())),
         std::to_string(rule.times.size()), std::to_string(rule.without)});
  }
  return section;
}

Section scaling_section(const Study& study, const Record& record) {
  Section section{"Time over size",
                  {fmt::format("time = c {}^p, fitted to the sizes that take at least ten times "
                               "the overhead; work counts from where it takes longer than that",
                               study.axis)},
                  TextTable({"variant", "overhead", "work counts from", "p", "fitted to",
                             "expected", "verdict"})};
  for (const Curve& curve : study::curves(record)) {
    const study::Scaling scaling = study::expected(study, curve);
    const auto overhead = study::overhead(curve, scaling.exponent);
    const auto fit = study::fit(curve, scaling.exponent);
    section.table->add(
        {curve_name(curve), overhead ? judge::time_text(overhead->ns) : "not seen",
         !overhead         ? "the smallest size"
         : overhead->until ? size_text(*overhead->until, study)
                           : "none of the sizes",
         fit ? fmt::format("{:.3f} ± {:.3f}", fit->exponent, fit->reach) : "-",
         fit ? fmt::format("{} sizes, {:.0f} to {:.0f}", fit->sizes, fit->from, fit->to) : "-",
         scaling.tolerance > 0 ? fmt::format("{:g} ± {:g}", scaling.exponent, scaling.tolerance)
                               : fmt::format("{:g}", scaling.exponent),
         fit_verdict(curve, fit, scaling)});
  }
  return section;
}

Section crossover_section(const Study& study, const Record& record) {
  Section section{"Crossovers", {}};
  for (const study::Crossover& each : study::crossovers(study::curves(record)))
    section.lines.push_back(fmt::format("{} is faster than {} below {}, slower above", each.before,
                                        each.after, size_text(each.size, study)));
  if (section.lines.empty())
    section.lines.emplace_back("no variant surely overtakes another between these sizes");
  return section;
}

} // namespace kg::report
