// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The timing gate: compares measured rows with committed baselines. A pure function of its
// arguments. It fails closed: a row that cannot be judged never passes, and a run that judged
// nothing fails.
//
// judge() is a screen. It marks slow rows as suspicious, and calls only gross slow-downs regressed.
// suspects.h turns suspicions into final verdicts.
#pragma once

#include "perf/judge/baseline.h"
#include "perf/judge/verdict.h"

#include <map>
#include <string>
#include <vector>

namespace kg::judge {

struct GateOptions {
  Device device = Device::host;
  bool strict = false;      // KERNELGRADE_STRICT: a test that would be skipped fails
  bool require_gpu = false; // KERNELGRADE_REQUIRE_GPU: a missing device fails
  bool filtered = false;    // the run covers part of its operations: ignore orphan rows
  // How this machine differs from the one in device.json ("cpu: ..."); empty if it matches. On a
  // different host only gross slow-downs fail.
  std::string other_machine;
  std::map<std::string, double> ceilings; // from device.json; no row may be faster (roof.h)
  // Why nothing can be measured here ("no CUDA driver"); empty if a device is available.
  std::string no_device;
};

struct GateResult {
  // The selected rows in registration order, then measured rows that are not registered.
  std::vector<RowResult> rows;
  std::vector<std::string> faults; // of files and of the run; any of them fails the gate
  std::vector<std::string> notes;  // why the whole run was skipped, or failed by strictness
  int exit_code = kExitFail;
};

// `registered` must hold every row of the operations in question, selected or not: a baseline row
// outside it is an orphan. `baselines` maps each operation to its file, existing or not.
GateResult judge(const std::vector<Measured>& measured,
                 const std::map<std::string, TimingFile>& baselines,
                 const std::vector<Registered>& registered, const GateOptions& options);

// Sets the exit code from rows and faults, and adds a note if only strictness fails the run.
void set_exit(GateResult& result, bool strict);

} // namespace kg::judge
