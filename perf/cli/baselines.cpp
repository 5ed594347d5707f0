// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/cli/baselines.h"

#include "perf/format/named_path.h"
#include "perf/measure/environment.h"

#include <fmt/format.h>

namespace kg::cli {
namespace {

// Whether a device has any file, i.e. is blessed.
bool holds_anything(const std::filesystem::path& folder) {
  if (std::filesystem::exists(folder)) return !std::filesystem::is_empty(folder);
  if (std::filesystem::is_symlink(folder))
    throw Error(fmt::format("{}: it is a link to {}, which does not exist; restore that folder or "
                            "remove the link",
                            folder.string(), std::filesystem::read_symlink(folder).string()));
  return false;
}

} // namespace

std::map<std::string, judge::TimingFile> load_baselines(const std::filesystem::path& baselines,
                                                        const std::string& device,
                                                        const Selection& selection) {
  return load_baselines(judge::named_path(baselines, "device", device), kJudged, selection.ops);
}

std::map<std::string, judge::TimingFile> load_baselines(const std::filesystem::path& folder,
                                                        judge::Device device,
                                                        const std::set<std::string>& ops) {
  const std::filesystem::path about = folder / "device.json";
  const auto blessed = judge::load_device(about).value_or(judge::DeviceFile{});
  const bool is_blessed = holds_anything(folder);
  std::map<std::string, judge::TimingFile> files;
  for (const std::string& op : ops) {
    judge::TimingFile& file = files[op] =
        judge::load_timings(judge::named_path(folder, "operation", op, ".csv"), device);
    const bool named = blessed.not_blessed.contains(op);
    file.missing = is_blessed && !file.exists && !named;
    if (file.exists && named)
      file.problems.push_back(
          {about.string(), 0, fmt::format("/not_blessed names {}, which {} blesses", op, file.path),
           "remove the name, so that the file is missed when it is gone"});
  }
  return files;
}

judge::DeviceFile device_file(const std::filesystem::path& folder,
                              const std::set<std::string>& ops) {
  if (const auto known = judge::load_device(folder / "device.json")) return *known;
  judge::DeviceFile device;
  for (const std::string& op : ops)
    if (!std::filesystem::exists(judge::named_path(folder, "operation", op, ".csv")))
      device.not_blessed.insert(op);
  return device;
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
    if (const auto blessed = judge::load_device(
            judge::named_path(options.baselines, "device", at->second) / "device.json")) {
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
