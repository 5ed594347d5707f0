// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/report/study_sections.h"

#include "perf/format/sinks.h"
#include "perf/judge/gate.h"
#include "perf/lab/study/analysis.h"
#include "perf/report/study_tables.h"
#include "perf/report/study_vendors.h"

namespace kg::report {

std::vector<Section> study_sections(const study::Study& study, const study::Record& record) {
  std::vector<Section> sections = {machine_section(study, record)};
  if (record.done.empty()) return sections;
  sections.push_back(experiment_section(study, record));
  if (!study.items.empty())
    sections.push_back(rate_section(study, record));
  else if (!study.scaling)
    sections.push_back(vendors_section(record));
  if (study.items.empty()) {
    sections.push_back(relative_section(study, record));
    sections.push_back(choice_section(study, record));
    if (auto regret = regret_section(record)) sections.push_back(std::move(*regret));
  }
  if (study.scaling && !record.header.shard) { // a shard's sizes do not form a curve
    sections.push_back(scaling_section(study, record));
    sections.push_back(crossover_section(study, record));
  }
  sections.push_back(kernel_section(study, record));
  if (Section failures = failure_section(record); !failures.lines.empty())
    sections.push_back(std::move(failures));
  return sections;
}

int exit_code(const study::Study& study, const study::Record& record, bool strict) {
  if (record.done.empty()) return judge::kExitFail; // nothing was measured
  std::vector<judge::RowExit> experiments;
  for (const study::Experiment& experiment : record.done)
    experiments.push_back({!experiment.row.verified.empty()  ? judge::kExitFail
                           : !experiment.row.skipped.empty() ? judge::kExitSkip
                                                             : judge::kExitPass});
  std::vector<int> exits = {judge::exit_of_rows(experiments, strict)};
  if (const auto exit = study::exit_of_fits(study, study::curves(record));
      record.finished() && !record.header.shard && exit &&
      *exit == judge::kExitFail) // an inconclusive fit is not a skipped test
    exits.push_back(*exit);
  return judge::combined_exit(exits, strict);
}

} // namespace kg::report
