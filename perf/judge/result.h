// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What one process measured, and the JSON in which it hands that to another: `--json FILE` writes a
// run, others merge and judge it. All samples are kept; whatever is concluded can be concluded
// again.
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

// The tag of a row that was slowed down on purpose. It cannot be blessed.
inline constexpr const char* kInjectedTag = "injected";

// The tag of a row whose shape no operation lists. It cannot be blessed either.
inline constexpr const char* kUnlistedTag = "unlisted";

// The tag of a row that was not timed by itself; its value says beside what: "interleaved with
// cublas".
inline constexpr const char* kProtocolTag = "protocol";

// The tag of a row during which the device was held back; its value says by what.
inline constexpr const char* kThrottledTag = "throttled";

// And during which others ran on it; its value says who.
inline constexpr const char* kForeignTag = "foreign_processes";

// The canary that ran beside a row, in the same process.
struct MeasuredCanary {
  CanaryKind kind = CanaryKind::memory;
  double median_ns = 0;
  double half_width = 0; // of the interval of its median, as a share of the median

  friend bool operator==(const MeasuredCanary&, const MeasuredCanary&) = default;
};

// The greatest half width that is kept. Far below it a canary already says that nothing could be
// judged beside it (limits.h); busy machines were seen at 1.1 and at 10.5. More is refused where it
// is read, as no run writes it.
inline constexpr double kWidestCanary = 10;

// Of one process, from its times in nanoseconds, one at least.
MeasuredCanary measured_canary(CanaryKind kind, std::span<const double> ns);

// One row as measured. Times in nanoseconds.
struct Measured {
  std::string op;
  std::string dtype;
  RowKey key;
  std::string category; // "softmax", "linear_algebra", ... under which the summary counts it
  Kind kind = Kind::ours;
  std::vector<double> samples_ns; // all of them, in the order taken
  double median_ns = 0;
  Interval ci_ns;
  std::vector<double> process_medians_ns; // one per fresh process
  // Of a process that took turns with others: the median of each of its turns.
  std::vector<double> turn_medians_ns;
  std::optional<MeasuredCanary> canary;
  double bytes = 0;
  double written = 0; // of the bytes; 0: not known
  double flops = 0;
  // What comes before the steady times: allocating and filling, the first execution in its process,
  // and compiling at run time, which is part of those two in the process that fills the compiler's
  // cache. Medians of processes; 0: not known, or for jit_ns that nothing is compiled.
  double setup_ns = 0;
  double first_call_ns = 0;
  double jit_ns = 0;
  double peak_bytes = 0; // the most device memory that the row held at once; 0: not known
  std::string identity;  // of the machine code and its launches, of a vendor's row its library and
                         // version; empty where it is not known
  std::string verified;  // empty: the output was right. Otherwise what was wrong with it
  std::string skipped;   // not empty: why it was not measured; then there are no samples
  std::string note;
  // Whatever else was seen: clocks, throttling, library versions.
  std::map<std::string, std::string> tags;

  friend bool operator==(const Measured&, const Measured&) = default;
};

// Gives the row the samples of one process, their median and its interval.
void take_samples(Measured& row, std::vector<double> samples_ns);

// The part of a selection that a run was given; the parts 1 to `count` make the whole.
struct Shard {
  std::size_t index = 1;
  std::size_t count = 1;
  std::string whole; // hash of all rows of the selection, so that parts of two are not joined

  friend bool operator==(const Shard&, const Shard&) = default;
};

struct Results {
  std::map<std::string, std::string> environment; // device, compiler, flags, driver, commit, ...
  std::vector<Measured> rows;
  // What is not timed but counted, where it was: costs on the executor, and what kernels take when
  // they are compiled, by architecture and toolkit ("sm_90a-cuda13.0").
  std::vector<ExactMeasured> costs = {};
  std::map<std::string, std::vector<ExactMeasured>> resources = {};
  std::optional<Shard> shard = {}; // none: the run was not divided
};

// One run of many. Rows with the same key were measured by fresh processes: their samples are
// pooled, their process medians set side by side (scaled to the median of their canaries), and the
// row's median is the median of those, since samples of one process are no replicates of it. Throws
// kg::Error when environments or descriptions of a row contradict each other.
Results merge(std::span<const Results> runs);

std::string to_json(const Results& run);
Results results_from_json(std::string_view contents, const std::string& file);

void save_results(const std::filesystem::path& path, const Results& run);
Results load_results(const std::filesystem::path& path);

} // namespace kg::judge
