// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/cli/measure_rows.h"

#include "perf/cli/stored_runs.h"
#include "perf/cli/temporary_folder.h"
#include "perf/judge/atomic_file.h"
#include "perf/judge/units.h"
#include "perf/measure/child_process.h"
#include "perf/measure/device_lock.h"
#include "perf/measure/environment.h"
#include "runtime/backend.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <ostream>
#include <random>
#include <utility>

namespace kg::cli {
namespace {

judge::CanaryKind canary_kind(perf::Kind kind) {
  switch (kind) {
  case perf::Kind::memory: return judge::CanaryKind::memory;
  case perf::Kind::compute: return judge::CanaryKind::compute;
  case perf::Kind::sync: return judge::CanaryKind::sync;
  case perf::Kind::launch: return judge::CanaryKind::launch;
  }
  return judge::CanaryKind::memory;
}

std::string_view stop_text(judge::Stop stop) {
  switch (stop) {
  case judge::Stop::no: return "failed";
  case judge::Stop::precise: return "precise";
  case judge::Stop::most: return "most samples";
  case judge::Stop::budget: return "time budget";
  }
  return "";
}

// A library's code is not in this program. A program that cannot read itself measures all the same,
// and says why its rows have no identity.
void identify(judge::Measured& result, const perf::Measurement& found, const World& world) {
  if (!world.identity || result.kind == judge::Kind::vendor) return;
  try {
    result.identity = world.identity(result.op, found.launches);
  } catch (const Error& error) {
    result.tags["identity"] = error.what();
  }
}

judge::Measured measured(const Row& row, const perf::Measurement& found, const World& world) {
  judge::Measured result;
  result.op = row.registered.op;
  result.dtype = row.registered.dtype;
  result.key = row.registered.key;
  result.category = row.registered.category;
  result.kind = row.registered.kind;
  result.bytes = row.work.bytes;
  result.flops = row.work.flops;
  result.verified = found.problem;
  result.tags = {{"ran", found.variant},
                 {"batch", std::to_string(found.batch)},
                 {"stop", std::string(stop_text(found.stop))},
                 {"warm_up", found.settled ? "settled" : "not settled"}};
  identify(result, found, world);
  if (!found.problem.empty()) return result; // no time of a wrong or failed run may be quoted
  judge::take_samples(result, found.samples_ns);
  const double canary = judge::median(found.canaries_ns);
  const judge::Interval interval =
      judge::median_interval(found.canaries_ns, judge::kConfidence).interval;
  result.canary = {canary_kind(row.canary), canary, judge::half_width(interval, canary)};
  return result;
}

std::vector<const Row*> in_order(const Selection& selection, unsigned seed) {
  std::vector<const Row*> rows;
  for (const Row& row : selection.rows)
    if (row.registered.selected) rows.push_back(&row);
  if (seed) std::shuffle(rows.begin(), rows.end(), std::mt19937(seed));
  return rows;
}

std::string progress(std::size_t number, std::size_t all, const judge::Measured& row) {
  const std::string head = fmt::format("[{}/{}] {}", number, all, judge::text(row.key));
  if (!row.verified.empty()) return fmt::format("{}: INVALID: {}", head, row.verified);
  return fmt::format("{}: {} +-{:.1f} %", head, judge::time_text(row.median_ns),
                     100 * judge::half_width(row.ci_ns, row.median_ns));
}

judge::Results in_this_process(const Options& options, World& world, const Selection& selection) {
  const std::string device = world.device();
  const perf::DeviceLock lock(perf::device_lock_path(device), [&] {
    world.err << "waiting for another process that is measuring on " << device << "\n";
  });
  judge::Results run;
  run.environment = perf::environment(source_of(options, world));
  run.environment["date_utc"] = perf::utc_now();
  const std::unique_ptr<perf::Apparatus> apparatus = world.apparatus();
  const std::vector<const Row*> rows = in_order(selection, options.shuffle);
  for (const Row* row : rows) {
    const perf::Measurement found =
        perf::measure(row->make, row->canary, row->registered.key.mode, *apparatus);
    run.rows.push_back(measured(*row, found, world));
    if (!options.quiet)
      world.err << progress(run.rows.size(), rows.size(), run.rows.back()) << std::endl;
  }
  return run;
}

// The selected rows, one line each, as --batch reads them.
std::string batch(const Selection& selection) {
  std::string lines;
  for (const Row& row : selection.rows)
    if (row.registered.selected)
      lines += fmt::format("--case {} --variant {} --mode {}\n", row.registered.key.case_id,
                           row.registered.key.variant, judge::name(row.registered.key.mode));
  return lines;
}

judge::Results in_fresh_processes(const Options& options, World& world,
                                  const Selection& selection) {
  const TemporaryFolder folder;
  const std::filesystem::path rows = folder.path() / "rows";
  judge::write_file(rows, batch(selection));
  std::vector<std::filesystem::path> files;
  for (int process = 1; process <= options.processes; ++process) {
    if (!options.quiet)
      world.err << fmt::format("process {} of {}: {} rows", process, options.processes,
                               selection.selected)
                << std::endl;
    const std::filesystem::path json = folder.path() / fmt::format("{}.json", process);
    const perf::Finished finished = perf::run_process(
        {world.executable.string(), "run", "--batch", rows.string(), "--json", json.string(),
         "--source-id", source_of(options, world), "--shuffle",
         std::to_string(options.shuffle + static_cast<unsigned>(process)), "--quiet"},
        perf::Output::to_stderr);
    // A process that measured a wrong row exits with 1 and says so in its file.
    if (!std::filesystem::exists(json))
      fail(
          fmt::format("measuring process {} of {} ended with exit code {} and wrote no result; run "
                      "`{} run` on the same rows to see why",
                      process, options.processes, finished.exit_code, world.executable.string()));
    files.push_back(json);
  }
  return load_runs(files);
}

bool is_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

} // namespace

std::string source_of(const Options& options, const World& world) {
  return options.source_id.empty() ? perf::source_id(world.source) : options.source_id;
}

bool is_dirty(const std::string& source) {
  return source.ends_with("-dirty"); // as perf::source_id writes it
}

std::string missing_device(const Options& options, World& world) {
  if (is_number(options.device)) {
    if constexpr (backend == Backend::host)
      throw UsageError(
          fmt::format("--device {}: the host backend has one device, host", options.device));
    // Before the first call of the CUDA runtime, which reads it once; fresh processes inherit it.
    setenv("CUDA_VISIBLE_DEVICES", options.device.c_str(), 1);
  }
  const std::string reason = world.no_device();
  if (!reason.empty() || options.device.empty() || is_number(options.device)) return reason;
  if (options.device != world.device())
    throw UsageError(
        fmt::format("--device {}: the device here is {}", options.device, world.device()));
  return reason;
}

judge::Results measure_rows(const Options& options, World& world, const Selection& selection) {
  return options.processes > 1 ? in_fresh_processes(options, world, selection)
                               : in_this_process(options, world, selection);
}

} // namespace kg::cli
