// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A row's lower bound on time as graded metrics: the minimum time of its launches on a GPU
// (perf/code/timing_model/model.h). Kernels size their grids for the emulator's virtual device, so
// the model uses an equal number of a real GPU's multiprocessors.
#pragma once

#include "perf/code/cost/metrics.h"
#include "perf/code/cost/modelled.h"

#include <string>
#include <string_view>
#include <vector>

namespace kg::cost {

// bound_metrics() covers all launches of one execution, in sequence. Lower is better for:
//   bound_ns.<gpu>       the model's time; minimum: one launch plus work.bytes at copy bandwidth
//   serial_round_trips   dependent memory waits: those of a block, times the waves of blocks,
//                        summed over launches
// The others are informational and show how grids fill the GPU:
//   waves                blocks divided by those that fit at once
//   resident_blocks      per multiprocessor, for the launch with the fewest
// `gpu` is a part of a GPU (model::part_of). A launch whose block exceeds a multiprocessor is a
// fault of all four metrics.
// informs(): whether the metric of this name is informational.
bool informs(std::string_view metric);

std::vector<Metric> bound_metrics(const std::vector<count::Launch>& launches, const Work& work,
                                  const model::Gpu& gpu, const TakenByKernel& taken);

} // namespace kg::cost
