// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// From what the counters counted to the model's time of each launch
// (perf/code/timing_model/model.h).
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

// What a kernel takes when it is compiled for a GPU.
struct Taken {
  int registers = 0;     // per thread
  int static_shared = 0; // bytes per block
  // Instructions for each KiB, or each matrix instruction (perf/code/sass/columns.h); NaN: not
  // known.
  double issue_slots = std::numeric_limits<double>::quiet_NaN();
};
using TakenByKernel = std::map<std::string, Taken>; // by count::Launch::kernel

// From a row of judge::resource_table().
Taken taken_of(const judge::ExactRow& row);

struct ModelledLaunch {
  std::string kernel;
  bool compiled = false; // its registers and static shared memory are known
  bool fits = false;     // a block is not more than a multiprocessor holds; else there is no time
  resources::LaunchResources takes; // a block
  model::Costs costs;
  model::Modelled modelled;
};

// Of a launch, so many of whose blocks are resident on a multiprocessor of the GPU, and whose
// kernel takes so many issue slots (Taken).
model::Costs costs_of(const count::Launch& launch, double resident_blocks, double issue_slots,
                      const model::Gpu& gpu);

// Of each launch. `work` counts only where there is one launch: how several share its operations is
// not known. Its operations are taken for f32 arithmetic.
std::vector<ModelledLaunch> modelled(const std::vector<count::Launch>& launches, const Work& work,
                                     const model::Gpu& gpu, const TakenByKernel& taken);

// A table of the launches' times and their sum, and what was not known.
std::string modelled_text(const std::vector<count::Launch>& launches, const Work& work,
                          const model::Gpu& gpu, const TakenByKernel& taken);

} // namespace kg::cost
