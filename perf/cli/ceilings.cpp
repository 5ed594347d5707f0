// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// kernelgrade ceilings: this device's peak rates, to which other rates are compared.
#include "perf/lab/ceilings/ceilings.h"

#include "perf/cli/baselines.h"
#include "perf/cli/lab_commands.h"
#include "perf/cli/measure_rows.h"
#include "perf/format/named_path.h"
#include "perf/format/table.h"
#include "perf/format/units.h"
#include "perf/measure/environment.h"
#include "runtime/backend.h"

#include <fmt/format.h>
#include <ostream>

namespace kg::cli {
namespace {

// "4.301 TB/s", "61.2 TFLOP/s" or a time.
std::string text(const std::string& name, double value) {
  const auto ends = [&](std::string_view end) { return name.ends_with(end); };
  constexpr double kTera = 1e12, kGiga = 1e9;
  const auto scaled = [&](const char* unit) {
    return value >= kTera ? fmt::format("{:.4g} T{}", value / kTera, unit)
                          : fmt::format("{:.4g} G{}", value / kGiga, unit);
  };
  if (ends("_bytes_per_s")) return scaled("B/s");
  if (ends("_flops_per_s")) return scaled("FLOP/s");
  return judge::time_text(value);
}

std::string table(const std::vector<perf::Ceiling>& ceilings) {
  judge::TextTable table({"ceiling", "median", "from", "to", ""});
  for (const perf::Ceiling& ceiling : ceilings) {
    if (!ceiling.problem.empty()) {
      table.add({ceiling.name, "-", "", "", ceiling.problem});
      continue;
    }
    table.add({ceiling.name, text(ceiling.name, ceiling.value), text(ceiling.name, ceiling.low),
               text(ceiling.name, ceiling.high), ceiling.settled ? "" : "not settled"});
  }
  return table.plain();
}

void save(const std::vector<perf::Ceiling>& ceilings, const Options& options, World& world) {
  const std::filesystem::path folder =
      judge::named_path(options.baselines, "device", world.device());
  const std::filesystem::path path = folder / "device.json";
  const perf::Environment here = perf::fingerprint(perf::environment(source_of(options, world)));
  judge::DeviceFile device = device_file(folder, select(world, {Filter{}}).ops);
  if (device.fingerprint.empty()) device.fingerprint = here;
  if (const std::string other = judge::difference(device, here); !other.empty())
    throw Error(fmt::format("{} is of another machine ({}); bless the rows on this one first, so "
                            "that all of the file is of one",
                            path.string(), other));
  for (const auto& [name, value] : perf::roofs_of(ceilings)) device.ceilings[name] = value;
  std::filesystem::create_directories(path.parent_path());
  judge::save_device(path, device);
  world.out << fmt::format("wrote {}\n", path.string());
}

} // namespace

int ceilings(const Options& options, World& world) {
  if (options.write && backend == Backend::host)
    throw UsageError("ceilings --write: on a CPU these are the emulator's rates, which libraries "
                     "exceed; they are informational");
  if (const auto exit = exit_without_device(options, world)) return *exit;
  const perf::DeviceLock lock = lock_device(world);
  const std::vector<perf::Ceiling> found =
      perf::measure_ceilings(*world.apparatus(perf::Pace::full));
  world.out << table(found);
  const bool all = std::all_of(found.begin(), found.end(),
                               [](const auto& ceiling) { return ceiling.problem.empty(); });
  if (options.write) save(found, options, world);
  return all ? judge::kExitPass : judge::kExitFail;
}

} // namespace kg::cli
