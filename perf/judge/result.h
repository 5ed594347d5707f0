// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The measurements of one process, and their JSON form: `--json FILE` writes a run, other commands
// merge and judge it. All samples are kept, so that a verdict can be computed again.
#pragma once

#include "perf/judge/exact_table.h"
#include "perf/judge/row.h"
#include "perf/judge/statistics.h"

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kg::judge {

inline constexpr int kResultsSchema = 1;
inline constexpr double kConfidence = 0.99; // of every interval of a median

// Tag of a row that was slowed down on purpose. Such a row cannot be blessed.
inline constexpr const char* kInjectedTag = "injected";

// Tag of a row whose shape the operation does not list. Such a row cannot be blessed.
inline constexpr const char* kUnlistedTag = "unlisted";

// Tag of a row that was timed interleaved with another: "interleaved with cublas".
inline constexpr const char* kProtocolTag = "protocol";

// Tag of a row during which the device was throttled; the value is the reason.
inline constexpr const char* kThrottledTag = "throttled";

// Tag of a row during which other processes used the device; the value names them.
inline constexpr const char* kForeignTag = "foreign_processes";

// The canary measured with a row, in the same process.
struct MeasuredCanary {
  CanaryKind kind = CanaryKind::memory;
  double median_ns = 0;
  double half_width = 0; // of the median's interval, as a share of the median

  friend bool operator==(const MeasuredCanary&, const MeasuredCanary&) = default;
};

// Larger half widths are clamped to this. A canary is unhealthy far below it (limits.h); busy
// machines reached 1.1 and 10.5. Readers refuse larger values, since no run writes them.
inline constexpr double kWidestCanary = 10;

// From the times of one process in nanoseconds, at least one.
MeasuredCanary measured_canary(CanaryKind kind, std::span<const double> ns);

// One row as measured. Times in nanoseconds.
struct Measured {
  std::string op;
  std::string dtype;
  RowKey key;
  std::string category; // group in the summary: "softmax", "linear_algebra", ...
  Kind kind = Kind::ours;
  std::vector<double> samples_ns; // in the order taken
  double median_ns = 0;
  Interval ci_ns;
  std::vector<double> process_medians_ns; // one per fresh process
  // If the process was interleaved with others: the median of each of its turns.
  std::vector<double> turn_medians_ns;
  std::optional<MeasuredCanary> canary;
  double bytes = 0;
  double written = 0; // part of the bytes that is written; 0: unknown
  double flops = 0;
  bool tf32 = false; // the case lets f32 matrices be rounded to TF32
  // Costs before the steady state: allocating and filling, the first execution in a process, and
  // compiling at run time (included in the other two in the process that fills the compiler's
  // cache). Medians over processes. 0: unknown, or for jit_ns nothing to compile.
  double setup_ns = 0;
  double first_call_ns = 0;
  double jit_ns = 0;
  double peak_bytes = 0; // peak device memory of the row; 0: unknown
  std::string identity;  // hash of machine code and launches; of a library row its library and
                         // version; empty if unknown
  std::string verified;  // what was wrong with the output; empty if it was correct
  std::string skipped;   // why it was not measured; then there are no samples
  std::string note;
  // Further observations: clocks, throttling, library versions.
  std::map<std::string, std::string> tags;

  friend bool operator==(const Measured&, const Measured&) = default;
};

// Stores the samples of one process with their median and its interval.
void take_samples(Measured& row, std::vector<double> samples_ns);

// The part of a selection that a run measures; parts 1 to `count` make up the whole.
struct Shard {
  std::size_t index = 1;
  std::size_t count = 1;
  std::string whole; // hash of the whole selection; only parts of the same one are joined

  friend bool operator==(const Shard&, const Shard&) = default;
};

struct Results {
  std::map<std::string, std::string> environment; // device, compiler, flags, driver, commit, ...
  std::vector<Measured> rows;
  // Counted instead of timed: costs on the emulator, and the resources of compiled kernels by
  // architecture and toolkit ("sm_90a-cuda13.0").
  std::vector<ExactMeasured> costs = {};
  std::map<std::string, std::vector<ExactMeasured>> resources = {};
  std::optional<Shard> shard = {}; // none: the run was not divided
};

// Merges runs into one. Rows with the same key come from fresh processes: samples are pooled,
// process medians collected (scaled to the median of their canaries), and the row's median is the
// median of the process medians, since samples within one process are not independent. Throws
// kg::Error if environments or descriptions of a row contradict each other.
Results merge(std::span<const Results> runs);

std::string to_json(const Results& run);
Results results_from_json(std::string_view contents, const std::string& file);

void save_results(const std::filesystem::path& path, const Results& run);
Results load_results(const std::filesystem::path& path);

} // namespace kg::judge
