// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/cli/launches.h"

#include <utility>

namespace kg::cli {

std::map<std::string, kg::resources::Launches>
launches_of(const Selection& selection, const std::function<bool(const Row&)>& wanted) {
  std::map<std::string, kg::resources::Launches> found;
  Stream stream;
  for (const Row& row : selection.rows) {
    if (!row.listed || row.registered.kind == judge::Kind::vendor || !wanted(row)) continue;
    if (row.compiled_at_run_time) continue; // not part of the build
    const perf::Workload workload = row.make();
    const LaunchRecorder recorder;
    workload.run(stream);
    stream.synchronize();
    for (const LaunchRecord& launch : recorder.launches()) {
      kg::resources::Launched& known = found[row.registered.op][launch.kernel_name];
      const kg::resources::Launched now{
          static_cast<int>(launch.block.x * launch.block.y * launch.block.z),
          static_cast<int>(launch.shared_bytes)};
      if (std::pair(now.dynamic_shared, now.threads) >
          std::pair(known.dynamic_shared, known.threads))
        known = now;
    }
  }
  return found;
}

} // namespace kg::cli
