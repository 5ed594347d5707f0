// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/report/headline.h"

#include "perf/judge/summary.h"
#include "perf/report/failures.h"
#include "perf/report/rows.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>
#include <vector>

namespace kg::report {
namespace {

std::string outcome(const judge::GateResult& result, const std::vector<Failure>& failed) {
  if (result.exit_code == judge::kExitPass) return "passed";
  if (result.exit_code == judge::kExitSkip) return "SKIPPED";
  if (failed.empty()) return "FAILED";
  const Failure& first = failed.front();
  constexpr std::size_t kMost = 120; // of a fault's text
  std::string text = first.what.empty() ? first.why.substr(0, first.why.find('\n'))
                                        : first.what + " " + first.verdict;
  if (text.size() > kMost) text = text.substr(0, kMost) + "...";
  std::size_t more = failed.size() - 1;
  for (const Failure& each : failed) more += each.alike;
  return fmt::format("FAILED: {}{}", text, more == 0 ? "" : fmt::format(", and {} more", more));
}

// The number of correct operations among those whose correctness tests ran. An operation with only
// skipped tests is neither correct nor wrong.
std::string operations(const judge::GateResult& result, const Attachments& attachments) {
  if (!result.faults.empty()) return ""; // missing files may be those of an operation's tests
  std::set<std::string> tested, wrong;
  for (const CorrectnessRun& run : attachments.correctness) {
    if (!run.passed.empty() || !run.failed.empty()) tested.insert(run.op);
    if (!run.failed.empty()) wrong.insert(run.op);
  }
  // A test that crashed or did not run leaves no results to count.
  for (const PlannedTest& test : attachments.tests)
    if (test.label != "perf" && !test.op.empty() && test.failed()) {
      tested.insert(test.op);
      wrong.insert(test.op);
    }
  for (const judge::RowResult& row : result.rows)
    if (!row.informs && row.verdict == judge::Verdict::invalid && tested.contains(row.op))
      wrong.insert(row.op);
  if (tested.empty()) return "";
  const std::size_t right = tested.size() - wrong.size();
  const std::string count =
      wrong.empty() ? fmt::format("{}", right) : fmt::format("{} of {}", right, tested.size());
  return fmt::format("{} operation{} correct", count, tested.size() == 1 ? "" : "s");
}

// Costs and resources, each once for all architectures.
std::vector<std::string> counts(const CountedSections& counted) {
  std::vector<std::string> texts, blessed, unchanged;
  for (const CountedSection& section : counted) {
    const std::string kind = section.name == "costs" ? "costs" : "resources";
    if (section.result.exit_code != judge::kExitPass)
      texts.push_back(line(section));
    else if (auto& kinds = is_unchanged(section) ? unchanged : blessed;
             std::find(kinds.begin(), kinds.end(), kind) == kinds.end())
      kinds.push_back(kind);
  }
  if (!blessed.empty())
    texts.push_back(fmt::format("{} match the baselines", fmt::join(blessed, " and ")));
  if (!unchanged.empty())
    texts.push_back(fmt::format("{} unchanged", fmt::join(unchanged, " and ")));
  return texts;
}

std::string host_timings(const judge::GateResult& result) {
  std::size_t ours = 0, failed = 0, undecided = 0;
  for (const judge::RowResult& row : result.rows) {
    if (row.informs) continue;
    ++ours;
    failed += row.exit_code == judge::kExitFail;
    undecided += row.exit_code == judge::kExitSkip;
  }
  if (ours == 0) return "";
  std::vector<std::string> parts;
  if (failed > 0) parts.push_back(fmt::format("{} of {} timings failed", failed, ours));
  if (undecided > 0)
    parts.push_back(
        fmt::format("{} of {} timings inconclusive (they do not count on a CPU)", undecided, ours));
  if (parts.empty()) return fmt::format("{} timings on this CPU unchanged", ours);
  return fmt::format("{}", fmt::join(parts, ", "));
}

} // namespace

std::string headline(const judge::Results& run, const judge::GateResult& result,
                     const CountedSections& counted, const Attachments& attachments) {
  const auto failed = failures(result, counted, attachments);
  std::vector<std::string> parts;
  if (const std::string scope = text(attachments.scope); !scope.empty()) parts.push_back(scope);
  if (const std::string right = operations(result, attachments); !right.empty())
    parts.push_back(right);
  if (std::any_of(attachments.tests.begin(), attachments.tests.end(),
                  [](const PlannedTest& test) { return test.state != TestState::passed; }))
    parts.push_back(line(attachments.tests));
  // Correctness is stated above, and so are tests if not all passed.
  Attachments others = attachments;
  others.tests.clear();
  others.correctness.clear();
  for (std::string& each : lines(others)) parts.push_back(std::move(each));
  for (std::string& each : counts(counted)) parts.push_back(std::move(each));
  if (device_of(run) == judge::Device::host) {
    if (std::string times = host_timings(result); !times.empty()) parts.push_back(std::move(times));
  } else if (!result.rows.empty()) {
    parts.push_back("timings: " + judge::text(judge::summarise(result).verdicts));
  }
  const std::string begin = outcome(result, failed);
  if (parts.empty()) return begin;
  return fmt::format("{}{} {}", begin, failed.empty() ? ":" : ";", fmt::join(parts, "; "));
}

} // namespace kg::report
