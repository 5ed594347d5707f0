// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// kernelgrade selftest: measures the gate's error rate on this device.
#include "perf/cli/baselines.h"
#include "perf/cli/lab_commands.h"
#include "perf/cli/measure_rows.h"
#include "perf/cli/reference.h"
#include "perf/lab/selftest/checker.h"
#include "perf/lab/selftest/comparison.h"
#include "perf/lab/selftest/load.h"
#include "perf/measure/environment.h"
#include "perf/measure/sampling.h"
#include "runtime/atomic_file.h"
#include "runtime/backend.h"

#include <algorithm>
#include <fmt/format.h>
#include <ostream>
#include <thread>

namespace kg::cli {
namespace {

using selftest::CalibrationRow;

// The rows of calibration files, and the counts of stored batches (.json).
std::vector<CalibrationRow> load(const std::vector<std::filesystem::path>& files) {
  std::vector<CalibrationRow> rows;
  for (const std::filesystem::path& file : files) {
    if (file.extension() == ".json") {
      const std::vector<CalibrationRow> counts = selftest::tally(selftest::load_batch(file));
      rows.insert(rows.end(), counts.begin(), counts.end());
      continue;
    }
    const selftest::CalibrationFile found = selftest::load_calibration(file);
    if (!found.exists) throw UsageError(file.string() + ": no such file");
    if (!found.problems.empty()) throw Error(judge::text(found.problems));
    rows.insert(rows.end(), found.rows.begin(), found.rows.end());
  }
  return selftest::pool(rows);
}

void print_tables(const std::vector<CalibrationRow>& rows, World& world) {
  for (const char* rows_class : {"all", "from_100us", "sd_to_1pct"}) {
    if (std::none_of(rows.begin(), rows.end(),
                     [&](const CalibrationRow& row) { return row.rows == rows_class; }))
      continue;
    const judge::TextTable table = selftest::comparison(rows, rows_class);
    world.out << fmt::format("rows: {}\n{}\n{}\n", rows_class, table.plain(), table.markdown());
  }
}

void require_one_device(const std::vector<CalibrationRow>& rows) {
  for (const CalibrationRow& row : rows)
    if (row.device != rows.front().device || row.backend != rows.front().backend)
      throw UsageError(fmt::format("the files are of {} and of {}; name files of one device",
                                   rows.front().device, row.device));
}

// A vendor's rows are informational: the gate does not judge them, and nothing is injected.
std::vector<judge::Registered> rows_to_check(const Selection& selection) {
  std::vector<judge::Registered> rows;
  for (const Row& row : selection.rows)
    if (row.registered.selected && row.registered.kind == judge::Kind::ours)
      rows.push_back(row.registered);
  return rows;
}

selftest::Plan plan_of(const Options& options, World& world, const Selection& selection) {
  selftest::Plan plan;
  plan.executable = world.executable;
  plan.rows = rows_to_check(selection);
  plan.device = kJudged;
  plan.device_name = world.device();
  plan.backend = backend == Backend::host ? "host" : "cuda";
  plan.source = source_of(options, world);
  if (options.processes > 1) plan.screened_processes = static_cast<std::size_t>(options.processes);
  plan.batches_per_bless = options.selftest.batches_per_bless;
  plan.seed = options.shuffle;
  plan.brief = options.pace == perf::Pace::brief;
  plan.run = ab::run_rounds;
  plan.exclusive = turns(world);
  const std::size_t busy = options.selftest.load_processes
                               ? options.selftest.load_processes
                               : std::max(1u, std::thread::hardware_concurrency());
  plan.load = [busy, command = std::vector<std::string>{world.executable.string(), "selftest",
                                                        "--busy"}]() -> std::shared_ptr<void> {
    return std::make_shared<selftest::BackgroundLoad>(command, busy);
  };
  plan.now_utc = perf::utc_now;
  plan.say = [&world](const std::string& line) { world.err << line << std::endl; };
  return plan;
}

int check(const Options& options, World& world) {
  const std::vector<selftest::Group> groups = [&] {
    try {
      return selftest::parse_experiments(options.selftest.experiments);
    } catch (const Error& error) {
      throw UsageError(error.what());
    }
  }();
  const Selection selection = select(world, options.filters);
  require_listed(selection);
  selftest::Plan plan = plan_of(options, world, selection);
  if (plan.rows.empty()) throw Error(nothing_selected(world));

  std::vector<CalibrationRow> counts;
  if (!options.selftest.calibration.empty() &&
      std::filesystem::exists(options.selftest.calibration))
    counts = load({options.selftest.calibration}); // a run adds to the existing counts
  std::string run = perf::utc_now();
  std::erase(run, ':'); // not allowed in file names on every file system
  std::size_t batches = 0;
  const std::size_t rows = plan.rows.size();
  selftest::Checker checker(std::move(plan));
  const perf::Clock now = perf::steady_clock();
  const double start = now();
  selftest::run_batches(
      checker, groups, {options.selftest.checks, options.selftest.minutes}, now,
      [&](const selftest::Batch& batch) {
        ++batches;
        if (!options.selftest.samples.empty()) {
          std::filesystem::create_directories(options.selftest.samples);
          write_file(options.selftest.samples / fmt::format("{}-{:04}.json", run, batches),
                     selftest::to_json(batch));
        }
        const std::vector<CalibrationRow> added = selftest::tally(batch);
        counts.insert(counts.end(), added.begin(), added.end());
        counts = selftest::pool(counts);
        if (!options.selftest.calibration.empty())
          write_file(options.selftest.calibration, selftest::format_calibration(counts));
        world.err << fmt::format("batch {} of {} rows done after {:.0f} s\n", batches, rows,
                                 (now() - start) / 1e9);
      });
  print_tables(counts, world);
  return judge::kExitPass;
}

} // namespace

int selftest(const Options& options, World& world) {
  if (!options.selftest.pooled.empty()) {
    if (options.selftest.calibration.empty())
      throw UsageError("--merge: say by --out which file to write");
    write_file(options.selftest.calibration,
               selftest::format_calibration(load(options.selftest.pooled)));
    return judge::kExitPass;
  }
  if (!options.selftest.compared.empty()) {
    const std::vector<CalibrationRow> rows = load(options.selftest.compared);
    require_one_device(rows);
    print_tables(rows, world);
    return judge::kExitPass;
  }
  if (const std::string reason = missing_device(options, world); !reason.empty()) {
    world.err << "skipped: " << reason << "\n";
    return options.require_gpu ? judge::kExitFail : judge::kExitSkip;
  }
  if (!options.selftest.busy) return check(options, world);
  selftest::keep_busy();
  return judge::kExitPass;
}

} // namespace kg::cli
