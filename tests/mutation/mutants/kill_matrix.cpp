// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs an op's mutants and reports which test found each, and by which check. Exit code 1 if a
// mutant survives, or is detected only by a crash or timeout. A check other than the expected one
// is noted but is not a failure: which of several valid checks fails first depends on the order of
// a test's cases.
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

#include "runtime/atomic_file.h"
#include "runtime/error.h"
#include "runtime/temporary_folder.h"
#include "tests/mutation/mutants/execution.h"
#include "tests/mutation/mutants/ptx_mutants.h"
#include "tests/mutation/mutants/spec.h"

namespace kg::mutants {

namespace {

struct Row {
  const Mutant* mutant;
  std::string place; // file:line of the original
  Outcome outcome;
};

bool killed(const Row& row) { return row.outcome.end == End::killed; }

// The matrix' entry in the check column.
std::string verdict(const Row& row) {
  switch (row.outcome.end) {
  case End::killed: return row.outcome.check;
  case End::survived: return "SURVIVED";
  case End::crashed: return "CRASH ONLY";
  case End::timed_out: return "TIME-OUT ONLY";
  }
  return "";
}

std::string source_of(const std::filesystem::path& file) {
  if (file.extension() == ".fatbin") return ptx_of(file);
  const auto source = read_file(file);
  require(source.has_value(), file.string() + " is missing");
  return *source;
}

std::string place_of(const Mutant& mutant, const std::filesystem::path& folder) {
  const std::string source = source_of(folder / mutant.file);
  return fmt::format("{}:{}", mutant.file, line_of(source, find_original(source, mutant).begin));
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
  write_file(path, nlohmann::ordered_json{{"op", op}, {"mutants", list}}.dump(2) + "\n");
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
  std::string op, spec, kernels, ptx, program, results, only;
  int limit = 300;
  bool places = false;
  std::string command; // this command, for messages

  const std::string& sources() const { return ptx.empty() ? kernels : ptx; }
};

// Prints the source positions of all mutants in the spec.
int print_places(const Options& options) {
  for (const Mutant& mutant : read_spec(options.spec))
    fmt::print("{} {}\n", place_of(mutant, options.sources()), mutant.name);
  return 0;
}

int run(const Options& options) {
  const std::vector<Mutant> mutants = read_spec(options.spec);
  const TemporaryFolder mutated;
  // For kernels compiled by nvcc, every mutant is a separate folder.
  const auto by_folder = [&](const std::string& mutant) {
    const auto of_name = [&](const Mutant& one) { return one.name == mutant; };
    const auto found = std::find_if(mutants.begin(), mutants.end(), of_name);
    std::filesystem::path folder = options.ptx;
    if (found != mutants.end()) {
      folder = std::filesystem::path(mutated.path()) / mutant;
      if (!std::filesystem::exists(folder)) write_mutated(options.ptx, *found, folder);
    }
    return std::vector<std::string>{"KERNELGRADE_MUTANT=none",
                                    "KERNELGRADE_PTX=" + folder.string()};
  };
  Executor executor(options.program, options.limit,
                    options.ptx.empty() ? Executor::Choice(Executor::by_switch) : by_folder);
  std::size_t name_width = 0;
  for (const Mutant& mutant : mutants) name_width = std::max(name_width, mutant.name.size());
  fmt::print("{:<{}}  {:<32}  {:<13}  {:<45} seconds\n", "mutant", name_width, "place", "check",
             "test");

  std::vector<Row> rows;
  double seconds = 0;
  for (const Mutant& mutant : mutants) {
    if (!options.only.empty() && mutant.name != options.only) continue;
    rows.push_back({&mutant, place_of(mutant, options.sources()), executor.hunt(mutant)});
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
      fmt::print("{}: {} at {}: {}\n  again: {} --only {}\n", verdict(row), row.mutant->name,
                 row.place, row.mutant->why, options.command, row.mutant->name);
  return found == static_cast<std::ptrdiff_t>(rows.size()) ? 0 : 1;
}

} // namespace

} // namespace kg::mutants

int main(int argc, char** argv) {
  kg::mutants::Options options;
  CLI::App app("Runs an op's mutants and says which test found each, by which check");
  app.add_option("--op", options.op, "the op")->required();
  app.add_option("--spec", options.spec, "tests/ops/<op>/mutants.json")->required();
  CLI::Option_group* in = app.add_option_group("in", "the folder that the spec's files are in");
  in->add_option("--kernels", options.kernels, "sources, which the program was made from");
  in->add_option("--ptx", options.ptx, "fat binaries, which the program runs");
  in->require_option(1);
  CLI::Option_group* what = app.add_option_group("what", "what is done with them");
  what->add_option("--program", options.program, "<op>_mutants_test, which must find them");
  what->add_flag("--places", options.places, "nothing but to look for where they belong");
  what->require_option(1);
  app.add_option("--results", options.results, "where to write the matrix as JSON");
  app.add_option("--only", options.only, "this mutant alone");
  app.add_option("--limit", options.limit, "seconds for one run of the program");
  CLI11_PARSE(app, argc, argv);
  for (int i = 0; i < argc; ++i) options.command += (i == 0 ? "" : " ") + std::string(argv[i]);
  try {
    return options.places ? kg::mutants::print_places(options) : kg::mutants::run(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
