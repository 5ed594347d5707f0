// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/perf/judge/fake_device.h"

#include "perf/judge/bless.h"
#include "tests/unit/perf/judge/rows.h"

#include <cmath>
#include <gtest/gtest.h>

namespace kg::judge::test {
namespace {

constexpr double kCanary = 1000;
constexpr double kCanaryScatter = 0.002;
constexpr int kSamples = 15;

} // namespace

std::vector<Measured> FakeDevice::measure(const Truth& truth, std::size_t processes) {
  std::normal_distribution<double> normal;
  std::vector<Results> runs(processes);
  for (Results& run : runs)
    for (const auto& [row_key, ns] : truth) {
      Measured row = measured(1, row_key);
      const double median = ns * (1 + slower) * std::exp(process_offset(noise, random));
      std::vector<double> samples;
      // The median's own scatter is in the offset already; the samples lie around it.
      for (int i = -kSamples; i <= kSamples; ++i)
        samples.push_back(median * std::exp(noise.within * i / kSamples));
      take_samples(row, samples);
      row.canary->median_ns =
          kCanary * (1 + canary_slower) * std::exp(kCanaryScatter * normal(random));
      row.canary->half_width = kCanaryScatter;
      row.tags = tags;
      if (row_key.variant == kVendor) {
        row.kind = Kind::vendor;
        row.identity = library;
      }
      run.rows.push_back(row);
    }
  return merge(runs).rows;
}

PairedTimes FakeDevice::pairs(double a_ns, double b_ns, std::size_t count) {
  PairedTimes times;
  const double truths[] = {a_ns, b_ns, a_ns * (1 + control_slower)};
  std::vector<double>* arms[] = {&times.a_ns, &times.b_ns, &times.control_ns};
  for (std::size_t round = 0; round < count; ++round)
    for (std::size_t place = 0; place < 3; ++place) {
      const std::size_t arm = round % 2 ? 2 - place : place;
      const double when = (static_cast<double>(round) + static_cast<double>(place) / 3) / 40;
      arms[arm]->push_back(truths[arm] * (1 + slower) * (1 + drift * when) *
                           std::exp(process_offset(noise, random)));
    }
  return times;
}

TimingFile bless_on(FakeDevice& device, const Truth& truth) {
  BlessOptions options;
  options.device = device.device;
  options.accept_bimodal = true;
  const BlessPlan plan =
      plan_bless({"softmax.csv", false, {}, {}}, device.measure(truth, 10), options);
  EXPECT_EQ(plan.exit_code(), 0) << text(plan);
  return parse_timings(format_timings(plan.rows), "softmax.csv", device.device);
}

std::vector<Registered> registered_rows(const Truth& truth) {
  std::vector<Registered> rows;
  for (const auto& [row_key, ns] : truth) {
    rows.push_back(registered(row_key));
    if (row_key.variant == kVendor) rows.back().kind = Kind::vendor;
  }
  return rows;
}

GateResult gate_on(FakeDevice& device, const Truth& now, const Truth& blessed,
                   const TimingFile& file, bool strict) {
  GateOptions options;
  options.device = device.device;
  options.strict = strict;
  GateResult result =
      judge(device.measure(now, 5), {{"softmax", file}}, registered_rows(now), options);
  const std::vector<RowKey> rows = suspects(result);
  Confirmations confirmations;
  for (const RowKey& row : rows) {
    const ConfirmRule rule = confirm_rule(2, rows.size());
    PairedTimes times = device.pairs(blessed.at(row), now.at(row), rule.second_look);
    PairedTimes first = times;
    for (auto* arm : {&first.a_ns, &first.b_ns, &first.control_ns}) arm->resize(rule.first_look);
    Confirmation found = confirm(first, rule);
    if (found.more) found = confirm(times, rule);
    confirmations[row].found = found;
    confirmations[row].reference = "1a2b3c";
  }
  return fold(std::move(result), confirmations, options);
}

} // namespace kg::judge::test
