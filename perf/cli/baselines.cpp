// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/cli/baselines.h"

#include "perf/judge/device_file.h"
#include "perf/measure/environment.h"

#include <fmt/format.h>

namespace kg::cli {

std::map<std::string, judge::TimingFile> load_baselines(const std::filesystem::path& baselines,
                                                        const std::string& device,
                                                        const Selection& selection) {
  return load_baselines(baselines / device, kJudged, selection.ops);
}

std::map<std::string, judge::TimingFile> load_baselines(const std::filesystem::path& folder,
                                                        judge::Device device,
                                                        const std::set<std::string>& ops) {
  std::map<std::string, judge::TimingFile> files;
  for (const std::string& op : ops) files[op] = judge::load_timings(folder / (op + ".csv"), device);
  return files;
}

void require_listed(const Selection& selection) {
  for (const Row& row : selection.rows)
    if (row.registered.selected && !row.listed)
      throw UsageError(
          fmt::format("{}: an unlisted shape has no baseline; measure it by `kernelgrade "
                      "run`, or add it to the operation's shapes",
                      row.registered.key.case_id));
}

judge::GateOptions gate_options(const Options& options, const Selection& selection,
                                const judge::Results& run, const std::string& no_device) {
  judge::GateOptions how;
  how.device = kJudged;
  how.strict = options.strict;
  how.require_gpu = options.require_gpu;
  how.filtered = selection.partial;
  how.no_device = no_device;
  if (const auto at = run.environment.find("device"); at != run.environment.end())
    if (const auto blessed = judge::load_device(options.baselines / at->second / "device.json")) {
      how.other_machine = judge::difference(*blessed, perf::fingerprint(run.environment));
      how.ceilings = judge::ceilings_of(*blessed);
    }
  return how;
}

judge::GateResult judge_run(const Options& options, const Selection& selection,
                            const std::map<std::string, judge::TimingFile>& baselines,
                            const judge::Results& run, const std::string& no_device) {
  return judge::judge(run.rows, baselines, registered(selection),
                      gate_options(options, selection, run, no_device));
}

} // namespace kg::cli
