// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/cli/command_options.h"

#include "perf/cli/common_options.h"
#include "perf/cli/number_options.h"
#include "perf/cli/peers_options.h"
#include "perf/cli/program_options.h"
#include "perf/cli/row_options.h"
#include "perf/cli/selftest_options.h"
#include "perf/cli/study_options.h"
#include "perf/cli/try_options.h"

#include <CLI/CLI.hpp>

namespace kg::cli {
namespace {

// All stored results are judged and nothing is measured, so options that select rows or control the
// measurement would be ignored.
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
  CLI::Option* import = add_stored(
      gate, words, "--import",
      "measure nothing; judge this result file of Kernelgrade, NVBench, Google Benchmark or "
      "CUTLASS");
  gate.add_option("--baseline", words.options.baseline,
                  "--import: compare with this result file instead of the baselines")
      ->type_name("FILE")
      ->needs(import);
  gate.add_option("--tol", words.options.tol_pct, "--baseline: tolerated slowdown in percent")
      ->check(percent())
      ->needs("--baseline");
}

void add_list(CLI::App& app, Words& words) {
  CLI::App* list = app.add_subcommand("list", "list cases, variants and modes");
  add_rows(*list, words);
  CLI::Option* models =
      list->add_flag("--models", words.options.list_models,
                     "list the language models that --model knows, with their dimensions");
  list->add_flag("--shares", words.options.list_shares,
                 "list how close each operation's blessed costs are to their minimum")
      ->excludes(models);
}

void add_run(CLI::App& app, Words& words) {
  Options& options = words.options;
  CLI::App* run = app.add_subcommand("run", "measure kernels and libraries");
  add_rows(*run, words);
  add_measuring(*run, words);
  add_strict(*run, words);
  run->add_flag("--once", options.once,
                "execute and check each row once without timing it, for profilers and sanitizers");
  run->add_flag("--resume", options.resume_run,
                "keep the rows in the --json file, and measure the remaining ones")
      ->needs("--json")
      ->excludes("--in-process")
      ->excludes("--once");
  add_shard(*run, words, kShard);
}

void add_ab(CLI::App& app, Words& words) {
  Options& options = words.options;
  CLI::App* ab = app.add_subcommand("ab", "measure this build and another commit's, interleaved");
  add_rows(*ab, words);
  add_strict(*ab, words);
  add_device(*ab, words);
  ab->add_option("--base", options.ab.base, "commit, branch or tag to compare with")->required();
  ab->add_option("--pairs", options.ab.pairs, "maximum number of processes of each build")
      ->check(CLI::Range(10, 1000))
      ->capture_default_str();
  add_tolerance(*ab, words);
}

void add_gate(CLI::App& app, Words& words) {
  CLI::App* gate = app.add_subcommand("gate", "measure, and compare with the baselines");
  add_rows(*gate, words);
  add_measuring(*gate, words);
  add_baselines(*gate, words);
  gate->add_flag("--changed", words.options.changed,
                 "list the operations whose costs must be counted again")
      ->needs(add_cost(*gate, words));
  add_strict(*gate, words);
  add_shard(*gate, words, kShard);
  gate->add_option("--confirm", words.confirm,
                   "auto: build the baseline's commit and measure both builds interleaved; never "
                   "(default): only report suspects (also KERNELGRADE_CONFIRM)")
      ->check(CLI::IsMember({"auto", "never"}));
  add_import(*gate, words);
}

void add_bless(CLI::App& app, Words& words) {
  Options& options = words.options;
  CLI::App* bless = app.add_subcommand("bless", "measure, and make the result the baseline");
  add_rows(*bless, words);
  add_measuring(*bless, words);
  add_baselines(*bless, words);
  add_cost(*bless, words);
  add_strict(*bless, words);
  add_shard(*bless, words, "refused: a baseline is measured whole");
  bless->add_option("--why", options.bless.why, "the reason for the change, for reviewers")
      ->type_name("TEXT");
  bless->add_flag("--accept-bimodal", options.bless.accept_bimodal,
                  "also bless rows whose samples have two modes");
  bless->add_flag("--remove-orphans", options.bless.remove_orphans,
                  "drop rows whose case no longer exists");
  bless->add_option("--status", words.status, "how the gate treats the rows from now on")
      ->check(CLI::IsMember({"gate", "info", "xfail"}));
  add_tolerance(*bless, words);
  add_stored(*bless, words, "--from",
             "measure nothing; bless the rows in these files of `run --json`, from any machine")
      ->excludes("--remove-orphans")
      ->excludes("--cost");
}

void add_doctor(CLI::App& app, Words& words) {
  CLI::App* doctor = app.add_subcommand("doctor", "check the installation, and print what to fix");
  doctor->add_option("--device", words.options.device, "the GPU's number, or the device's name")
      ->type_name("NAME");
  add_baselines(*doctor, words);
}

void add_ceilings(CLI::App& app, Words& words) {
  Options& options = words.options;
  CLI::App* ceilings =
      app.add_subcommand("ceilings", "measure this device's peak memory and arithmetic throughput");
  ceilings->add_option("--device", options.device, "the GPU's number, or the device's name")
      ->type_name("NAME");
  ceilings->add_flag("--write", options.write, "write them to device.json of the baselines");
  add_baselines(*ceilings, words);
  add_strict(*ceilings, words);
}

void add_resources(CLI::App& app, Words& words) {
  Options& options = words.options;
  CLI::App* resources = app.add_subcommand(
      "resources",
      "compare registers, spills, occupancy and scalarized accesses with the baselines");
  add_word_list(*resources, "--op", words.filter.filter.ops, "operations, such as gemm,softmax");
  resources->add_option("--json", options.json, "write the resources to this file")
      ->type_name("FILE");
  resources
      ->add_option(
          "--compiled", options.compiled,
          "folder of the build's compiled kernels (default: resources/ next to the program)")
      ->type_name("FOLDER");
  add_baselines(*resources, words);
  add_strict(*resources, words);
  resources->add_flag("--changed", options.changed,
                      "list the operations that must be compiled again");
  resources->add_flag("--bless", options.bless.resources, "make the resources the baseline");
  resources
      ->add_option("--why", options.bless.why, "--bless: the reason for the change, for reviewers")
      ->type_name("TEXT");
  resources->add_flag("--remove-orphans", options.bless.remove_orphans,
                      "--bless: drop kernels that no longer exist");
}

void add_report(CLI::App& app, Words& words) {
  Options& options = words.options;
  CLI::App* report = app.add_subcommand("report", "judge stored measurements, and write a report");
  add_rows(*report, words);
  add_baselines(*report, words);
  add_strict(*report, words);
  report->add_option("files", options.files,
                     "JSON files of run, gate, resources, ab, correctness tests or mutants; or one "
                     "file of a study");
  report
      ->add_option(
          "--tests", options.report.tests,
          "output of ctest --show-only=json-v1 before the tests ran; each test must have passed "
          "or been skipped")
      ->type_name("FILE")
      ->allow_extra_args(false); // files may follow
  report
      ->add_option("--junit", options.report.junit,
                   "the JUnit file that ctest then wrote, one for each --tests")
      ->type_name("FILE")
      ->allow_extra_args(false);
  report
      ->add_option("--of", options.report.all_ops,
                   "number of operations in the whole suite, if the build has only some")
      ->check(CLI::Range(1, 100000));
  report->add_option("--out", options.report.folder, "folder to write to")->default_val("report");
  report->add_option("--keep", options.report.keep, "number of runs to keep in runs/ of the folder")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
#if KERNELGRADE_HISTORY
  report
      ->add_option("--history", options.report.history,
                   "show rows over commits, from the database of `history import`")
      ->type_name("FILE");
#endif
}

void add_study_command(CLI::App& app, Words& words) {
  Options& options = words.options;
  CLI::App* study = add_study(app, options);
  study->add_option("--device", options.device, "the GPU's number, or the device's name")
      ->type_name("NAME");
  study->add_option("--source-id", options.source_id, "name of the source if there is no git")
      ->type_name("ID");
  study->add_option("--processes", words.processes, "fresh processes to measure in (default: 1)")
      ->check(CLI::Range(1, 100));
  add_shard(*study, words, "measure only part I of N, case by case; `merge` joins the parts");
  add_row_timeout(*study, words);
  study->add_flag("--quiet", options.quiet, "print no progress");
  add_strict(*study, words);
}

void add_merge(CLI::App& app, Words& words) {
  Options& options = words.options;
  CLI::App* merge = app.add_subcommand("merge", "join stored measurements into one file");
  merge
      ->add_option("files", options.files,
                   "JSON files of run, gate or resources; or all parts of a study")
      ->required();
  merge->add_option("--json", options.json, "file to write")->type_name("FILE")->required();
}

void add_choose(CLI::App& app, Words& words) {
  Options& options = words.options;
  CLI::App* choose = app.add_subcommand(
      "choose",
      "write the table from which a kernel's `automatic` variant chooses the fastest one");
  choose->add_option("files", options.files, "JSON files of run or gate, or one file of a study")
      ->required();
  choose->add_option("--op", options.choose.op, "operation, if the files hold several");
  choose->add_option("--mode", options.choose.mode, "mode, if the files hold several")
      ->check(CLI::IsMember({"cold", "hot", "graph", "real"}));
  choose->add_option("--out", options.choose.table,
                     "file to write (default: kernels/ops/OP/choices.inc)");
}

#if KERNELGRADE_HISTORY
void add_history(CLI::App& app, Words& words) {
  Options& options = words.options;
  CLI::App* history = app.add_subcommand("history", "show rows over commits, from kept reports");
  history
      ->add_option("action", options.history.action,
                   "import report.json files, show rows, or plot them")
      ->check(CLI::IsMember({"import", "show", "plot"}))
      ->required();
  history->add_option("files", options.files, "import: the report.json files");
  history->add_option("--db", options.history.file, "database (SQLite)")
      ->type_name("FILE")
      ->default_val("report/history.sqlite");
  history
      ->add_option("--keep", options.history.most_runs,
                   "import: keep only the newest N runs (default: all)")
      ->check(CLI::Range(1, 1000000));
  history->add_option("--case", options.history.case_part,
                      "show, plot: only cases whose id contains this text");
  history->add_option("--variant", options.history.variant, "show, plot: only this variant");
  history->add_option("--out", options.history.pictures, "plot: folder for the SVG files")
      ->default_val("report/history");
}
#endif

void add_profile(CLI::App& app, Words& words) {
  Options& options = words.options;
  CLI::App* profile = app.add_subcommand(
      "profile", "show what limits each kernel: time, memory costs or compiled code");
  add_rows(*profile, words);
  CLI::Option* cost = add_cost(*profile, words);
  CLI::Option* sass =
      profile
          ->add_flag(
              "--sass", options.profile.sass,
              "analyse compiled code line by line: bytes in flight, instructions, divisions; "
              "needs no GPU")
          ->excludes(cost);
  CLI::Option* enqueue =
      profile
          ->add_flag("--enqueue", options.profile.enqueue,
                     "what one execution costs the caller without its kernels: parsed shapes, time "
                     "and launches, per operation")
          ->excludes(cost)
          ->excludes(sass);
  profile->add_option("--arch", options.arch, "--sass: architecture (default: sm_90a)")
      ->type_name("ARCH")
      ->needs(sass);
  profile
      ->add_option("--gpu", options.profile.gpu, "the GPU that is modelled (default: nvidia-h200)")
      ->type_name("NAME");
  CLI::Option* counts = profile
                            ->add_option("--counts", options.profile.counts,
                                         "lower bounds on the times of a program's launches, from "
                                         "the file of emulate --counts")
                            ->type_name("FILE")
                            ->excludes(cost)
                            ->excludes(enqueue)
                            ->excludes(sass);
  profile
      ->add_option("--cubin", options.profile.cubin,
                   "--counts: the program's kernels, compiled by nvcc -cubin -lineinfo for the GPU")
      ->type_name("FILE")
      ->needs(counts);
  profile
      ->add_flag("--minimum", options.profile.minimum,
                 "--cost: one table of each row's costs and their theoretical minimum")
      ->needs(cost);
  profile
      ->add_option("--compiled", options.compiled,
                   "folder of fat binaries: those to compare with (--cost), or the build's "
                   "(--sass; default: "
                   "resources/ next to the program)")
      ->type_name("FOLDER");
  profile->add_option("--device", options.device, "the GPU's number, or the device's name")
      ->type_name("NAME");
  profile->add_option("--runs", options.profile.runs, "timed executions of each row")
      ->check(CLI::Range(1, 10000))
      ->default_val(10);
  profile->add_option("--top", options.profile.top, "number of kernels to list over all rows")
      ->check(CLI::Range(0, 10000))
      ->default_val(10);
  profile->add_option("--source-id", options.source_id, "name of the source if there is no git")
      ->type_name("ID");
  profile->add_option("--json", options.json, "write the profile to this file")->type_name("FILE");
  profile->add_flag("--quiet", options.quiet, "print no tables");
  add_strict(*profile, words);
}

void add_compare(CLI::App& app, Words& words) {
  Options& options = words.options;
  CLI::App* compare = app.add_subcommand("compare", "compare two stored measurements");
  CLI::Option* files = compare
                           ->add_option("files", options.files,
                                        "two result files of run, gate, merge or another tool")
                           ->expected(2);
  compare
      ->add_option("--model", options.compare.model,
                   "compare modelled times with the GPU times in this file")
      ->excludes(files);
  compare
      ->add_option(
          "--hardware", options.compare.hardware,
          "compare counted costs with Nsight Compute CSV files; the file of run --once --json must "
          "be next to each")
      ->type_name("FILE")
      ->excludes(files);
  compare
      ->add_option("--ladders", options.compare.ladders,
                   "compare modelled bounds with published times, in a file such as "
                   "`perf/code/timing_model/ladders.csv`")
      ->type_name("FILE")
      ->excludes(files);
  compare->add_option("--tol", options.tol_pct, "tolerated slowdown in percent")->check(percent());
  compare->add_option("--json", options.json, "write the comparison to this file")
      ->type_name("FILE");
  compare->add_flag("--across-devices", options.compare.across_devices,
                    "show measurements of different devices side by side; none fails");
  compare->add_flag("--markdown", options.compare.markdown, "print Markdown");
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
