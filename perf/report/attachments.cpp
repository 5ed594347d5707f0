// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/report/attachments.h"

#include "perf/format/csv.h"
#include "perf/format/json_reader.h"
#include "perf/format/sinks.h"
#include "perf/format/table.h"
#include "perf/format/units.h"
#include "runtime/atomic_file.h"
#include "runtime/error.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

namespace kg::report {
namespace {

// The member names of an object, without parsing their values into memory.
std::set<std::string> members(const std::string& contents) {
  std::set<std::string> names;
  const auto shallow = [&](int depth, nlohmann::json::parse_event_t event, nlohmann::json& parsed) {
    if (event == nlohmann::json::parse_event_t::key && depth == 1)
      names.insert(parsed.get<std::string>());
    return depth == 0;
  };
  const nlohmann::json ignored = nlohmann::json::parse(contents, shallow, false);
  return names;
}

template <class List, class Same>
void require_new(const List& list, const Same& same, const std::string& what,
                 const std::string& file) {
  require(std::none_of(list.begin(), list.end(), same),
          fmt::format("{}: another file also holds {}; give one of them", file, what));
}

void add_correctness(Attachments& attachments, const nlohmann::json& root,
                     const std::string& file) {
  for (CorrectnessRun& run : correctness_from(root, file)) {
    require_new(
        attachments.correctness,
        [&](const CorrectnessRun& other) { return other.op == run.op && other.dtype == run.dtype; },
        fmt::format("the correctness tests of {}.{}", run.op, run.dtype), file);
    attachments.correctness.push_back(std::move(run));
  }
}

void add_mutants(Attachments& attachments, const nlohmann::json& root, const std::string& file) {
  KillMatrix matrix = kill_matrix_from(root, file);
  require_new(
      attachments.mutants, [&](const KillMatrix& other) { return other.op == matrix.op; },
      "the mutants of " + matrix.op, file);
  attachments.mutants.push_back(std::move(matrix));
}

std::string correctness_line(const std::vector<CorrectnessRun>& runs) {
  std::size_t passed = 0, failed = 0, skipped = 0;
  for (const CorrectnessRun& run : runs) {
    passed += run.passed.size();
    failed += run.failed.size();
    skipped += run.skipped.size();
  }
  std::string text = fmt::format("correctness: {} passed", passed);
  if (failed > 0) text += fmt::format(", {} failed", failed);
  if (skipped > 0) text += fmt::format(", {} skipped", skipped);
  return text;
}

std::string mutants_line(const std::vector<KillMatrix>& matrices) {
  std::size_t found = 0, all = 0;
  for (const KillMatrix& matrix : matrices) {
    found += killed(matrix);
    all += matrix.mutants.size();
  }
  return fmt::format("mutants: {} of {} killed", found, all);
}

// The most informative lines of a test's message: GoogleTest's first line says where, the next ones
// what.
std::string brief(const std::string& message) {
  constexpr std::size_t kMost = 300;
  return message.size() <= kMost ? message : message.substr(0, kMost) + "...";
}

// The table's first `most` lines as Markdown, and the number of further ones. Empty without lines.
std::string section(const std::string& heading, std::vector<std::string> header,
                    const std::vector<std::vector<std::string>>& lines, std::size_t most) {
  if (lines.empty()) return ""; // the report's first line has the counts
  const std::size_t colon = heading.find(": ");
  std::string text = fmt::format("### {}\n\n{}\n\n", judge::for_markdown(heading.substr(0, colon)),
                                 judge::for_markdown(heading.substr(colon + 2)));
  judge::TextTable table(std::move(header));
  for (std::size_t i = 0; i < std::min(most, lines.size()); ++i) table.add(lines[i]);
  text += table.markdown() + "\n";
  if (lines.size() > most)
    text += fmt::format("{} more are in report.html.\n\n", lines.size() - most);
  return text;
}

std::string study_section(const StudyRun& run, std::size_t most) {
  std::vector<std::vector<std::string>> lines;
  for (const StudyRemark& remark : remarks(run))
    lines.push_back({remark.name, remark.verdict, brief(remark.message)});
  return section(line(run), {"what", "verdict", "why"}, lines, most);
}

std::string comparison_section(const SideBySide& compared, std::size_t most) {
  std::vector<const ComparedPair*> order;
  for (const ComparedPair& row : compared.rows)
    if (judge::usual_exit(row.verdict) != judge::kExitPass ||
        row.verdict == judge::Verdict::improved)
      order.push_back(&row);
  std::stable_sort(order.begin(), order.end(), [](const ComparedPair* a, const ComparedPair* b) {
    constexpr double kNone = std::numeric_limits<double>::infinity();
    return a->ratio.value_or(kNone) < b->ratio.value_or(kNone);
  });
  std::vector<std::vector<std::string>> lines;
  for (const ComparedPair* row : order)
    lines.push_back({judge::text(row->key), row->a_ns > 0 ? judge::time_text(row->a_ns) : "-",
                     row->b_ns > 0 ? judge::time_text(row->b_ns) : "-",
                     row->ratio ? fmt::format("{:.3f}", *row->ratio) : "-",
                     std::string(judge::name(row->verdict)), brief(row->reason)});
  return section(line(compared), {"row", "A", "B", "A / B", "verdict", "why"}, lines, most);
}

} // namespace

bool add_file(Attachments& attachments, const std::filesystem::path& path) {
  if (study::is_record(path)) {
    StudyRun run = study_from(path);
    require_new(
        attachments.studies,
        [&](const StudyRun& other) { return other.record.header == run.record.header; },
        fmt::format("the study {} of {}", run.study->name, run.record.header.date_utc),
        path.string());
    attachments.studies.push_back(std::move(run));
    return true;
  }
  const auto contents = read_file(path);
  if (!contents) return false; // the reader of results reports it
  const std::set<std::string> names = members(*contents);
  const std::string file = path.string();
  const auto parsed = [&] { return judge::parse_json(*contents, file); };
  if (names.contains("testsuites"))
    add_correctness(attachments, parsed(), file);
  else if (names.contains("mutants"))
    add_mutants(attachments, parsed(), file);
  else if (names.contains("a") && names.contains("b"))
    attachments.comparisons.push_back(side_by_side_from(parsed(), file));
  else
    return false;
  return true;
}

int exit_code(const Attachments& attachments) {
  std::vector<int> exits;
  for (const PlannedTest& test : attachments.tests)
    exits.push_back(test.failed() ? judge::kExitFail : judge::kExitPass);
  for (const CorrectnessRun& run : attachments.correctness) exits.push_back(exit_code(run));
  for (const KillMatrix& matrix : attachments.mutants)
    exits.push_back(killed(matrix) == matrix.mutants.size() ? judge::kExitPass : judge::kExitFail);
  for (const SideBySide& compared : attachments.comparisons) exits.push_back(exit_code(compared));
  for (const StudyRun& run : attachments.studies) exits.push_back(exit_code(run));
  return judge::combined_exit(exits, false);
}

std::string text(const Scope& scope) {
  if (scope.named.empty()) return "";
  return fmt::format("{} of {} operations: {}", scope.named.size(), scope.of,
                     fmt::join(scope.named, ", "));
}

std::vector<std::string> lines(const Attachments& attachments) {
  std::vector<std::string> result;
  if (!attachments.tests.empty()) result.push_back(line(attachments.tests));
  if (!attachments.correctness.empty()) result.push_back(correctness_line(attachments.correctness));
  if (!attachments.tests.empty()) result.push_back(checkers_line(attachments.tests));
  if (!attachments.mutants.empty()) result.push_back(mutants_line(attachments.mutants));
  for (const SideBySide& compared : attachments.comparisons) result.push_back(line(compared));
  for (const StudyRun& run : attachments.studies) result.push_back(line(run));
  return result;
}

nlohmann::json json(const Attachments& attachments) {
  const auto list = [](const auto& parts) {
    nlohmann::json result = nlohmann::json::array();
    for (const auto& part : parts) result.push_back(to_json(part));
    return result;
  };
  return {{"tests", list(attachments.tests)},     {"correctness", list(attachments.correctness)},
          {"mutants", list(attachments.mutants)}, {"comparisons", list(attachments.comparisons)},
          {"studies", list(attachments.studies)}, {"history", to_json(attachments.history)}};
}

std::vector<TestSuite> junit_suites(const Attachments& attachments) {
  std::vector<TestSuite> suites;
  if (!attachments.tests.empty()) suites.push_back(junit_suite(attachments.tests));
  const auto add = [&](const auto& parts) {
    for (const auto& part : parts) suites.push_back(junit_suite(part));
  };
  add(attachments.correctness);
  add(attachments.mutants);
  add(attachments.comparisons);
  add(attachments.studies);
  return suites;
}

std::string tests_csv(const Attachments& attachments) {
  std::string text;
  const auto add = [&](const std::vector<std::string>& fields) {
    std::vector<std::string> cells; // text cells, except the seconds, which are never negative
    for (const std::string& field : fields) cells.push_back(judge::for_csv(field));
    text += judge::csv_record(cells);
  };
  add({"kind", "op", "dtype", "test", "result", "seconds", "check", "place", "message", "again"});
  for (const CorrectnessRun& run : attachments.correctness) {
    const auto add_tests = [&](const std::vector<Remark>& tests, const char* result) {
      for (const Remark& test : tests)
        add({"correctness", run.op, run.dtype, test.test, result, judge::csv_number(test.seconds),
             "", "", test.message, test_command(run.op, run.dtype)});
    };
    add_tests(run.failed, "failed");
    add_tests(run.skipped, "skipped");
    add_tests(run.passed, "passed");
  }
  for (const KillMatrix& matrix : attachments.mutants)
    for (const Mutant& mutant : matrix.mutants)
      add({"mutant", matrix.op, "", mutant.name, mutant.killed ? "killed" : "survived", "",
           mutant.check, mutant.place, mutant.why, mutant_command(matrix, mutant)});
  return text;
}

std::string markdown(const Attachments& attachments, std::size_t most) {
  std::string text;
  if (!attachments.correctness.empty()) {
    std::vector<std::vector<std::string>> failures;
    for (const CorrectnessRun& run : attachments.correctness)
      for (const Remark& remark : run.failed)
        failures.push_back(
            {remark.test, brief(remark.message), "`" + test_command(run.op, run.dtype) + "`"});
    text += section(correctness_line(attachments.correctness),
                    {"failed test", "what it says", "again"}, failures, most);
  }
  if (!attachments.mutants.empty()) {
    std::vector<std::vector<std::string>> survivors;
    for (const KillMatrix& matrix : attachments.mutants)
      for (const Mutant& mutant : matrix.mutants)
        if (!mutant.killed)
          survivors.push_back({fmt::format("{} {}", matrix.op, mutant.name), mutant.place,
                               mutant.check, mutant.why});
    text += section(mutants_line(attachments.mutants),
                    {"mutant", "place", "check", "what is wrong"}, survivors, most);
  }
  for (const SideBySide& compared : attachments.comparisons)
    text += comparison_section(compared, most);
  for (const StudyRun& run : attachments.studies) text += study_section(run, most);
  return text;
}

} // namespace kg::report
