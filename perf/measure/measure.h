// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Timing one workload in one mode, checked for a right result before and after.
#pragma once

#include "perf/judge/row.h"
#include "perf/measure/sampling.h"
#include "perf/measure/suite.h"
#include "runtime/launch.h"

#include <functional>
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
  std::function<double(Kind)> canary_ns; // runs that canary, per launch
  std::function<void(Stream&)> flush;    // empties the L2; for Mode::cold alone
  std::function<std::string()>
      cold_problem; // empty where the flush is proved, else why cold times would be wrong
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
  std::vector<double> samples_ns; // per execution
  std::vector<double> canaries_ns;
  judge::Stop stop = judge::Stop::no;
  bool settled = false;
  int batch = 1;                      // executions per sample
  std::vector<LaunchRecord> launches; // of one execution
  std::string problem; // empty: the row is valid. Otherwise why it is not; then nothing may be
                       // called a time
};

// Never throws for a fault of the workload: that is a problem of its row and must not cost the
// others theirs.
Measurement measure(const std::function<Workload()>& make, Kind kind, Mode mode,
                    Apparatus& apparatus);

} // namespace kg::perf
