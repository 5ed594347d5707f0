// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A judged run with a row of each kind, and one with thousands of rows.
#pragma once

#include "perf/judge/gate.h"
#include "perf/judge/result.h"

#include <optional>
#include <string>
#include <vector>

namespace kg::report::test {

struct JudgedRun {
  judge::Results measured;
  judge::GateResult judged;

  // A row of ours, or a vendor's; not measured where `ns` is 0.
  void add(const std::string& case_id, const std::string& variant, judge::Verdict verdict,
           double ns, std::optional<double> ratio, judge::Kind kind = judge::Kind::ours) {
    judge::RowResult row;
    row.op = case_id.substr(0, case_id.find('.'));
    row.dtype = "f32";
    row.key = {case_id, variant, judge::Mode::real};
    row.category = row.op + "s";
    row.kind = kind;
    row.verdict = verdict;
    row.exit_code = judge::usual_exit(verdict);
    row.ratio = ratio;
    if (ratio) {
      row.ratio_interval = {0.98 * *ratio, 1.02 * *ratio};
      row.grade = judge::grade(*ratio);
      row.baseline_ns = ns * *ratio;
    }
    row.message = case_id + " " + variant + " says <why> & \"how\"";
    judged.rows.push_back(row);
    if (ns == 0) return;
    judge::Measured times;
    times.op = row.op;
    times.dtype = row.dtype;
    times.key = row.key;
    times.kind = kind;
    times.bytes = 1000 * ns;
    times.flops = 100 * ns;
    std::vector<double> samples;
    for (int i = -10; i <= 10; ++i) samples.push_back(ns * (1 + 0.001 * i));
    judge::take_samples(times, samples);
    times.process_medians_ns = {ns, ns};
    measured.rows.push_back(times);
  }
};

// A slow row, a wrong one, one without a baseline and two good ones, one of them a vendor's.
inline JudgedRun mixed() {
  JudgedRun run;
  run.measured.environment = {{"device", "nvidia-h200"}, {"device_name", "NVIDIA H200"}};
  run.add("copy.f32.n64", "ours", judge::Verdict::pass, 100, 0.95);
  run.add("copy.f32.n64", "library", judge::Verdict::pass, 80, 1.0, judge::Kind::vendor);
  run.add("copy.f32.n128", "ours", judge::Verdict::regressed, 400, 0.3);
  run.add("scan.f32.n64", "broken", judge::Verdict::invalid, 0, std::nullopt);
  run.add("scan.f32.n64", "new", judge::Verdict::unblessed, 50, std::nullopt);
  run.judged.faults = {"scan.csv:3: an empty line </script> in it"};
  run.judged.exit_code = judge::kExitFail;
  return run;
}

inline JudgedRun many(int rows) {
  JudgedRun run;
  run.measured.environment = {{"device", "host"}};
  for (int i = 0; i < rows; ++i)
    run.add("op" + std::to_string(i % 20) + ".f32.n" + std::to_string(i / 20), "v",
            judge::Verdict::pass, 100 + i, 1 + 0.0001 * i);
  run.judged.exit_code = judge::kExitPass;
  return run;
}

} // namespace kg::report::test
