// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests of which one fails and one is skipped, a mutant that survives, and two builds side by side.
#pragma once

#include "perf/report/attachments.h"

namespace kg::report::test {

inline std::vector<Remark> passed(const std::string& suite, int tests) {
  std::vector<Remark> all;
  for (int i = 0; i < tests; ++i) all.push_back({suite + ".Test" + std::to_string(i), "", 0.25});
  return all;
}

inline Attachments attachments() {
  Attachments all;
  CorrectnessRun good{"copy", "f16", passed("Copy/f16", 12), {}, {}, 3, {}};
  good.evidence["ours"] = {{"exact", true}, {"vendor", true}};
  CorrectnessRun bad{"copy", "f32", passed("Copy/f32", 10), {}, {}, 2.5, {}};
  bad.failed = {{"Copy/f32.Random", "3 of 64 elements are wrong <here>\n  worst (5): 1"}};
  bad.skipped = {{"Copy/f32.Huge", "needs a GPU"}};
  bad.evidence["ours"] = {{"exact", true}, {"vendor", false}};
  all.correctness = {good, bad};
  all.mutants = {{"copy",
                  {{"one_short", "ops/copy/copy.cu:3", "The last element is left", true, "exact",
                    "exact", "Copy/f32.Ones", "1 of 3"},
                   {"past_the_end", "ops/copy/copy.cu:4", "One element too many", true, "exact",
                    "bounds", "Copy/f32.Ones", "1 of 3"},
                   {"late", "ops/copy/copy.cu:5", "A barrier is missing", false, "SURVIVED", "race",
                    "", ""}}}};
  SideBySide builds{"1a2b3c4d5e6f7a8b", "working tree", {}};
  const auto add = [&](const char* id, judge::Verdict verdict, double ratio) {
    builds.rows.push_back({{id, "ours", judge::Mode::real},
                           verdict,
                           100,
                           100 / ratio,
                           20,
                           ratio,
                           {0.99 * ratio, 1.01 * ratio},
                           1.5,
                           "because of the figures"});
  };
  add("copy.f32.n32", judge::Verdict::pass, 1);
  add("copy.f32.n128", judge::Verdict::regressed, 0.8);
  add("copy.f32.n256", judge::Verdict::improved, 1.2);
  builds.rows.push_back({{"scan.f32.n64", "ours", judge::Mode::real},
                         judge::Verdict::skipped,
                         0,
                         0,
                         0,
                         {},
                         {},
                         0,
                         "it found no memory"});
  all.comparisons = {builds};
  return all;
}

} // namespace kg::report::test
