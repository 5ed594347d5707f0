// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The bound of a row as figures that are graded: what its launches, with their grids, take of a GPU
// at the least (perf/code/timing_model/model.h). Kernels size their grids by the device, here the
// executor's virtual one, so the GPU is as many multiprocessors of a real one.
#pragma once

#include "perf/code/cost/metrics.h"
#include "perf/code/cost/modelled.h"

#include <string>
#include <string_view>
#include <vector>

namespace kg::cost {

// Of all launches of one execution, one after the other. Less is better of
//   bound_ns.<gpu>       the model's time; at the least one launch, and work.bytes at a copy's rate
//   serial_round_trips   waits for memory one behind the other: of each launch a block's, for each
//                        wave of blocks
// Others inform, and say how grids fill the GPU:
//   waves                blocks over those that fit at once
//   resident_blocks      on a multiprocessor, of the launch with fewest
// `gpu` is a part of one (model::part_of). A launch whose block does not fit a multiprocessor is
// the fault of all four.
// Whether a metric of that name is one that informs.
bool informs(std::string_view metric);

std::vector<Metric> bound_metrics(const std::vector<count::Launch>& launches, const Work& work,
                                  const model::Gpu& gpu, const TakenByKernel& taken);

} // namespace kg::cost
