// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The command line, parsed and checked as far as possible without knowing the operations.
#pragma once

#include "perf/cli/candidate/ptx_source.h"
#include "perf/judge/row.h"
#include "perf/measure/sampling.h"
#include "perf/report/kept_runs.h"
#include "runtime/error.h"

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace kg::cli {

inline constexpr int kExitUsage = 2;

// Wrong usage of the command; nothing has been done.
class UsageError : public Error {
 public:
  using Error::Error;
};

// Selects the rows that match a word of each list that is not empty.
struct Filter {
  std::vector<std::string> ops;
  std::vector<std::string> categories;
  std::vector<std::string> dtypes;
  std::vector<std::string> shapes;
  std::vector<std::string> variants;
  std::vector<std::string> modes;
  bool fast = false; // only the pre-merge subset
};

// A part of the selected rows, counted from 1.
struct ShardOption {
  std::size_t index = 1;
  std::size_t count = 1;
};

// --- Options of a single command

struct AbOptions {
  std::string base;       // the reference, as git names it
  std::size_t pairs = 40; // processes of each build at the second interim analysis
};

struct BlessOptions {
  std::string why;
  bool accept_bimodal = false;
  bool remove_orphans = false;
  std::optional<judge::Status> status;
  bool resources = false; // `resources --bless`
};

struct SelftestOptions {
  std::vector<std::string> experiments;
  std::size_t checks = 0;
  double minutes = 0;
  std::size_t batches_per_bless = 4;
  std::filesystem::path samples;     // folder; empty: not written
  std::filesystem::path calibration; // the file to write
  std::vector<std::filesystem::path> pooled, compared;
  std::size_t load_processes = 0; // 0: one per core
  bool busy = false;
};

struct ReportOptions {
  std::filesystem::path folder;
  std::vector<std::filesystem::path> tests, junit; // CTest's test lists and results
  std::size_t all_ops = 0;                         // of all builds; 0: those of this build
  std::size_t keep = report::kMostKept;            // runs kept below it
  std::filesystem::path history; // SQLite file with the rows' history for the report; empty: none
};

struct CompareOptions {
  std::vector<std::filesystem::path> hardware; // ncu's output for run --once
  std::filesystem::path ladders; // published times to check bounds against; empty: compare files
  std::filesystem::path model;   // measured rows to check the model against; empty: compare files
  bool across_devices = false;
  bool markdown = false;
};

struct ProfileOptions {
  std::string gpu;                     // to model; empty: kModelledGpu
  bool sass = false;                   // ptxas' code instead of times
  bool enqueue = false;                // the caller's time per execution
  std::filesystem::path counts, cubin; // of a program's launches and kernels; empty: our rows
  bool minimum = false;                // --cost: a line per row, with the theoretical minimum
  int runs = 0;                        // timed executions of each row
  int top = 0;                         // kernels listed across rows
};

struct StudyOptions {
  std::string name;
  std::map<std::string, std::string> settings; // those given
  bool commit = false;
  std::optional<std::string> resume; // none: start a new one; empty: the newest unfinished file
  std::filesystem::path folder = "report/studies";
};

struct HistoryOptions {
  std::string action; // import, show or plot
  std::filesystem::path file;
  std::size_t most_runs = 0;      // import: runs to keep in the file; 0: all
  std::filesystem::path pictures; // plot: output folder
  std::string case_part, variant; // empty: all
};

struct ChooseOptions {
  std::string op, mode;        // empty: the only one
  std::filesystem::path table; // empty: the operation's
};

struct TryOptions {
  std::string op;
  std::filesystem::path candidate;          // CUDA source or PTX
  std::vector<std::string> dtypes;          // empty: those with functions in the library
  std::vector<std::string> shapes;          // in addition to the conformance tests'
  std::vector<std::string> without;         // conformance tests to omit
  std::vector<std::string> compile_options; // of the compiler
  candidate::PtxLaunch launch;              // of PTX
  bool signature = false;
  bool huge = false;              // also test beyond 2^32 elements
  std::optional<double> max_cost; // limit as a multiple of the minimum; none: costs never fail
  std::filesystem::path html;     // empty: not written
};

struct PeersOptions {
  std::vector<std::string> names; // the frameworks
  std::string python;             // empty: KERNELGRADE_PYTHON, else python3
  std::filesystem::path folder;   // for inputs and results; empty: a temporary one
  bool alone = false;             // without this build's own rows and libraries
};

struct EmulateOptions {
  std::vector<std::string> program; // with its arguments
  bool checked = false;
  bool uninitialised_loads = false;     // report uninitialised loads immediately, not at their use
  std::filesystem::path counts;         // file to write; empty: count nothing
  std::filesystem::path json, coverage; // files to write, unless empty
};

struct Options {
  std::string command;
  std::vector<Filter> filters; // at least one; a row is selected if any matches
  std::string device;          // the GPU's number, or the required device name; empty: any
  bool strict = false;         // --strict or KERNELGRADE_STRICT=1
  bool require_gpu = false;    // KERNELGRADE_REQUIRE_GPU=1
  std::filesystem::path json;  // empty: not written
  std::filesystem::path baselines;
  std::string source_id; // empty: ask git
  int processes = 1;
  std::optional<int> library_processes; // for library rows that are not interleaved; none: as many
  std::optional<ShardOption> shard;     // none: the complete selection
  perf::Pace pace = perf::Pace::full;   // KERNELGRADE_BRIEF=1: brief
  unsigned shuffle = 0;                 // seed of the measuring order; 0: as listed
  bool quiet = false;
  bool resume_run = false;       // run: keep the rows in --json and measure the rest
  bool once = false;             // run: execute and check each row once, without timing
  bool ascii = false;            // write ASCII characters only
  double row_timeout_s = 120;    // a slower row is killed with its process
  bool in_process = false;       // measure in this process, without that isolation
  std::filesystem::path journal; // where a process started by measure_in_processes writes its rows

  bool confirm = false; // gate: measure suspicious rows side by side with their reference

  // bless, ab
  std::optional<double> tol_pct;
  bool cost = false; // the kernels' costs counted on the executor, instead of times

  // resources, profile --sass: the build's folder of compiled kernels; empty: next to the command.
  // profile --cost: the folder of one architecture; empty: only g++'s code
  std::filesystem::path compiled;
  bool changed = false;        // resources, gate --cost: name the ops to compile or count
  std::string arch = "sm_90a"; // try: architecture for registers and spills; also profile --sass

  bool write = false; // ceilings: write into device.json
  // list: instead of cases
  bool list_models = false; // language models
  bool list_shares = false; // operations, with the ratio of minimum to cost

  // report, merge and compare: inputs; gate: results to judge instead of measuring
  std::vector<std::filesystem::path> files;
  std::filesystem::path baseline; // baseline for imported results; empty: the CSV files

  AbOptions ab;
  BlessOptions bless;
  SelftestOptions selftest;
  ReportOptions report;
  CompareOptions compare;
  ProfileOptions profile;
  StudyOptions study;
  HistoryOptions history;
  ChooseOptions choose;
  TryOptions attempt; // try
  EmulateOptions emulated;
  PeersOptions peers;
};

// The help text, if the command line asks for it.
struct Help {
  std::string text;
};

struct Parsed {
  Options options;
  std::optional<Help> help;
};

// Throws UsageError.
Parsed parse(const std::vector<std::string>& arguments, const std::filesystem::path& baselines);

} // namespace kg::cli
