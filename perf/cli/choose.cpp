// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// kernelgrade choose: writes the fastest variant of each measured case into the kernel's table.
#include "perf/lab/choose/choices.h"

#include "perf/cli/lab_commands.h"
#include "perf/cli/stored_runs.h"
#include "perf/format/named_path.h"
#include "perf/judge/gate.h"
#include "perf/lab/study/record.h"
#include "runtime/atomic_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ostream>
#include <set>

namespace kg::cli {
namespace {

judge::Results results_of(const std::vector<std::filesystem::path>& files) {
  if (files.size() != 1 || !study::is_record(files.front())) return load_runs(files);
  study::Record record = study::load_undivided(files.front());
  judge::Results run{std::move(record.header.environment), {}};
  for (study::Experiment& experiment : record.done) run.rows.push_back(std::move(experiment.row));
  return run;
}

// The only word in `words`, unless the option names one.
std::string only(const char* option, const std::string& given, const std::set<std::string>& words) {
  if (!given.empty()) return given;
  if (words.size() == 1) return *words.begin();
  throw UsageError(fmt::format("choose: the files hold times of {} ({}): name one by {}",
                               words.size(), fmt::join(words, ", "), option));
}

// The kernel's own table, unless one is given. The run names its device (choices.h).
std::filesystem::path table_of(const Options& options, const World& world, const std::string& op,
                               const judge::Results& run) {
  if (!options.choose.table.empty()) return options.choose.table;
  if (run.environment.at("device") == "host")
    throw UsageError("choose: these are times of the emulator, and `automatic` chooses for GPUs; "
                     "name a file by --out to look at its table");
  const std::filesystem::path path =
      judge::named_path(world.source / "kernels/ops", "operation", op) / "choices.inc";
  require(std::filesystem::exists(path),
          fmt::format("choose: {} does not exist: `automatic` of {} reads no table; name a file "
                      "by --out to look at its table",
                      path.string(), op));
  return path;
}

} // namespace

int choose(const Options& options, World& world) {
  const judge::Results run = results_of(options.files);
  std::set<std::string> ops, modes;
  for (const judge::Measured& row : run.rows) {
    ops.insert(row.op);
    modes.emplace(name(row.key.mode));
  }
  const std::string op = only("--op", options.choose.op, ops);
  const std::string mode = only("--mode", options.choose.mode, modes);
  const std::vector<std::string> found =
      kg::choose::lines(run, op, judge::mode_named(mode).value());
  const std::filesystem::path path = table_of(options, world, op, run);
  write_file(path, kg::choose::with_lines(read_file(path).value_or(""), found));
  for (const std::string& line : found) world.out << line << "\n";
  world.out << fmt::format("{}: {} cases; build and test again\n", path.string(), found.size());
  return judge::kExitPass;
}

} // namespace kg::cli
