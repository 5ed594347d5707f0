// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The individual sections of study_sections.h.
#pragma once

#include "perf/lab/study/analysis.h"
#include "perf/report/study_sections.h"

#include <optional>
#include <string>
#include <vector>

namespace kg::report {

// A point's finished experiments, in the order of the plan.
struct AtPoint {
  const study::Point* point;
  std::vector<const study::Experiment*> experiments;
};
std::vector<AtPoint> by_point(const study::Record& record);

// Invalid and skipped experiments have no time.
inline bool is_timed(const study::Experiment& experiment) {
  return !experiment.row.samples_ns.empty();
}

// The variant, with its group if there are several. Defined in study_comparison.cpp.
std::string curve_name(const study::Curve& curve);

// study_experiments.cpp: the machine and the measurements.
Section machine_section(const study::Study& study, const study::Record& record);
Section experiment_section(const study::Study& study, const study::Record& record);
Section kernel_section(const study::Study& study, const study::Record& record);
Section failure_section(const study::Record& record);

// study_comparison.cpp: conclusions.
Section relative_section(const study::Study& study, const study::Record& record);
Section choice_section(const study::Study& study, const study::Record& record);
// The cost of `automatic`, and of each fixed variant, against the fastest at each point. Empty with
// fewer than two of our variants.
std::optional<Section> regret_section(const study::Record& record);
Section scaling_section(const study::Study& study, const study::Record& record);
Section crossover_section(const study::Study& study, const study::Record& record);

} // namespace kg::report
