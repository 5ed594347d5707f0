// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/cli/options.h"

#include "perf/cli/study_options.h"
#include "perf/judge/atomic_file.h"
#include "perf/judge/limits.h"
#include "runtime/backend.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <regex>
#include <sstream>
#include <string_view>

namespace kg::cli {
namespace {

constexpr auto kBlessProcesses = static_cast<int>(
    judge::limits(backend == Backend::host ? judge::Device::host : judge::Device::gpu)
        .bless_processes);

constexpr int kGateProcesses = 3; // the fewest with a spread that one of them does not make

constexpr const char* kRows = "Which rows"; // the group of options that choose them

// A filter as it stands on a command line; a case stands for its op, dtype and shape.
struct FilterWords {
  Filter filter;
  std::vector<std::string> cases;
};

void add_filter(CLI::App& app, FilterWords& words) {
  const auto list = [&](const char* name, std::vector<std::string>& into, const char* text) {
    app.add_option(name, into, text)->delimiter(',')->group(kRows);
  };
  Filter& filter = words.filter;
  list("--op", filter.ops, "operations: gemm,softmax");
  list("--category", filter.categories, "categories: matmul");
  list("--dtype", filter.dtypes, "types: f32,f16");
  list("--shape", filter.shapes, "parameters as in the case's id; `run` takes unlisted ones, too");
  list("--case", words.cases, "whole ids: softmax.f32.r64_c1024");
  list("--variant", filter.variants, "variants: naive,cublas");
  list("--mode", filter.modes, "cold, hot, graph or real");
  app.add_flag("--fast", filter.fast, "the pre-merge subset")->group(kRows);
}

void require_in_filter(const std::vector<std::string>& words, const std::string& word,
                       const char* option, const std::string& id) {
  if (!words.empty() && std::find(words.begin(), words.end(), word) == words.end())
    throw UsageError(fmt::format("--case {} contradicts {}", id, option));
}

// One filter, or one per case.
std::vector<Filter> filters_of(const FilterWords& words) {
  if (words.cases.empty()) return {words.filter};
  std::vector<Filter> filters;
  for (const std::string& id : words.cases) {
    const std::string op(judge::op_of(id)), dtype(judge::dtype_of(id));
    const std::size_t prefix = op.size() + dtype.size() + 2;
    if (op.empty() || dtype.empty() || id.size() <= prefix)
      throw UsageError(fmt::format(
          "--case {}: a case is <op>.<dtype>.<shape>, as in softmax.f32.r64_c1024", id));
    require_in_filter(words.filter.ops, op, "--op", id);
    require_in_filter(words.filter.dtypes, dtype, "--dtype", id);
    require_in_filter(words.filter.shapes, id.substr(prefix), "--shape", id);
    Filter filter = words.filter;
    filter.ops = {op};
    filter.dtypes = {dtype};
    filter.shapes = {id.substr(prefix)};
    filters.push_back(filter);
  }
  return filters;
}

// CLI11 marks a request for help by an exception like any error.
bool asks_for_help(const CLI::ParseError& error) {
  return error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success);
}

// One filter per line; empty lines and lines that begin with '#' are skipped.
std::vector<Filter> read_batch(const std::filesystem::path& path) {
  const std::optional<std::string> contents = judge::read_file(path);
  if (!contents) throw UsageError(fmt::format("--batch {}: there is no such file", path.string()));
  std::vector<Filter> filters;
  std::istringstream lines(*contents);
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.empty() || line.front() == '#') continue;
    CLI::App app;
    FilterWords words;
    add_filter(app, words);
    try {
      app.parse(line);
      for (Filter& filter : filters_of(words)) filters.push_back(std::move(filter));
    } catch (const CLI::ParseError& error) {
      throw UsageError(fmt::format("{}:{}: {}; a line holds options that choose rows, as in --op "
                                   "gemm --dtype f32",
                                   path.string(), number, error.what()));
    } catch (const UsageError& error) {
      throw UsageError(fmt::format("{}:{}: {}", path.string(), number, error.what()));
    }
  }
  if (filters.empty())
    throw UsageError(fmt::format("--batch {}: it holds no line of options", path.string()));
  return filters;
}

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  const std::string_view text = value ? value : "";
  if (text.empty() || text == "0") return false;
  if (text == "1") return true;
  throw UsageError(fmt::format("{} is \"{}\"; set it to 1 or 0, or not at all", variable, text));
}

// The command line while it is being parsed.
struct Words {
  Options options;
  FilterWords filter;
  std::string batch;
  std::string status;
  std::string shard;
  int processes = 0;
  std::string confirm = "auto";
};

void add_rows(CLI::App& command, Words& words) {
  add_filter(command, words.filter);
  const std::vector<CLI::Option*> filters =
      command.get_options([](const CLI::Option* option) { return option->get_group() == kRows; });
  CLI::Option* batch =
      command
          .add_option("--batch", words.batch, "a file of such options, one set of rows per line")
          ->group(kRows);
  for (CLI::Option* filter : filters) batch->excludes(filter);
}

void add_row_timeout(CLI::App& command, Words& words) {
  command
      .add_option("--row-timeout", words.options.row_timeout_s,
                  "seconds after which a row that is not done is killed")
      ->check(CLI::PositiveNumber);
}

void add_device(CLI::App& command, Words& words) {
  Options& options = words.options;
  command.add_option("--device", options.device,
                     "a GPU's number, or the name the device must have (nvidia-h200, host)");
  command.add_option("--json", options.json, "write all samples to this file");
  command.add_option("--source-id", options.source_id, "name of the source where there is no git");
  command.add_option("--shuffle", options.shuffle, "measure in a random order with this seed");
  add_row_timeout(command, words);
  command.add_flag("--in-process", options.in_process,
                   "measure in this process, for debuggers and profilers: a crash ends it");
  command.add_option("--journal", options.journal)->group(""); // between this program's processes
  command.add_flag("--quiet", options.quiet, "no progress and no table");
}

void add_measuring(CLI::App& command, Words& words) {
  add_device(command, words);
  command.add_option("--processes", words.processes, "fresh processes to measure in")
      ->check(CLI::Range(1, 100));
}

void add_shard(CLI::App& command, Words& words, const char* text) {
  command.add_option("--shard", words.shard, text)->type_name("I/N");
}

ShardOption shard_of(const Words& words) {
  if (words.options.command == "bless")
    throw UsageError(
        "bless: --shard: a baseline file is measured whole and on one machine; bless by "
        "--op, or bless everything");
  static const std::regex kForm("([1-9][0-9]{0,5})/([1-9][0-9]{0,5})");
  std::smatch numbers;
  if (!std::regex_match(words.shard, numbers, kForm))
    throw UsageError(fmt::format("--shard {}: write I/N, as in 2/4", words.shard));
  const ShardOption shard{std::stoul(numbers[1]), std::stoul(numbers[2])};
  if (shard.index > shard.count)
    throw UsageError(fmt::format("--shard {}: there are shards 1 to {}", words.shard, shard.count));
  return shard;
}

void add_tolerance(CLI::App& command, Words& words) {
  command.add_option("--tol-pct", words.options.tol_pct, "tolerated slow-down in percent")
      ->check(CLI::PositiveNumber);
}

void add_baselines(CLI::App& command, Words& words) {
  command.add_option("--baselines", words.options.baselines,
                     "folder of the baselines (default: the source tree's)");
}

CLI::Option* add_cost(CLI::App& command, Words& words) {
  return command.add_flag("--cost", words.options.cost,
                          "costs counted without a GPU, not times (host backend, g++)");
}

void add_strict(CLI::App& command, Words& words) {
  command.add_flag("--strict", words.options.strict,
                   "fail where a row would be skipped (KERNELGRADE_STRICT=1)");
}

void add_selftest(CLI::App& app, Words& words) {
  Options& options = words.options;
  CLI::App* selftest =
      app.add_subcommand("selftest", "count how often the gate errs, with slow-downs put in");
  add_rows(*selftest, words);
  selftest->add_option("experiments", options.experiments,
                       "aa, inject=3,5,10 (percent), creep, load, bimodal, wild");
  selftest->add_option("--device", options.device, "a GPU's number, or the device's name");
  selftest->add_option("--source-id", options.source_id, "name of the source without git");
  selftest->add_option("--checks", options.checks, "row checks of each experiment");
  selftest->add_option("--minutes", options.minutes, "begin nothing that would end later")
      ->check(CLI::PositiveNumber);
  selftest->add_option("--processes", words.processes, "to screen with (default: 5)")
      ->check(CLI::Range(3, 10));
  selftest->add_option("--batches-per-bless", options.batches_per_bless, "of one baseline")
      ->check(CLI::Range(1, 1000));
  selftest->add_option("--seed", options.shuffle, "of the orders");
  selftest->add_option("--samples", options.samples, "folder for all samples, a file per batch");
  selftest->add_option("--out", options.calibration, "calibration.csv to write after each batch");
  CLI::Option* merge = selftest->add_option("--merge", options.pooled,
                                            "measure nothing: pool these files into --out");
  CLI::Option* table = selftest->add_option("--table", options.compared,
                                            "measure nothing: compare rules by these files");
  merge->excludes(table);
  selftest->add_option("--load", options.load_processes, "busy processes (default: one per core)");
  selftest->add_flag("--busy", options.busy, "be one of them")->group("");
}

// Imported results are all judged and nothing is measured, so that what chooses rows or says how to
// measure would be ignored.
void add_import(CLI::App& gate, Words& words) {
  const std::vector<CLI::Option*> senseless = gate.get_options([](const CLI::Option* option) {
    const std::string name = option->get_name();
    return option->get_group() == kRows || name == "--device" || name == "--source-id" ||
           name == "--processes" || name == "--shard" || name == "--shuffle";
  });
  CLI::Option* import = gate.add_option(
      "--import", words.options.files,
      "measure nothing; judge this file of kernelgrade, NVBench, Google Benchmark or CUTLASS");
  for (CLI::Option* option : senseless) import->excludes(option);
  gate.add_option("--baseline", words.options.baseline,
                  "compare with this file of such results instead of the baselines")
      ->needs(import);
  gate.add_option("--tol", words.options.tol_pct, "with --baseline: tolerated slow-down in percent")
      ->check(CLI::PositiveNumber)
      ->needs("--baseline");
}

void add_commands(CLI::App& app, Words& words) {
  Options& options = words.options;
  CLI::App* list = app.add_subcommand("list", "show the cases, variants and modes");
  add_rows(*list, words);

  CLI::App* run = app.add_subcommand("run", "measure");
  add_rows(*run, words);
  add_measuring(*run, words);
  add_strict(*run, words);

  run->add_flag("--once", options.once,
                "execute and check each row once and time nothing, for profilers and sanitizers");

  constexpr const char* kShard = "measure this part of N; `merge` and `report` join them";
  add_shard(*run, words, kShard);

  CLI::App* ab = app.add_subcommand("ab", "measure side by side with another commit");
  add_rows(*ab, words);
  add_strict(*ab, words);
  add_device(*ab, words);
  ab->add_option("--base", options.base, "the commit, branch or tag to compare with")->required();
  ab->add_option("--pairs", options.pairs, "processes of each build, at most")
      ->check(CLI::Range(10, 1000))
      ->capture_default_str();
  add_tolerance(*ab, words);

  CLI::App* gate = app.add_subcommand("gate", "measure and compare with the baselines");
  add_rows(*gate, words);
  add_measuring(*gate, words);
  add_baselines(*gate, words);
  add_cost(*gate, words);
  add_strict(*gate, words);
  add_shard(*gate, words, kShard);
  gate->add_option("--confirm", words.confirm,
                   "auto: measure what looks slower beside the commit that blessed it; never: only "
                   "say so (KERNELGRADE_CONFIRM)")
      ->check(CLI::IsMember({"auto", "never"}))
      ->envname("KERNELGRADE_CONFIRM");
  add_import(*gate, words);

  CLI::App* bless = app.add_subcommand("bless", "measure and make that the baseline");
  add_rows(*bless, words);
  add_measuring(*bless, words);
  add_baselines(*bless, words);
  add_cost(*bless, words);
  add_strict(*bless, words);
  add_shard(*bless, words, "refused: a baseline is measured whole");
  bless->add_option("--why", options.why, "why rows that have a baseline may change");
  bless->add_flag("--accept-bimodal", options.accept_bimodal, "bless rows with two modes");
  bless->add_flag("--remove-orphans", options.remove_orphans,
                  "drop rows that are no cases any more");
  bless->add_option("--status", words.status, "gate, info or xfail")
      ->check(CLI::IsMember({"gate", "info", "xfail"}));
  add_tolerance(*bless, words);

  CLI::App* doctor = app.add_subcommand("doctor", "say what is here, what is wrong and the mend");
  doctor->add_option("--device", options.device, "a GPU's number, or the device's name");
  add_baselines(*doctor, words);

  CLI::App* ceilings = app.add_subcommand(
      "ceilings", "measure the rates that this device reaches at the most: the roofs of all rows");
  ceilings->add_option("--device", options.device, "a GPU's number, or the device's name");
  ceilings->add_flag("--write", options.write, "put them in the device.json of the baselines");
  add_baselines(*ceilings, words);
  add_strict(*ceilings, words);

  CLI::App* resources = app.add_subcommand(
      "resources", "compare what kernels take (registers, spills, occupancy) with the baselines");
  resources->add_option("--op", words.filter.filter.ops, "operations: gemm,softmax")
      ->delimiter(',');
  resources->add_option("--json", options.json, "write what they take to this file");
  resources->add_option("--compiled", options.compiled, "the build's folder of compiled kernels");
  add_baselines(*resources, words);
  add_strict(*resources, words);
  resources->add_flag("--bless", options.bless, "make what they take the baseline");
  resources->add_option("--why", options.why, "why it may become worse");
  resources->add_flag("--remove-orphans", options.remove_orphans,
                      "with --bless: drop kernels that are no more");

  CLI::App* report = app.add_subcommand("report", "judge stored measurements and write a report");
  add_rows(*report, words);
  add_baselines(*report, words);
  add_strict(*report, words);
  report
      ->add_option("files", options.files,
                   "JSON files of run, gate, gate --cost, resources, ab, correctness tests or "
                   "mutants; or one of a study")
      ->required();
  report->add_option("--out", options.folder, "folder of the report")->default_val("report");

  add_selftest(app, words);

  CLI::App* study = add_study(app, options);
  study->add_option("--device", options.device, "a GPU's number, or the device's name");
  study->add_option("--source-id", options.source_id, "name of the source where there is no git");
  study->add_option("--processes", words.processes, "fresh processes to measure in")
      ->check(CLI::Range(1, 100));
  add_row_timeout(*study, words);
  study->add_flag("--quiet", options.quiet, "no progress");
  add_strict(*study, words);

  CLI::App* merge = app.add_subcommand("merge", "join stored measurements into one file");
  merge->add_option("files", options.files, "JSON files of run, gate, gate --cost or resources")
      ->required();
  merge->add_option("--json", options.json, "the file to write")->required();

#if KERNELGRADE_HISTORY
  CLI::App* history = app.add_subcommand("history", "rows over commits, from kept reports");
  history->add_option("action", options.action, "import report.json files, show rows, or plot them")
      ->check(CLI::IsMember({"import", "show", "plot"}))
      ->required();
  history->add_option("files", options.files, "import: report.json files");
  history->add_option("--db", options.history_file, "the SQLite file")
      ->default_val("report/history.sqlite");
  history->add_option("--case", options.case_part, "show, plot: a part of the case's id");
  history->add_option("--variant", options.variant, "show, plot: the variant");
  history->add_option("--out", options.folder, "plot: the folder for the SVG files")
      ->default_val("report/history");
#endif

  CLI::App* profile = app.add_subcommand("profile", "show where the time goes, kernel by kernel");
  add_rows(*profile, words);
  CLI::Option* cost = add_cost(*profile, words);
  profile->add_option("--gpu", options.gpu, "the GPU whose time is modelled from the costs")
      ->needs(cost);
  profile->add_option("--device", options.device, "a GPU's number, or the device's name");
  profile->add_option("--runs", options.runs, "timed executions of each row")
      ->check(CLI::Range(1, 10000))
      ->default_val(10);
  profile->add_option("--top", options.top, "kernels to list across all rows")
      ->check(CLI::Range(0, 10000))
      ->default_val(10);
  profile->add_option("--source-id", options.source_id, "name of the source where there is no git");
  profile->add_option("--json", options.json, "write the profile to this file");
  profile->add_flag("--quiet", options.quiet, "no tables");
  add_strict(*profile, words);

  CLI::App* compare = app.add_subcommand("compare", "compare two stored measurements, A with B");
  CLI::Option* files =
      compare->add_option("files", options.files, "files of run, gate, merge or another tool: A, B")
          ->expected(2);
  compare
      ->add_option("--model", options.model,
                   "compare the model's times with those that this file has of a GPU")
      ->excludes(files);
  compare
      ->add_option("--hardware", options.hardware,
                   "compare counts with files that ncu wrote of run --once --json, whose file lies "
                   "beside each")
      ->excludes(files);
  compare->add_option("--tol", options.tol_pct, "tolerated slow-down in percent")
      ->check(CLI::PositiveNumber);
  compare->add_option("--json", options.json, "write the comparison to this file");
  compare->add_flag("--across-devices", options.across_devices,
                    "show measurements of different devices side by side, for information only");
  compare->add_flag("--markdown", options.markdown, "write Markdown");
  add_strict(*compare, words);
}

} // namespace

Parsed parse(const std::vector<std::string>& arguments, const std::filesystem::path& baselines) {
  Words words;
  words.options.baselines = baselines;
  CLI::App app("Correctness and performance of kernels: measures, grades and gates them.\n"
               "Exit codes: 0 passed, 1 failed, 2 called wrongly, 77 skipped.",
               "kernelgrade");
  app.require_subcommand(1);
  app.fallthrough(); // what stands behind a command may be an option of all of them
  app.add_flag("--ascii", words.options.ascii, "write no other characters to the console");
  add_commands(app, words);
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend())); // CLI11: last first
  } catch (const CLI::ParseError& error) {
    if (!asks_for_help(error)) throw UsageError(fmt::format("{}; see --help", error.what()));
    const auto commands = app.get_subcommands();
    return {{}, Help{commands.empty() ? app.help() : commands.front()->help()}};
  }
  Options& options = words.options;
  if (options.in_process && words.processes > 1)
    throw UsageError("--in-process contradicts --processes, which are fresh ones; leave out one");
  options.command = app.get_subcommands().front()->get_name();
  if (options.command == "compare" && options.files.empty() && options.model.empty() &&
      options.hardware.empty())
    throw UsageError("compare: name two files, A and B, or --model or --hardware FILE; see --help");
  if (!options.model.empty() || !options.hardware.empty())
    options.cost = true; // what is counted is compared
  options.filters = words.batch.empty() ? filters_of(words.filter) : read_batch(words.batch);
  const int usual = options.command == "gate"    ? kGateProcesses
                    : options.command == "bless" ? kBlessProcesses
                                                 : 1;
  options.processes = words.processes ? words.processes : options.in_process ? 1 : usual;
  if (!words.shard.empty()) options.shard = shard_of(words);
  if (!words.status.empty()) options.status = judge::status_named(words.status);
  options.confirm = words.confirm == "auto";
  options.strict = is_set("KERNELGRADE_STRICT") || options.strict;
  options.require_gpu = is_set("KERNELGRADE_REQUIRE_GPU");
  // Not an option, so that an older build which does not know it measures, too, if longer.
  if (is_set("KERNELGRADE_BRIEF")) options.pace = perf::Pace::brief;
  return {options, std::nullopt};
}

} // namespace kg::cli
