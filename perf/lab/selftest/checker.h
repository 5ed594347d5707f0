// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Checks many rows at a time by the gate's own rule: every process measures all rows, treatments
// are measured side by side, and a baseline serves several batches.
#pragma once

#include "perf/judge/baseline.h"
#include "perf/judge/gate.h"
#include "perf/lab/selftest/experiments.h"
#include "perf/lab/selftest/record.h"
#include "perf/measure/ab/rounds.h"

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace kg::selftest {

// ab::run_rounds, or a test's replacement.
using RunRounds = std::function<std::vector<std::vector<judge::Results>>(
    const std::vector<ab::Arm>&, std::size_t first, std::size_t count, const ab::RoundOptions&)>;

struct Plan {
  std::filesystem::path executable;    // of every arm
  std::vector<judge::Registered> rows; // to check
  judge::Device device = judge::Device::host;
  std::string device_name, backend, source;
  std::size_t blessed_processes = 10;
  std::size_t screened_processes = 5;
  std::size_t batches_per_bless = 4; // a baseline is one draw; too few would make all checks alike
  unsigned seed = 1;
  bool brief = false; // screen in brief processes: faster than the gate, and noisier
  RunRounds run;
  std::function<std::shared_ptr<void>()> exclusive; // for confirmation, as in ab::RoundOptions
  std::function<std::shared_ptr<void>()> load; // keeps the machine busy while its result exists
  std::function<std::string()> now_utc;
  std::function<void(const std::string&)> say; // progress, a line at a time
};

class Checker {
 public:
  explicit Checker(Plan plan) : plan_(std::move(plan)) {}

  // Blesses first if due. Leaves out rows that could not be measured or blessed, and reports them.
  Batch check(const Group& group);

 private:
  struct Baseline {
    std::map<std::string, judge::TimingFile> files; // by op
    std::map<judge::RowKey, Processes> samples;     // of the blessed rows
    std::size_t batches = 0;                        // served so far
  };
  struct Screened {
    const Treatment* treatment = nullptr;
    ab::Arm arm;
    judge::GateResult result;
    std::map<judge::RowKey, Processes> samples;
    std::map<judge::RowKey, judge::PairedTimes> rounds;
  };
  using Rounds = std::vector<std::vector<judge::Results>>;

  const Baseline& baseline(const Group& group);
  std::vector<Screened> screen(const Group& group, const Baseline& baseline);
  void confirm(const Group& group, const std::vector<Screened*>& screened);
  judge::GateOptions options() const;
  std::vector<judge::Registered> rows_of(const Group& group) const; // spread over all rows
  void say_budget(const Group& group) const;
  ab::Arm arm(const std::string& name, const Group& group, double percent, bool whole) const;
  Rounds measure(const Group& group, const std::vector<ab::Arm>& arms, std::size_t first,
                 std::size_t count, const std::vector<judge::RowKey>& rows,
                 const std::string& what);

  Plan plan_;
  std::map<std::pair<std::string, std::size_t>, Baseline> baselines_; // by noise and rows
  unsigned measurements_ = 0;                                         // each has its own orders
};

struct Limits {
  std::size_t checks = 0; // of every experiment; 0: no limit
  double minutes = 0;     // 0: no limit
};

// Checks the groups in turn until every experiment has enough checks, or until the next batch would
// end too late. The next batch is assumed to take as long as the longest so far. Each group gets at
// least one. `done` gets each complete batch; `now_ns` is monotonic.
void run_batches(Checker& checker, const std::vector<Group>& groups, const Limits& limits,
                 const std::function<double()>& now_ns,
                 const std::function<void(const Batch&)>& done);

} // namespace kg::selftest
