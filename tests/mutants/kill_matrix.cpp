// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs an op's mutants and says which test found each, and by which check. Exit code 1 if one
// survives, or if nothing but a crash or a time-out speaks of it. Another check than the expected
// one is noted and no failure: which of several right checks speaks first depends on the order of a
// test's cases.
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "perf/judge/atomic_file.h"
#include "runtime/error.h"
#include "tests/mutants/execution.h"
#include "tests/mutants/spec.h"

namespace kg::mutants {

namespace {

struct Row {
  const Mutant* mutant;
  std::string place; // file:line of the original
  Outcome outcome;
};

bool killed(const Row& row) { return row.outcome.end == End::killed; }

// What the matrix shows in the column of the check.
std::string verdict(const Row& row) {
  switch (row.outcome.end) {
  case End::killed: return row.outcome.check;
  case End::survived: return "SURVIVED";
  case End::crashed: return "CRASH ONLY";
  case End::timed_out: return "TIME-OUT ONLY";
  }
  return "";
}

std::string place_of(const Mutant& mutant, const std::filesystem::path& kernels) {
  const auto source = judge::read_file(kernels / mutant.file);
  require(source.has_value(), (kernels / mutant.file).string() + " is missing");
  return fmt::format("{}:{}", mutant.file, line_of(*source, find_original(*source, mutant).begin));
}

void print_row(const Row& row, std::size_t name_width) {
  const std::string expected = killed(row) && row.outcome.check != row.mutant->killed_by
                                   ? fmt::format("  (expected {})", row.mutant->killed_by)
                                   : "";
  fmt::print("{:<{}}  {:<32}  {:<13}  {:<45} {:>5.1f}{}\n", row.mutant->name, name_width, row.place,
             verdict(row), row.outcome.test, row.outcome.seconds, expected);
  std::fflush(stdout);
}

void write_results(const std::string& path, const std::string& op, const std::vector<Row>& rows) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Row& row : rows)
    list.push_back({{"mutant", row.mutant->name},
                    {"place", row.place},
                    {"why", row.mutant->why},
                    {"killed", killed(row)},
                    {"check", verdict(row)},
                    {"expected", row.mutant->killed_by},
                    {"test", row.outcome.test},
                    {"message", row.outcome.message},
                    {"seconds", row.outcome.seconds}});
  judge::write_file(path, nlohmann::ordered_json{{"op", op}, {"mutants", list}}.dump(2) + "\n");
}

// "9 exact, 3 hygiene".
std::string count_checks(const std::vector<Row>& rows) {
  std::map<std::string, int> counts;
  for (const Row& row : rows)
    if (killed(row)) ++counts[row.outcome.check];
  std::string text;
  for (const auto& [check, count] : counts)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, check);
  return text;
}

struct Options {
  std::string op, spec, kernels, program, results, only;
  int limit = 300;
};

int run(const Options& options) {
  const std::vector<Mutant> mutants = read_spec(options.spec);
  Executor executor(options.program, options.limit);
  std::size_t name_width = 0;
  for (const Mutant& mutant : mutants) name_width = std::max(name_width, mutant.name.size());
  fmt::print("{:<{}}  {:<32}  {:<13}  {:<45} seconds\n", "mutant", name_width, "place", "check",
             "test");

  std::vector<Row> rows;
  double seconds = 0;
  for (const Mutant& mutant : mutants) {
    if (!options.only.empty() && mutant.name != options.only) continue;
    rows.push_back({&mutant, place_of(mutant, options.kernels), executor.hunt(mutant)});
    seconds += rows.back().outcome.seconds;
    print_row(rows.back(), name_width);
  }
  require(!rows.empty(),
          fmt::format("--only {}: {} has no such mutant", options.only, options.spec));
  if (!options.results.empty()) write_results(options.results, options.op, rows);

  const auto found = std::count_if(rows.begin(), rows.end(), killed);
  fmt::print("{} of {} mutants of {} killed in {:.0f} s (and {:.0f} s without one): {}\n", found,
             rows.size(), options.op, seconds, executor.clean_seconds(), count_checks(rows));
  for (const Row& row : rows)
    if (!killed(row))
      fmt::print("{}: {} at {}: {}\n  again: KERNELGRADE_MUTANT={} {}\n", verdict(row),
                 row.mutant->name, row.place, row.mutant->why, row.mutant->name, options.program);
  return found == static_cast<std::ptrdiff_t>(rows.size()) ? 0 : 1;
}

} // namespace

} // namespace kg::mutants

int main(int argc, char** argv) {
  kg::mutants::Options options;
  CLI::App app("Runs an op's mutants and says which test found each, by which check");
  app.add_option("--op", options.op, "the op")->required();
  app.add_option("--spec", options.spec, "tests/mutants/<op>.json")->required();
  app.add_option("--kernels", options.kernels, "the folder that the spec's files are in")
      ->required();
  app.add_option("--program", options.program, "<op>_mutants_test")->required();
  app.add_option("--results", options.results, "where to write the matrix as JSON");
  app.add_option("--only", options.only, "this mutant alone");
  app.add_option("--limit", options.limit, "seconds for one run of the program");
  CLI11_PARSE(app, argc, argv);
  try {
    return kg::mutants::run(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
