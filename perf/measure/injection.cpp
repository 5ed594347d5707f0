// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/injection.h"

#include "perf/format/csv.h"
#include "perf/judge/statistics.h"
#include "perf/measure/flush.h"
#include "perf/measure/sampling.h"
#include "runtime/backend.h"
#include "runtime/error.h"

#include <array>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <random>
#include <vector>

namespace kg::perf {
namespace {

constexpr double kMostPercent = 1000;
constexpr double kWildPercent = 50;   // the slowest wild process
constexpr double kBimodalShare = 0.2; // of processes in the slower mode

struct Term {
  double factor = 1;
  bool random = false;
};

Term parse_term(std::string_view term, std::string_view text, const std::function<double()>& draw) {
  const std::size_t colon = term.find(':');
  const std::string_view kind = colon == term.npos ? "" : term.substr(0, colon);
  const std::optional<double> value =
      judge::parse_number(colon == term.npos ? term : term.substr(colon + 1));
  const double most = kind == "wild" ? 1 : kMostPercent;
  if (!value || !(*value >= 0 && *value <= most) ||
      !(kind.empty() || kind == "wild" || kind == "bimodal") || (colon == 0))
    fail(fmt::format(
        "{} is \"{}\", of which '{}' is not a slow-down; write <percent>, wild:<share up "
        "to 1> or bimodal:<percent>, joined by ','",
        kInjectVariable, text, term));
  if (kind.empty()) return {1 + *value / 100, false};
  const double chosen = draw(), amount = draw();
  if (kind == "wild") return {chosen < *value ? 1 + amount * kWildPercent / 100 : 1, true};
  return {chosen < kBimodalShare ? 1 + *value / 100 : 1, true};
}

// Computes on a few cache lines, as a kernel would, until the time has passed.
void compute_for(double ns) {
  static const Clock now = steady_clock();
  const double end = now() + ns;
  std::array<float, 64> values{};
  volatile float sink = 0;
  do {
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = std::fma(values[i], 0.5f, static_cast<float>(i));
    sink = values[7];
  } while (now() < end);
  static_cast<void>(sink);
}

// The time that one delay of `nominal_ns` adds to a stream between other delays.
double cost_ns(double nominal_ns, Stream& stream) {
  constexpr int kInARow = 32, kTimes = 5;
  Event start, stop;
  std::vector<double> costs;
  for (int time = 0; time < kTimes; ++time) {
    delay(1e6, stream); // until all are queued
    start.record(stream);
    for (int i = 0; i < kInARow; ++i) delay(nominal_ns, stream);
    stop.record(stream);
    stop.synchronize();
    costs.push_back(elapsed_ns(start, stop) / kInARow);
  }
  return judge::median(costs);
}

} // namespace

std::optional<Injection> parse_injection(std::string_view text,
                                         const std::function<double()>& draw) {
  if (text.empty()) return std::nullopt;
  double factor = 1;
  bool random = false;
  std::string_view rest = text;
  for (bool more = true; more;) {
    const std::size_t comma = rest.find(',');
    const Term term = parse_term(rest.substr(0, comma), text, draw);
    factor *= term.factor;
    random = random || term.random;
    more = comma != rest.npos;
    if (more) rest.remove_prefix(comma + 1);
  }
  std::string shown = fmt::format("{:.4g} %", 100 * (factor - 1));
  if (random) shown += fmt::format(" ({})", text);
  return Injection{factor - 1, shown};
}

std::optional<Injection> injection_here() {
  const char* text = std::getenv(kInjectVariable);
  std::random_device seed; // each process must draw independently; the drawn value is printed
  std::mt19937 random(seed());
  return parse_injection(text ? text : "",
                         [&] { return std::uniform_real_distribution<double>()(random); });
}

Spin::Spin(Stream& stream) {
  if constexpr (backend == Backend::host) return;
  constexpr double kNominalNs = 100e3;
  overhead_ns_ = cost_ns(0, stream);
  rate_ = (cost_ns(kNominalNs, stream) - overhead_ns_) / kNominalNs;
}

void Spin::run(double ns, Stream& stream) const {
  if (ns == 0) return;
  if constexpr (backend == Backend::host) return compute_for(ns);
  if (ns < overhead_ns_)
    fail(fmt::format("an injection of {:.0f} ns is asked for, but the kernel that waits takes "
                     "{:.0f} ns by itself; inject more, or into longer rows",
                     ns, overhead_ns_));
  delay((ns - overhead_ns_) / rate_, stream);
}

} // namespace kg::perf
