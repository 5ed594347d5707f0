// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/ab/compare_builds.h"

#include "perf/measure/ab/rounds.h"
#include "runtime/error.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>

namespace kg::ab {
namespace {

using Rounds = std::vector<std::vector<judge::Results>>;
using judge::Measured;
using judge::RowKey;

enum { kA, kB, kControl, kArms }; // the order in every round

const Measured& row_of(const judge::Results& run, const RowKey& key) {
  return *std::find_if(run.rows.begin(), run.rows.end(),
                       [&](const Measured& row) { return row.key == key; });
}

// Explains why fewer rounds than necessary have times of all three arms.
void explain(ComparedRow& row, const Rounds& rounds) {
  constexpr const char* kNames[kArms] = {"the reference", "this build", "the reference's copy"};
  for (const int arm : {kB, kA, kControl}) // a fault of B comes first
    for (const std::vector<judge::Results>& round : rounds) {
      const Measured& found = row_of(round[static_cast<std::size_t>(arm)], row.key);
      if (found.verified.empty() && found.skipped.empty()) continue;
      row.problem = fmt::format("{}: {}", kNames[arm], found.verified + found.skipped);
      row.wrong = arm == kB && !found.verified.empty();
      return;
    }
}

std::size_t first_look(std::size_t pairs) { return (3 * pairs + 9) / 10; }

class Comparison {
 public:
  Comparison(const Builds& builds, const std::vector<Candidate>& rows,
             const CompareOptions& options)
      : options_(options), arms_{{"a", builds.reference, {}},
                                 {"b", builds.subject, {}},
                                 {"control", builds.control, {}}} {
    for (const Candidate& row : rows) {
      judge::ConfirmRule rule = judge::confirm_rule(row.tol_pct, rows.size());
      rule.first_look = first_look(options.pairs);
      rule.second_look = options.pairs;
      rules_.push_back(rule);
      rows_.emplace_back().key = row.key;
    }
  }

  // Measures rounds [first, last) of the undecided rows, and judges them.
  void look(std::size_t first, std::size_t last) {
    RoundOptions how;
    how.seed = options_.seed;
    how.exclusive = options_.exclusive;
    for (const ComparedRow& row : rows_)
      if (undecided(row)) how.rows.push_back(row.key);
    if (how.rows.empty()) return;
    how.progress = [&](std::size_t round) {
      if (options_.progress)
        options_.progress(fmt::format("round {} of {}{}: {} rows in 3 processes", round + 1, last,
                                      last < options_.pairs ? " (first look)" : "",
                                      how.rows.size()));
    };
    const Rounds rounds = run_rounds(arms_, first, last - first, how);
    for (std::size_t i = 0; i < rows_.size(); ++i)
      if (undecided(rows_[i])) conclude(rows_[i], rules_[i], rounds);
  }

  std::vector<ComparedRow> rows() && { return std::move(rows_); }

 private:
  static bool undecided(const ComparedRow& row) {
    return row.problem.empty() && (!row.found || row.found->more);
  }

  static void conclude(ComparedRow& row, const judge::ConfirmRule& rule, const Rounds& rounds) {
    const judge::PairedTimes times = paired_times(rounds, row.key);
    const auto append = [](std::vector<double>& to, const std::vector<double>& from) {
      to.insert(to.end(), from.begin(), from.end());
    };
    append(row.times.a_ns, times.a_ns);
    append(row.times.b_ns, times.b_ns);
    append(row.times.control_ns, times.control_ns);
    row.tags_a = row_of(rounds.back()[kA], row.key).tags;
    row.tags_b = row_of(rounds.back()[kB], row.key).tags;
    if (times.a_ns.size() < rounds.size()) explain(row, rounds);
    row.found.reset();
    if (row.problem.empty()) row.found = judge::confirm(row.times, rule);
  }

  const CompareOptions& options_;
  std::vector<Arm> arms_;
  std::vector<judge::ConfirmRule> rules_; // per row
  std::vector<ComparedRow> rows_;
};

} // namespace

std::vector<ComparedRow> compare_builds(const Builds& builds, const std::vector<Candidate>& rows,
                                        const CompareOptions& options) {
  Comparison comparison(builds, rows, options);
  const std::size_t first = first_look(options.pairs);
  comparison.look(0, first);
  comparison.look(first, options.pairs);
  return std::move(comparison).rows();
}

} // namespace kg::ab
