// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A study that is as it should be, and one whose exponent is not and of which a result is wrong.
#pragma once

#include "perf/report/attachments.h"
#include "tests/unit/perf/lab/study/study_records.h"

#include <cmath>
#include <string>

namespace kg::report::test {

inline Attachments studies() {
  const study::Study& matmul = study::named("matmul");
  Attachments all;
  const auto add = [&](double exponent, const char* date) {
    study::Header header = study::test::header(6);
    header.date_utc = date;
    // naive is the faster up to about n = 100.
    all.studies.push_back(
        {&matmul, study::test::record(header, [=](const std::string& variant, double n) {
           const double work = std::pow(n, exponent);
           return variant == "naive" ? work : 0.1 * work + 0.9e6;
         })});
  };
  add(3, "2026-01-02T03:04:05Z");
  add(2.5, "2026-01-03T03:04:05Z");
  judge::Measured& wrong = all.studies[1].record.done[1].row; // tiled at the smallest size
  wrong.verified = "element 5 is 1, not <2>";
  wrong.samples_ns.clear();
  return all;
}

} // namespace kg::report::test
