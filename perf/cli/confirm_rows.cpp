// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/cli/confirm_rows.h"

#include "perf/cli/reference.h"
#include "perf/measure/ab/git.h"

#include <algorithm>
#include <filesystem>
#include <ostream>
#include <set>

namespace kg::cli {
namespace {

using judge::RowKey;

const judge::TimingRow& baseline_of(const RowKey& key, const judge::TimingFile& file) {
  return *std::find_if(file.rows.begin(), file.rows.end(),
                       [&](const judge::TimingRow& row) { return row.key == key; });
}

// The first line: the rest is a log, which is shown once and not for every row.
std::string short_reason(const Error& error) {
  const std::string text = error.what();
  return text.substr(0, text.find('\n'));
}

std::vector<std::string> operations(const std::vector<ab::Candidate>& rows) {
  std::set<std::string> ops;
  for (const ab::Candidate& row : rows) ops.emplace(judge::op_of(row.key.case_id));
  return {ops.begin(), ops.end()};
}

void compare_with(const std::string& commit, const std::vector<ab::Candidate>& rows,
                  const Options& options, World& world, judge::Confirmations& confirmations) {
  ab::BuildPlan plan = build_plan(options, world);
  plan.ops = operations(rows);
  const ab::ReferenceBuild reference = ab::reference_build(plan, commit);
  for (const ab::ComparedRow& row : compare(options, world, reference, rows))
    confirmations[row.key] = {row.found, row.problem, commit.substr(0, 12), row.tags_a, row.tags_b};
}

} // namespace

judge::Confirmations confirm_rows(const Options& options, World& world,
                                  const std::map<std::string, judge::TimingFile>& baselines,
                                  const std::vector<RowKey>& rows) {
  judge::Confirmations confirmations;
  std::map<std::string, std::vector<ab::Candidate>> by_commit;
  for (const RowKey& key : rows) {
    const judge::TimingFile& file = baselines.at(std::string(judge::op_of(key.case_id)));
    const judge::TimingRow& baseline = baseline_of(key, file);
    try {
      const std::string commit =
          ab::last_change(std::filesystem::absolute(file.path), baseline.line);
      by_commit[commit].push_back({key, baseline.tol_pct});
    } catch (const Error& error) {
      confirmations[key].unavailable = error.what();
    }
  }
  for (const auto& [commit, candidates] : by_commit) {
    try {
      compare_with(commit, candidates, options, world, confirmations);
    } catch (const Error& error) {
      world.err << "not confirmed: " << error.what() << "\n";
      for (const ab::Candidate& row : candidates)
        confirmations[row.key].unavailable = short_reason(error);
    }
  }
  return confirmations;
}

} // namespace kg::cli
