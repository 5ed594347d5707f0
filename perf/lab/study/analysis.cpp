// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/lab/study/analysis.h"

#include "perf/judge/gate.h"
#include "perf/judge/power_fit.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace kg::study {
namespace {

constexpr double kAboveOverhead = 10;
constexpr std::size_t kFewestSizes = 3; // two points are always on a line

double exponent_between(const Timed& a, const Timed& b) {
  return std::log(b.ns / a.ns) / std::log(b.size / a.size);
}

// Where the line through (x0, y0) and (x1, y1) reaches y, with a logarithmic x axis.
double reaches(double x0, double y0, double x1, double y1, double y) {
  return x0 * std::pow(x1 / x0, (y - y0) / (y1 - y0));
}

void add_crossovers(const Curve& a, const Curve& b, std::vector<Crossover>& found) {
  std::map<double, const Timed*> others;
  for (const Timed& time : b.times) others.emplace(time.size, &time);
  int last = 0;
  Pair at; // at the last significant difference
  for (const Timed& time : a.times) {
    const auto other = others.find(time.size);
    if (other == others.end()) continue;
    const Pair then{time, *other->second};
    const int now = slower(then.first, then.second);
    if (now == 0) continue;
    if (last == -now)
      found.push_back({a.group, last < 0 ? a.variant : b.variant, last < 0 ? b.variant : a.variant,
                       crossing(at, then)});
    last = now;
    at = then;
  }
}

} // namespace

std::vector<Curve> curves(const Record& record) {
  std::vector<Curve> result;
  for (const Point& point : record.header.points)
    for (const Planned& planned : record.header.plan) {
      if (planned.case_id != point.case_id) continue;
      const Experiment* experiment = record.find(planned);
      if (!experiment || experiment->row.samples_ns.empty()) continue;
      const judge::Measured& row = experiment->row;
      auto curve = std::find_if(result.begin(), result.end(), [&](const Curve& each) {
        return each.group == point.group && each.variant == planned.variant;
      });
      if (curve == result.end())
        curve = result.insert(result.end(), {point.group, planned.variant, row.kind, {}});
      curve->times.push_back({point.size, row.median_ns, row.ci_ns});
    }
  const auto is_ours = [](const Curve& curve) { return curve.kind == judge::Kind::ours; };
  const bool libraries_alone = std::none_of(result.begin(), result.end(), is_ours);
  for (Curve& curve : result) {
    curve.judged = libraries_alone || is_ours(curve);
    std::stable_sort(curve.times.begin(), curve.times.end(),
                     [](const Timed& a, const Timed& b) { return a.size < b.size; });
  }
  return result;
}

std::optional<Overhead> overhead(const Curve& curve, double exponent) {
  const std::vector<Timed>& times = curve.times;
  if (times.size() < 2 || exponent_between(times[0], times[1]) >= exponent / 2) return std::nullopt;
  Overhead result{times[0].ns, std::nullopt};
  const double twice = 2 * result.ns;
  for (std::size_t i = 1; i < times.size() && !result.until; ++i)
    if (times[i].ns >= twice)
      result.until = reaches(times[i - 1].size, std::log(times[i - 1].ns), times[i].size,
                             std::log(times[i].ns), std::log(twice));
  return result;
}

std::optional<Fit> fit(const Curve& curve, double exponent) {
  const std::optional<Overhead> least = overhead(curve, exponent);
  Fit result;
  std::vector<double> sizes, times;
  for (const Timed& time : curve.times) {
    if (least && time.ns < kAboveOverhead * least->ns) continue;
    sizes.push_back(time.size);
    times.push_back(time.ns);
  }
  result.sizes = sizes.size();
  if (result.sizes < kFewestSizes) return std::nullopt;
  const judge::PowerFit fitted = judge::fit_power(sizes, times);
  result.exponent = fitted.exponent;
  result.reach = fitted.reach;
  result.from = sizes.front();
  result.to = sizes.back();
  return result;
}

int slower(const Timed& first, const Timed& second) {
  if (first.ci_ns.high < second.ci_ns.low) return -1;
  return second.ci_ns.high < first.ci_ns.low ? 1 : 0;
}

double crossing(const Pair& at, const Pair& then) {
  const auto lead = [](const Pair& pair) { return std::log(pair.first.ns / pair.second.ns); };
  return reaches(at.first.size, lead(at), then.first.size, lead(then), 0);
}

std::vector<Crossover> crossovers(const std::vector<Curve>& curves) {
  std::vector<Crossover> found;
  for (std::size_t i = 0; i < curves.size(); ++i)
    for (std::size_t j = i + 1; j < curves.size(); ++j)
      if (curves[i].group == curves[j].group) add_crossovers(curves[i], curves[j], found);
  return found;
}

Scaling expected(const Study& study, const Curve& curve) {
  const Scaling& scaling = study.scaling_of(curve.group);
  if (curve.kind == judge::Kind::ours || scaling.tolerance == 0) return scaling;
  return {scaling.exponent, kShareOfTheory * scaling.exponent, true};
}

bool within(const Fit& fit, const Scaling& scaling) {
  const double apart = std::fabs(fit.exponent - scaling.exponent);
  return apart - (scaling.by_interval ? fit.reach : 0) <= scaling.tolerance;
}

std::optional<int> exit_of_fits(const Study& study, const std::vector<Curve>& curves) {
  if (!study.scaling || study.scaling->tolerance == 0) return std::nullopt;
  int exit = judge::kExitSkip;
  for (const Curve& curve : curves) {
    if (!curve.judged) continue;
    const Scaling scaling = expected(study, curve);
    const std::optional<Fit> fitted = fit(curve, scaling.exponent);
    if (fitted && !within(*fitted, scaling)) return judge::kExitFail;
    if (fitted) exit = judge::kExitPass;
  }
  return exit;
}

} // namespace kg::study
