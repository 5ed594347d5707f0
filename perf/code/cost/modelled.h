// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Computes the modelled time (perf/code/timing_model/model.h) of each launch from its counts.
#pragma once

#include "perf/code/resources/occupancy.h"
#include "perf/code/timing_model/model.h"
#include "perf/judge/exact_table.h"
#include "runtime/host/count/counts.h"
#include "runtime/work.h"

#include <limits>
#include <map>
#include <string>
#include <vector>

namespace kg::cost {

// Resources of a kernel compiled for a GPU.
struct Taken {
  int registers = 0;     // per thread
  int static_shared = 0; // bytes per block
  // Instructions per KiB moved, or per matrix instruction (perf/code/sass/columns.h). NaN: unknown.
  double issue_slots = std::numeric_limits<double>::quiet_NaN();
};
using TakenByKernel = std::map<std::string, Taken>; // by count::Launch::kernel

// From a row of judge::resource_table().
Taken taken_of(const judge::ExactRow& row);

struct ModelledLaunch {
  std::string kernel;
  bool compiled = false; // registers and static shared memory are known
  bool fits = false;     // a block fits into a multiprocessor; otherwise there is no time
  resources::LaunchResources takes; // per block
  model::Costs costs;
  model::Modelled modelled;
};

// The costs of a launch with this number of resident blocks per multiprocessor. `issue_slots` is
// that of its kernel (Taken).
model::Costs costs_of(const count::Launch& launch, double resident_blocks, double issue_slots,
                      const model::Gpu& gpu);

// Models each launch. Uses `work` only for a single launch, since the division of its operations
// among several launches is unknown. All operations are taken as f32.
std::vector<ModelledLaunch> modelled(const std::vector<count::Launch>& launches, const Work& work,
                                     const model::Gpu& gpu, const TakenByKernel& taken);

// A table of the launches' times with their sum, and a list of what was unknown.
std::string modelled_text(const std::vector<count::Launch>& launches, const Work& work,
                          const model::Gpu& gpu, const TakenByKernel& taken);

} // namespace kg::cost
