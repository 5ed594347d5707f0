// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Timing one workload in one mode, checked for a right result before and after.
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

// The modes that this backend can time today. Host: real alone, since there is no device time apart
// from the caller's.
const std::vector<Mode>& available_modes();

// What measuring asks of the device.
struct Instruments {
  Clock now;
  // Runs that canary, per launch; empty where nothing is measured in its units.
  std::function<double(Kind)> canary_ns;
  std::function<void(Stream&)> flush; // empties the L2; for Mode::cold alone
  std::function<std::string()>
      cold_problem; // empty where the flush is proved, else why cold times would be wrong
  std::function<double(Graph&)> graph_ns; // device time of one launch of it; for Mode::graph alone
  std::function<double()> empty_node_ns;  // of a kernel that does nothing; likewise
  std::function<void(double ns, Stream&)> spin; // takes that long; for injected slow-downs alone
  // Empty while the device works, else what it says: after some faults of a kernel nothing runs on
  // it any more in the same process.
  std::function<std::string()> device_problem;
  // throttled: empty where nobody knows. pass_turn: empty where this process measures alone. rest:
  // waits, on a device that can be throttled.
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
  bool repeated = false;    // the first time the device was throttled; these are the second samples
  std::string throttled_by; // why it was so in more than one in twenty blocks of these samples, too
  std::vector<std::string> in_turns_with; // the variants whose blocks stand between its own
  std::string problem; // empty: the row is valid. Otherwise why it is not; then nothing may be
                       // called a time
  std::string skipped; // why it cannot be timed in this mode; empty where it can
  // Of the first execution in this process, set-up apart; compiling is part of one or the other.
  double setup_ns = 0;
  double first_call_ns = 0;
  double compile_ns = 0;
  std::optional<double> worst_error; // as Workload has it
  std::size_t peak_bytes = 0;        // device memory held at once by the row, at most
  bool oversubscribed = false;       // that is more than the device has
  bool out_of_memory = false; // that is the problem: the row is too large for this device today
  bool abandoned = false;     // not measured, since a row beside it left the device unusable
};

// The tag of a row that knows it.
inline constexpr const char* kWorstErrorTag = "worst_error";
// The tag of a row of ours: the variant that `automatic` takes in its case.
inline constexpr const char* kAutomaticTag = "automatic";

// What to measure. `injected` is the share by which each timed execution is slowed down
// (injection.h). 0 takes the same path without a delay: the extra stack frame alone once made a row
// a third faster.
struct Candidate {
  std::function<Workload()> make;
  Kind kind;
  std::optional<double> injected = {};
};

// Never throws for a fault of the workload: that is a problem of its row and must not cost the
// others theirs.
Measurement measure(const std::function<Workload()>& make, Kind kind, Mode mode,
                    Apparatus& apparatus, std::optional<double> injected = {});

// Variants of one case, set up one after another and then timed block by block in turns: what the
// clock does meanwhile meets all of them alike, and cancels out of their quotient. Where they do
// not fit into the device's memory together, one after another. `begins` is called with a row's
// number before it is set up.
std::vector<Measurement> measure_in_turns(const std::vector<Candidate>& rows, Mode mode,
                                          Apparatus& apparatus,
                                          const std::function<void(std::size_t)>& begins = {});

} // namespace kg::perf
