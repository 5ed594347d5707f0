// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Invented studies for tests.
#pragma once

#include "perf/judge/result.h"
#include "perf/lab/study/record.h"

#include <cmath>
#include <string>
#include <vector>

namespace kg::study::test {

// n = 16, 32, ... (`sizes` of them), variants `naive` and `tiled` of ours, and `library`.
inline Header header(int sizes = 2) {
  Header result;
  result.study = "matmul";
  result.settings = {{"dtype", "f32"}, {"max-size", std::to_string(8 << sizes)}};
  result.date_utc = "2026-01-02T03:04:05Z";
  result.environment = {{"device", "host"}, {"source", "abc"}, {"cpu", "x"}, {"backend", "host"}};
  result.program = "0123";
  for (int i = 0, n = 16; i < sizes; ++i, n *= 2) {
    const std::string text = std::to_string(n);
    const std::string id = "gemm.f32.m" + text + "_n" + text + "_k" + text + "_nn";
    result.points.push_back({id, text, "", static_cast<double>(n), ""});
    for (const char* variant : {"naive", "tiled", "library"}) result.plan.push_back({id, variant});
  }
  return result;
}

// As measured in `ns`, with an interval of 1 % to either side.
inline Experiment experiment(const Planned& planned, double ns = 1000) {
  Experiment result;
  result.row.op = "gemm";
  result.row.dtype = "f32";
  result.row.key = {planned.case_id, planned.variant, judge::Mode::real};
  result.row.category = "matmul";
  result.row.kind = planned.variant == "library" ? judge::Kind::vendor : judge::Kind::ours;
  result.row.bytes = 100;
  result.row.flops = 1e6;
  judge::take_samples(result.row, {0.99 * ns, ns, 1.01 * ns});
  result.environment = {{"device", "host"}};
  result.traced = {ns, 0.5 * ns, {{"gemm_kernel<" + planned.variant + ">", 1, 0.5 * ns}}};
  return result;
}

// A finished study in which a variant takes `time(variant, n)` ns.
template <class Time>
Record record(const Header& header, Time time) {
  Record result{header, {}};
  for (const Planned& planned : header.plan)
    for (const Point& point : header.points)
      if (point.case_id == planned.case_id)
        result.done.push_back(experiment(planned, time(planned.variant, point.size)));
  return result;
}

} // namespace kg::study::test
