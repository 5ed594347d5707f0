// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/lab/study/engine.h"

#include "runtime/error.h"

#include <fmt/format.h>

namespace kg::study {

void conduct(RecordFile& file, const Measure& measure) {
  for (const Planned& planned : file.record().header.plan) {
    if (file.record().find(planned)) continue;
    const Experiment experiment = measure(planned);
    require(experiment.planned() == planned,
            fmt::format("{} {} was asked for, and {} measured", planned.case_id, planned.variant,
                        judge::text(experiment.row.key)));
    file.append(experiment);
  }
}

} // namespace kg::study
