// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/cli/command_options.h"

#include "perf/cli/common_options.h"
#include "perf/cli/number_options.h"
#include "perf/cli/peers_options.h"
#include "perf/cli/program_options.h"
#include "perf/cli/row_options.h"
#include "perf/cli/study_options.h"
#include "perf/cli/try_options.h"

#include <CLI/CLI.hpp>

namespace kg::cli {
namespace {

void add_selftest(CLI::App& app, Words& words) {
  Options& options = words.options;
  CLI::App* selftest =
      app.add_subcommand("selftest", "count how often the gate errs, with slow-downs put in");
  add_rows(*selftest, words);
  selftest->add_option("experiments", options.selftest.experiments,
                       "aa, inject=3,5,10 (percent), creep, load, bimodal, wild");
  selftest->add_option("--device", options.device, "a GPU's number, or the device's name");
  selftest->add_option("--source-id", options.source_id, "name of the source without git");
  selftest->add_option("--checks", options.selftest.checks, "row checks of each experiment");
  selftest->add_option("--minutes", options.selftest.minutes, "begin nothing that would end later")
      ->check(minutes());
  selftest->add_option("--processes", words.processes, "to screen with (default: 5)")
      ->check(CLI::Range(3, 10));
  selftest->add_option("--batches-per-bless", options.selftest.batches_per_bless, "of one baseline")
      ->check(CLI::Range(1, 1000));
  selftest->add_option("--seed", options.shuffle, "of the orders");
  selftest->add_option("--samples", options.selftest.samples,
                       "folder for all samples, a file per batch");
  selftest->add_option("--out", options.selftest.calibration,
                       "calibration.csv to write after each batch");
  CLI::Option* merge = selftest->add_option("--merge", options.selftest.pooled,
                                            "measure nothing: pool these files into --out");
  CLI::Option* table = selftest->add_option("--table", options.selftest.compared,
                                            "measure nothing: compare rules by these files");
  merge->excludes(table);
  selftest->add_option("--load", options.selftest.load_processes,
                       "busy processes (default: one per core)");
  selftest->add_flag("--busy", options.selftest.busy, "be one of them")->group("");
}

// Stored results are all judged and nothing is measured, so that what chooses rows or says how to
// measure would be ignored.
CLI::Option* add_stored(CLI::App& command, Words& words, const char* name, const char* text) {
  const std::vector<CLI::Option*> senseless = command.get_options([](const CLI::Option* option) {
    const std::string of = option->get_name();
    return option->get_group() == kRows || of == "--device" || of == "--source-id" ||
           of == "--processes" || of == "--shard" || of == "--shuffle";
  });
  CLI::Option* stored = command.add_option(name, words.options.files, text);
  for (CLI::Option* option : senseless) stored->excludes(option);
  return stored;
}

void add_import(CLI::App& gate, Words& words) {
  CLI::Option* import =
      add_stored(gate, words, "--import",
                 "measure nothing; judge this file of kernelgrade, NVBench, Google Benchmark or "
                 "CUTLASS");
  gate.add_option("--baseline", words.options.baseline,
                  "compare with this file of such results instead of the baselines")
      ->needs(import);
  gate.add_option("--tol", words.options.tol_pct, "with --baseline: tolerated slow-down in percent")
      ->check(percent())
      ->needs("--baseline");
}

void add_list(CLI::App& app, Words& words) {
  CLI::App* list = app.add_subcommand("list", "show the cases, variants and modes");
  add_rows(*list, words);
  CLI::Option* models =
      list->add_flag("--models", words.options.list_models,
                     "show the language models that --model knows, and their numbers");
  list->add_flag("--shares", words.options.list_shares,
                 "show how near to their minima the blessed costs of the operations are")
      ->excludes(models);
}

void add_run(CLI::App& app, Words& words) {
  Options& options = words.options;
  CLI::App* run = app.add_subcommand("run", "measure");
  add_rows(*run, words);
  add_measuring(*run, words);
  add_strict(*run, words);
  run->add_flag("--once", options.once,
                "execute and check each row once and time nothing, for profilers and sanitizers");
  run->add_flag("--resume", options.resume_run,
                "keep the rows that the --json file holds, and measure what is left")
      ->needs("--json")
      ->excludes("--in-process")
      ->excludes("--once");
  add_shard(*run, words, kShard);
}

void add_ab(CLI::App& app, Words& words) {
  Options& options = words.options;
  CLI::App* ab = app.add_subcommand("ab", "measure side by side with another commit");
  add_rows(*ab, words);
  add_strict(*ab, words);
  add_device(*ab, words);
  ab->add_option("--base", options.ab.base, "the commit, branch or tag to compare with")
      ->required();
  ab->add_option("--pairs", options.ab.pairs, "processes of each build, at most")
      ->check(CLI::Range(10, 1000))
      ->capture_default_str();
  add_tolerance(*ab, words);
}

void add_gate(CLI::App& app, Words& words) {
  CLI::App* gate = app.add_subcommand("gate", "measure and compare with the baselines");
  add_rows(*gate, words);
  add_measuring(*gate, words);
  add_baselines(*gate, words);
  gate->add_flag("--changed", words.options.changed, "name what must be counted to be judged")
      ->needs(add_cost(*gate, words));
  add_strict(*gate, words);
  add_shard(*gate, words, kShard);
  gate->add_option("--confirm", words.confirm,
                   "auto: build the commit that blessed what looks slower, and measure both side "
                   "by side; never (default): only say so (KERNELGRADE_CONFIRM)")
      ->check(CLI::IsMember({"auto", "never"}));
  add_import(*gate, words);
}

void add_bless(CLI::App& app, Words& words) {
  Options& options = words.options;
  CLI::App* bless = app.add_subcommand("bless", "measure and make that the baseline");
  add_rows(*bless, words);
  add_measuring(*bless, words);
  add_baselines(*bless, words);
  add_cost(*bless, words);
  add_strict(*bless, words);
  add_shard(*bless, words, "refused: a baseline is measured whole");
  bless->add_option("--why", options.bless.why, "why rows that have a baseline may change");
  bless->add_flag("--accept-bimodal", options.bless.accept_bimodal, "bless rows with two modes");
  bless->add_flag("--remove-orphans", options.bless.remove_orphans,
                  "drop rows that are no cases any more");
  bless->add_option("--status", words.status, "gate, info or xfail")
      ->check(CLI::IsMember({"gate", "info", "xfail"}));
  add_tolerance(*bless, words);
  add_stored(*bless, words, "--from",
             "measure nothing; bless what these files of `run --json` hold, on any machine")
      ->excludes("--remove-orphans")
      ->excludes("--cost");
}

void add_doctor(CLI::App& app, Words& words) {
  CLI::App* doctor = app.add_subcommand("doctor", "say what is here, what is wrong and the fix");
  doctor->add_option("--device", words.options.device, "a GPU's number, or the device's name");
  add_baselines(*doctor, words);
}

void add_ceilings(CLI::App& app, Words& words) {
  Options& options = words.options;
  CLI::App* ceilings = app.add_subcommand(
      "ceilings", "measure the rates that this device reaches at the most: the roofs of all rows");
  ceilings->add_option("--device", options.device, "a GPU's number, or the device's name");
  ceilings->add_flag("--write", options.write, "put them in the device.json of the baselines");
  add_baselines(*ceilings, words);
  add_strict(*ceilings, words);
}

void add_resources(CLI::App& app, Words& words) {
  Options& options = words.options;
  CLI::App* resources = app.add_subcommand(
      "resources", "compare registers, spills, occupancy and split accesses with the baselines");
  add_word_list(*resources, "--op", words.filter.filter.ops, "operations: gemm,softmax");
  resources->add_option("--json", options.json, "write what they take to this file");
  resources->add_option("--compiled", options.compiled, "the build's folder of compiled kernels");
  add_baselines(*resources, words);
  add_strict(*resources, words);
  resources->add_flag("--changed", options.changed, "name what must be compiled to be judged");
  resources->add_flag("--bless", options.bless.resources, "make what they take the baseline");
  resources->add_option("--why", options.bless.why, "why it may become worse");
  resources->add_flag("--remove-orphans", options.bless.remove_orphans,
                      "with --bless: drop kernels that are no more");
}

void add_report(CLI::App& app, Words& words) {
  Options& options = words.options;
  CLI::App* report = app.add_subcommand("report", "judge stored measurements and write a report");
  add_rows(*report, words);
  add_baselines(*report, words);
  add_strict(*report, words);
  report->add_option("files", options.files,
                     "JSON files of run, gate, gate --cost, resources, ab, correctness tests or "
                     "mutants; or one of a study");
  report
      ->add_option(
          "--tests", options.report.tests,
          "what ctest --show-only=json-v1 printed before the tests ran; each of them must have "
          "passed or been skipped")
      ->allow_extra_args(false); // so that files may follow
  report
      ->add_option("--junit", options.report.junit,
                   "what ctest --output-junit then wrote, one for each --tests")
      ->allow_extra_args(false);
  report
      ->add_option("--of", options.report.all_ops,
                   "how many operations there are, where --op names some and the build may lack "
                   "the others")
      ->check(CLI::Range(1, 100000));
  report->add_option("--out", options.report.folder, "folder of the report")->default_val("report");
  report
      ->add_option("--keep", options.report.keep,
                   "keep the newest runs in the folder's runs/, this one included")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
#if KERNELGRADE_HISTORY
  report->add_option("--history", options.report.history,
                     "show rows over commits, from the SQLite file of `history import`");
#endif
}

void add_study_command(CLI::App& app, Words& words) {
  Options& options = words.options;
  CLI::App* study = add_study(app, options);
  study->add_option("--device", options.device, "a GPU's number, or the device's name");
  study->add_option("--source-id", options.source_id, "name of the source where there is no git");
  study->add_option("--processes", words.processes, "fresh processes to measure in")
      ->check(CLI::Range(1, 100));
  add_shard(*study, words, "measure this part of N, case by case; `merge` joins them");
  add_row_timeout(*study, words);
  study->add_flag("--quiet", options.quiet, "no progress");
  add_strict(*study, words);
}

void add_merge(CLI::App& app, Words& words) {
  Options& options = words.options;
  CLI::App* merge = app.add_subcommand("merge", "join stored measurements into one file");
  merge
      ->add_option("files", options.files,
                   "JSON files of run, gate, gate --cost or resources; or all shards of a study")
      ->required();
  merge->add_option("--json", options.json, "the file to write")->required();
}

void add_choose(CLI::App& app, Words& words) {
  Options& options = words.options;
  CLI::App* choose = app.add_subcommand(
      "choose", "write the table of the fastest variants that a kernel's `automatic` looks up");
  choose->add_option("files", options.files, "JSON files of run or gate, or one of a study")
      ->required();
  choose->add_option("--op", options.choose.op, "the operation, where the files hold several");
  choose->add_option("--mode", options.choose.mode, "cold, hot, graph or real, likewise")
      ->check(CLI::IsMember({"cold", "hot", "graph", "real"}));
  choose->add_option("--out", options.choose.table,
                     "the file (default: kernels/ops/<op>/choices.inc)");
}

#if KERNELGRADE_HISTORY
void add_history(CLI::App& app, Words& words) {
  Options& options = words.options;
  CLI::App* history = app.add_subcommand("history", "rows over commits, from kept reports");
  history
      ->add_option("action", options.history.action,
                   "import report.json files, show rows, or plot them")
      ->check(CLI::IsMember({"import", "show", "plot"}))
      ->required();
  history->add_option("files", options.files, "import: report.json files");
  history->add_option("--db", options.history.file, "the SQLite file")
      ->default_val("report/history.sqlite");
  history
      ->add_option("--keep", options.history.most_runs,
                   "import: then keep the newest runs only, so many (default: all)")
      ->check(CLI::Range(1, 1000000));
  history->add_option("--case", options.history.case_part, "show, plot: a part of the case's id");
  history->add_option("--variant", options.history.variant, "show, plot: the variant");
  history->add_option("--out", options.history.pictures, "plot: the folder for the SVG files")
      ->default_val("report/history");
}
#endif

void add_profile(CLI::App& app, Words& words) {
  Options& options = words.options;
  CLI::App* profile = app.add_subcommand("profile", "show where the time goes, kernel by kernel");
  add_rows(*profile, words);
  CLI::Option* cost = add_cost(*profile, words);
  CLI::Option* sass =
      profile
          ->add_flag("--sass", options.profile.sass,
                     "what ptxas made of the kernels: loads under way, instructions, divisions, by "
                     "line; needs no GPU")
          ->excludes(cost);
  profile->add_option("--arch", options.arch, "--sass: of this architecture (default: sm_90a)")
      ->needs(sass);
  profile->add_option("--gpu", options.profile.gpu,
                      "the GPU whose time is modelled, or whose clocks instructions take");
  CLI::Option* counts =
      profile
          ->add_option("--counts", options.profile.counts,
                       "bounds of a program's launches, from the file of emulate --counts")
          ->excludes(cost)
          ->excludes(sass);
  profile
      ->add_option("--cubin", options.profile.cubin,
                   "--counts: the program's kernels compiled for the GPU, with lines "
                   "(nvcc -cubin -lineinfo)")
      ->needs(counts);
  profile
      ->add_flag("--minimum", options.profile.minimum,
                 "one table: what each row costs beside the least that it could")
      ->needs(cost);
  profile->add_option(
      "--compiled", options.compiled,
      "--cost: a folder of fat binaries, where nvcc's code accesses memory otherwise than g++'s; "
      "--sass: the build's folder of compiled kernels (default: resources/ beside the command)");
  profile->add_option("--device", options.device, "a GPU's number, or the device's name");
  profile->add_option("--runs", options.profile.runs, "timed executions of each row")
      ->check(CLI::Range(1, 10000))
      ->default_val(10);
  profile->add_option("--top", options.profile.top, "kernels to list across all rows")
      ->check(CLI::Range(0, 10000))
      ->default_val(10);
  profile->add_option("--source-id", options.source_id, "name of the source where there is no git");
  profile->add_option("--json", options.json, "write the profile to this file");
  profile->add_flag("--quiet", options.quiet, "no tables");
  add_strict(*profile, words);
}

void add_compare(CLI::App& app, Words& words) {
  Options& options = words.options;
  CLI::App* compare = app.add_subcommand("compare", "compare two stored measurements, A with B");
  CLI::Option* files =
      compare->add_option("files", options.files, "files of run, gate, merge or another tool: A, B")
          ->expected(2);
  compare
      ->add_option("--model", options.compare.model,
                   "compare the model's times with those that this file has of a GPU")
      ->excludes(files);
  compare
      ->add_option("--hardware", options.compare.hardware,
                   "compare counts with files that ncu wrote of run --once --json, whose file lies "
                   "beside each")
      ->excludes(files);
  compare
      ->add_option(
          "--ladders", options.compare.ladders,
          "compare bounds with the published times of a file as perf/code/timing_model/ladders.csv")
      ->excludes(files);
  compare->add_option("--tol", options.tol_pct, "tolerated slow-down in percent")->check(percent());
  compare->add_option("--json", options.json, "write the comparison to this file");
  compare->add_flag("--across-devices", options.compare.across_devices,
                    "show measurements of different devices side by side, for information only");
  compare->add_flag("--markdown", options.compare.markdown, "write Markdown");
  add_strict(*compare, words);
}

} // namespace

void add_commands(CLI::App& app, Words& words) {
  add_check(app);
  add_try(app, words);
  add_emulate(app, words);
  add_list(app, words);
  add_run(app, words);
  add_gate(app, words);
  add_bless(app, words);
  add_ab(app, words);
  add_resources(app, words);
  add_profile(app, words);
  add_doctor(app, words);
  add_ceilings(app, words);
  add_compare(app, words);
  add_report(app, words);
  add_merge(app, words);
#if KERNELGRADE_HISTORY
  add_history(app, words);
#endif
  add_choose(app, words);
  add_study_command(app, words);
  add_peers(app, words);
  add_model(app);
  add_selftest(app, words);
}

} // namespace kg::cli
