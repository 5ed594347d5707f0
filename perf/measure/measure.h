// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Times one workload in one mode, and verifies its result before and after.
#pragma once

#include "perf/judge/row.h"
#include "perf/measure/sampling.h"
#include "perf/measure/suite.h"
#include "runtime/launch.h"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace kg::perf {

using judge::Mode;

// The modes that this backend can time. Host: only real, since the caller's time is the device's.
const std::vector<Mode>& available_modes();

// The device's functions that measuring needs.
struct Instruments {
  Clock now;
  // Runs a canary of this kind; ns per launch. Empty if times are not normalized by canaries.
  std::function<double(Bound)> canary_ns;
  std::function<void(Stream&)> flush; // empties the L2; for Mode::cold only
  std::function<std::string()>
      cold_problem; // why cold times would be wrong; empty if the flush is proved to work
  std::function<double(Graph&)> graph_ns; // device time of one launch; for Mode::graph only
  std::function<double()> empty_node_ns;  // device time of an empty kernel in a graph; likewise
  std::function<void(double ns, Stream&)> spin; // keeps the device busy; for injected slow-downs
  // The device's error; empty while it works. After some faults of a kernel, nothing runs on the
  // device any more in the same process.
  std::function<std::string()> device_problem;
  // throttled: empty if unknown. pass_turn: empty if this process is not interleaved with others.
  // rest: waits, on a device that can be throttled.
  BetweenBlocks between_blocks = {};
  std::size_t device_bytes = 0; // the device's memory
};

// A device made ready to measure.
struct Apparatus {
  virtual ~Apparatus() = default;
  Stream stream;
  Protocol protocol;
  Instruments instruments;
};

struct Measurement {
  std::string variant;            // what ran
  std::vector<double> samples_ns; // per execution; in Mode::graph noise may make some negative
  std::vector<double> canaries_ns;
  std::vector<double> block_medians_ns;
  judge::Stop stop = judge::Stop::no;
  bool settled = false;
  int batch = 1;                       // executions per sample
  std::optional<double> empty_node_ns; // beside a row in Mode::graph
  std::vector<LaunchRecord> launches;  // of one execution
  bool repeated = false;    // measured again, because the device was throttled the first time
  std::string throttled_by; // the reason, if more than one in twenty of these blocks were throttled
  std::vector<std::string> interleaved_with; // the variants with which its blocks were interleaved
  std::string problem; // why the row is invalid, and its samples are not times; empty if valid
  std::string skipped; // why the row cannot be timed in this mode; may be empty
  // Set-up, and the first execution in this process. Each may include compiling.
  double setup_ns = 0;
  double first_call_ns = 0;
  double compile_ns = 0;
  std::optional<double> worst_error; // as in Workload
  std::size_t peak_bytes = 0;        // the row's peak device memory
  bool oversubscribed = false;       // peak_bytes exceeds the device's memory
  bool out_of_memory = false;        // the problem is that an allocation failed
  bool abandoned = false;            // not measured, since another row left the device unusable
};

// Tag of a row: Measurement::worst_error, if known.
inline constexpr const char* kWorstErrorTag = "worst_error";
// Tag of our rows: the variant that `automatic` selects for the case.
inline constexpr const char* kAutomaticTag = "automatic";

// A row to measure. `injected` is the share by which each timed execution is slowed down
// (injection.h). 0 takes the same path without a delay: the extra stack frame alone once made a row
// a third faster.
struct Candidate {
  std::function<Workload()> make;
  Bound kind;
  std::optional<double> injected = {};
};

// Reports a fault of the workload as Measurement::problem instead of throwing, so that other rows
// can still be measured.
Measurement measure(const std::function<Workload()>& make, Bound kind, Mode mode,
                    Apparatus& apparatus, std::optional<double> injected = {});

// Measures variants of one case with interleaved blocks, so that a drift of the clock affects all
// variants equally and cancels in their ratio. If they do not fit into device memory together, they
// are measured one after another. `begins` is called with a row's index before its set-up.
std::vector<Measurement> measure_interleaved(const std::vector<Candidate>& rows, Mode mode,
                                             Apparatus& apparatus,
                                             const std::function<void(std::size_t)>& begins = {});

} // namespace kg::perf
