// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The command line, parsed and checked as far as it can be without knowing the operations.
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

// The command was called wrongly; nothing has been done.
class UsageError : public Error {
 public:
  using Error::Error;
};

// Which rows: those that match one word of each list that is not empty.
struct Filter {
  std::vector<std::string> ops;
  std::vector<std::string> categories;
  std::vector<std::string> dtypes;
  std::vector<std::string> shapes;
  std::vector<std::string> variants;
  std::vector<std::string> modes;
  bool fast = false; // only the pre-merge subset
};

// Which of so many parts of the selected rows, from 1.
struct ShardOption {
  std::size_t index = 1;
  std::size_t count = 1;
};

// --- What one command alone takes

struct AbOptions {
  std::string base;       // the reference, as git names it
  std::size_t pairs = 40; // processes of each build at the second look
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
  std::vector<std::filesystem::path> tests, junit; // CTest's lists of tests, and its results
  std::size_t all_ops = 0;                         // that there are; 0: those of the build
  std::size_t keep = report::kMostKept;            // runs below it
  std::filesystem::path history; // SQLite file whose rows the report shows; empty: none
};

struct CompareOptions {
  std::vector<std::filesystem::path> hardware; // what ncu read of run --once
  std::filesystem::path ladders; // published times to hold bounds to; empty: compare files
  std::filesystem::path model;   // measured rows to hold the model to; empty: compare files
  bool across_devices = false;
  bool markdown = false;
};

struct ProfileOptions {
  std::string gpu;                     // that the model is asked about; empty: kModelledGpu
  bool sass = false;                   // what ptxas made, not times
  bool enqueue = false;                // what an execution takes the caller
  std::filesystem::path counts, cubin; // of a program's launches and kernels; empty: rows of ours
  bool minimum = false; // --cost: a line per row, beside the least that it could cost
  int runs = 0;         // timed executions of each row
  int top = 0;          // kernels listed across rows
};

struct StudyOptions {
  std::string name;
  std::map<std::string, std::string> settings; // those given
  bool commit = false;
  std::optional<std::string> resume; // none: begin a new one; empty: the newest unfinished file
  std::filesystem::path folder = "report/studies";
};

struct HistoryOptions {
  std::string action; // import, show or plot
  std::filesystem::path file;
  std::size_t most_runs = 0;      // import: that the file keeps; 0: all
  std::filesystem::path pictures; // plot: the folder for them
  std::string case_part, variant; // empty: all
};

struct ChooseOptions {
  std::string op, mode;        // empty: the only one
  std::filesystem::path table; // empty: the operation's
};

struct TryOptions {
  std::string op;
  std::filesystem::path candidate;          // the CUDA source, or PTX
  std::vector<std::string> dtypes;          // empty: those of which it has functions
  std::vector<std::string> shapes;          // besides those of the contract
  std::vector<std::string> without;         // tests of the contract
  std::vector<std::string> compile_options; // of the compiler
  candidate::PtxLaunch launch;              // of PTX
  bool signature = false;
  bool huge = false;              // also beyond 2^32 elements
  std::optional<double> max_cost; // times the least; none: costs fail nothing
  std::filesystem::path html;     // empty: not written
};

struct PeersOptions {
  std::vector<std::string> names; // the frameworks
  std::string python;             // empty: KERNELGRADE_PYTHON, else python3
  std::filesystem::path folder;   // for inputs and results; empty: one that is removed
  bool alone = false;             // without this build's own rows and libraries
};

struct EmulateOptions {
  std::vector<std::string> program; // with its arguments
  bool checked = false;
  bool uninitialised_loads = false;     // reported at once, not where their values are used
  std::filesystem::path counts;         // to write; empty: count nothing
  std::filesystem::path json, coverage; // to write, where not empty
};

struct Options {
  std::string command;
  std::vector<Filter> filters; // at least one; a row is selected if any matches
  std::string device;          // the GPU's number, or the name the device must have; empty: any
  bool strict = false;         // --strict or KERNELGRADE_STRICT=1
  bool require_gpu = false;    // KERNELGRADE_REQUIRE_GPU=1
  std::filesystem::path json;  // empty: not written
  std::filesystem::path baselines;
  std::string source_id; // empty: ask git
  int processes = 1;
  std::optional<int> library_processes; // of a library's rows that take no turns; none: as many
  std::optional<ShardOption> shard;     // none: all of the selection
  perf::Pace pace = perf::Pace::full;   // KERNELGRADE_BRIEF=1: brief
  unsigned shuffle = 0; // seed of the order in which rows are measured; 0: as listed
  bool quiet = false;
  bool resume_run = false;       // run: keep what --json holds, and measure the rest
  bool once = false;             // run: execute and check each row once, and time nothing
  bool ascii = false;            // write no other characters
  double row_timeout_s = 120;    // a row that takes longer is killed with its process
  bool in_process = false;       // measure in this process, without that protection
  std::filesystem::path journal; // where a process started by measure_in_processes writes its rows

  bool confirm = false; // gate: suspicious rows are measured beside their reference

  // bless, ab
  std::optional<double> tol_pct;
  bool cost = false; // what kernels cost as counted on the executor, not their time

  // resources, profile --sass: the build's folder of compiled kernels; empty: beside the command.
  // profile --cost: that of one architecture; empty: g++'s code alone
  std::filesystem::path compiled;
  bool changed = false; // resources, gate --cost: name the ops that must be compiled or counted
  std::string arch = "sm_90a"; // try: that registers and spills are shown for; profile --sass, too

  bool write = false; // ceilings: into device.json
  // list: in place of cases
  bool list_models = false; // language models
  bool list_shares = false; // operations, and how near to their minima they are

  // report, merge and compare; the results to gate in place of measuring
  std::vector<std::filesystem::path> files;
  std::filesystem::path baseline; // results to gate the imported ones against; empty: the CSV files

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

// Where the command line asks for help: its text.
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
