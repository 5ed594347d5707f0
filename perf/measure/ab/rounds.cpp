// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/ab/rounds.h"

#include "perf/measure/turns.h"
#include "runtime/atomic_file.h"
#include "runtime/error.h"
#include "runtime/temporary_folder.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>
#include <random>
#include <span>
#include <unistd.h>
#include <utility>

namespace kg::ab {
namespace {

using judge::Measured;
using judge::RowKey;

constexpr int kUsage = 2;       // exit code of kernelgrade: unknown row
constexpr int kTimedOut = 124;  // exit code of timeout(1)
constexpr int kNoCommand = 126; // of env(1) and timeout(1): cannot be executed; 127: not found

Measured problem_row(const RowKey& key, int exit_code, unsigned time_limit_s) {
  Measured row;
  row.op = std::string(judge::op_of(key.case_id));
  row.dtype = std::string(judge::dtype_of(key.case_id));
  row.key = key;
  if (exit_code == kUsage)
    row.skipped = "this build knows no such row";
  else if (exit_code == kTimedOut)
    row.verified = fmt::format("its process took longer than {} s and was ended", time_limit_s);
  else
    row.verified =
        fmt::format("its process ended with exit code {} and wrote no result", exit_code);
  return row;
}

// One arm over all rounds: its build, and the rows that failed.
class Runner {
 public:
  Runner(const Arm& arm, const RoundOptions& options, const std::filesystem::path& folder)
      : arm_(arm), options_(options), folder_(folder / arm.name) {
    require(access(arm.executable.c_str(), X_OK) == 0,
            fmt::format("arm {}: {} is not a program that can be run; build it first", arm.name,
                        arm.executable.string()));
    std::filesystem::create_directories(folder_);
  }

  // The command that measures the remaining rows; empty if there are none.
  std::vector<std::string> begin(unsigned shuffle) {
    rows_.clear();
    for (const RowKey& key : options_.rows)
      if (!failed_.contains(key)) rows_.push_back(key);
    return rows_.empty() ? std::vector<std::string>() : command(rows_, shuffle);
  }

  // The results of that process. Measures rows that it lost again, separately.
  judge::Results end(const perf::Finished& finished, unsigned shuffle) {
    judge::Results run;
    if (!rows_.empty()) collect(rows_, finished, shuffle, run);
    for (const auto& [key, row] : failed_) run.rows.push_back(row);
    return in_order(std::move(run));
  }

 private:
  std::filesystem::path json() const { return folder_ / "results.json"; }

  // If a process ends without a result, measures both halves of its rows again, until the row that
  // crashes it is isolated.
  void collect(std::span<const RowKey> rows, const perf::Finished& finished, unsigned shuffle,
               judge::Results& run) {
    require(finished.exit_code != kNoCommand && finished.exit_code != kNoCommand + 1,
            fmt::format("arm {}: {} cannot be started (exit code {})", arm_.name,
                        arm_.executable.string(), finished.exit_code));
    if (std::filesystem::exists(json())) {
      judge::Results found = judge::load_results(json());
      std::filesystem::remove(json());
      run.environment = found.environment;
      for (Measured& row : found.rows)
        if (row.verified.empty())
          run.rows.push_back(std::move(row));
        else
          failed_.emplace(row.key, row);
    } else if (rows.size() == 1) {
      failed_.emplace(rows.front(),
                      problem_row(rows.front(), finished.exit_code, options_.time_limit_s));
    } else {
      for (const auto half : {rows.first(rows.size() / 2), rows.subspan(rows.size() / 2)})
        collect(half, perf::run_process(command(half, shuffle), perf::Output::to_stderr), shuffle,
                run);
    }
  }

  std::vector<std::string> command(std::span<const RowKey> rows, unsigned shuffle) const {
    const std::filesystem::path batch = folder_ / "rows";
    std::string lines;
    for (const RowKey& key : rows)
      lines += fmt::format("--case {} --variant {} --mode {}\n", key.case_id, key.variant,
                           judge::name(key.mode));
    write_file(batch, lines);
    std::vector<std::string> command = {"env", "KERNELGRADE_BRIEF=1"};
    for (const auto& [name, value] : arm_.environment) command.push_back(name + "=" + value);
    for (const std::string& word : std::vector<std::string>{
             "timeout", "--foreground", "--kill-after=10", std::to_string(options_.time_limit_s),
             arm_.executable.string(), "run", "--batch", batch.string(), "--json", json().string(),
             "--source-id", arm_.name, "--shuffle", std::to_string(shuffle), "--quiet"})
      command.push_back(word);
    return command;
  }

  judge::Results in_order(judge::Results run) const {
    judge::Results result;
    result.environment = std::move(run.environment);
    for (const RowKey& key : options_.rows) {
      const auto at = std::find_if(run.rows.begin(), run.rows.end(),
                                   [&](const Measured& row) { return row.key == key; });
      result.rows.push_back(at == run.rows.end() ? problem_row(key, kUsage, 0) : std::move(*at));
    }
    return result;
  }

  const Arm& arm_;
  const RoundOptions& options_;
  std::filesystem::path folder_;
  std::vector<RowKey> rows_; // of the current round
  std::map<RowKey, Measured> failed_;
};

// Runs the arms' processes, in this order.
std::vector<perf::Finished> run(const std::vector<std::vector<std::string>>& commands,
                                const RoundOptions& options) {
  if (options.exclusive) return perf::run_interleaved(commands, options.exclusive);
  std::vector<perf::Finished> finished;
  for (const std::vector<std::string>& command : commands)
    finished.push_back(perf::run_process(command, perf::Output::to_stderr));
  return finished;
}

// The row as this process measured it; null if it has no time.
const Measured* timed(const judge::Results& run, const RowKey& key) {
  const auto row = std::find_if(run.rows.begin(), run.rows.end(),
                                [&](const Measured& found) { return found.key == key; });
  const bool measured = row != run.rows.end() && row->verified.empty() && row->skipped.empty();
  return measured ? &*row : nullptr;
}

// The time of `row`, from a's median and the ratios of their turns.
double beside(const Measured& a, const Measured& row) {
  // The last turn may exist for some arms only.
  const std::size_t turns = std::min(a.turn_medians_ns.size(), row.turn_medians_ns.size());
  if (turns == 0) return row.median_ns;
  std::vector<double> quotients;
  for (std::size_t i = 0; i < turns; ++i)
    quotients.push_back(row.turn_medians_ns[i] / a.turn_medians_ns[i]);
  return a.median_ns * judge::median(quotients);
}

} // namespace

std::vector<std::size_t> round_order(std::size_t arms, unsigned seed, std::size_t round) {
  std::vector<std::size_t> order(arms);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::seed_seq pair = {seed, static_cast<unsigned>(round / 2)};
  std::mt19937 random(pair);
  std::shuffle(order.begin(), order.end(), random);
  if (round % 2 == 1) std::reverse(order.begin(), order.end());
  return order;
}

std::vector<std::vector<judge::Results>> run_rounds(const std::vector<Arm>& arms, std::size_t first,
                                                    std::size_t count,
                                                    const RoundOptions& options) {
  const TemporaryFolder folder;
  std::vector<Runner> runners;
  for (const Arm& arm : arms) runners.emplace_back(arm, options, folder.path());
  std::vector<std::vector<judge::Results>> rounds;
  for (std::size_t round = first; round < first + count; ++round) {
    if (options.progress) options.progress(round);
    std::vector<judge::Results>& results = rounds.emplace_back(arms.size());
    // All arms of a round measure their rows in the same order. 0 would be the listed order.
    const unsigned shuffle = options.seed + static_cast<unsigned>(round) + 1;
    std::vector<std::size_t> measuring;
    std::vector<std::vector<std::string>> commands;
    for (const std::size_t arm : round_order(arms.size(), options.seed, round)) {
      std::vector<std::string> command = runners[arm].begin(shuffle);
      if (command.empty()) {
        results[arm] = runners[arm].end({}, shuffle);
        continue;
      }
      measuring.push_back(arm);
      commands.push_back(std::move(command));
    }
    const std::vector<perf::Finished> finished = run(commands, options);
    for (std::size_t i = 0; i < measuring.size(); ++i)
      results[measuring[i]] = runners[measuring[i]].end(finished[i], shuffle);
  }
  return rounds;
}

judge::PairedTimes paired_times(const std::vector<std::vector<judge::Results>>& rounds,
                                const RowKey& row) {
  judge::PairedTimes times;
  for (const std::vector<judge::Results>& round : rounds) {
    require(round.size() == 3, "paired_times: a round needs the three arms a, b, control");
    const Measured *a = timed(round[0], row), *b = timed(round[1], row),
                   *control = timed(round[2], row);
    if (!a || !b || !control) continue;
    times.a_ns.push_back(a->median_ns);
    times.b_ns.push_back(beside(*a, *b));
    times.control_ns.push_back(beside(*a, *control));
  }
  return times;
}

} // namespace kg::ab
