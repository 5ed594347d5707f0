// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A model's steps, timed: what each layer and operation takes, forward and backward apart.
#pragma once

#include "models/model.h"

#include <cstdint>
#include <string>
#include <vector>

namespace kg::perf {

struct StepTime {
  models::Phase phase = models::Phase::forward;
  std::string layer, op;
  double median_ns = 0;
  double flops = 0;
  double bytes = 0;
};

// What the steps would take at the least on a GPU: of each the longer of its bytes at the rate of a
// copy and its floating-point operations at the peak of the lanes, of 16 bits of the matrix units
// (Williams et al., "Roofline", 2009).
struct Roof {
  std::string gpu = {};
  double bytes_per_s = 0, flops_per_s = 0;
  double memory_ns = 0;     // of steps that memory binds
  double arithmetic_ns = 0; // of those that arithmetic binds
};

struct ModelTimes {
  std::string name;
  std::string config = {}, dtype = "f32", device = {};
  bool executor = false; // times are the executor's own
  std::int64_t parameters = 0;
  std::string item = {};
  std::int64_t items = 0;   // in a run
  std::int64_t decoded = 0; // in a run of phase decode; 0: there is none
  std::int64_t cache_bytes = 0;
  int warm_up = 1;             // runs that are not timed
  int runs = 0;                // behind them
  std::int64_t free_bytes = 0; // of device memory, when all of the model is there
  std::vector<StepTime> steps = {};
  int skipped = 0; // updates, for gradients that were not finite at that scale of the loss
  std::vector<double> losses = {}; // of each training step
  models::MemoryUse memory = {};
  Roof roof = {}; // of one run of each phase; without a name where the GPU's figures are not known
};

struct Repeats {
  int warm_up = 1, runs = 3;
  int training_steps = 0;
};

// The steps of each phase `runs` times, after `warm_up` runs that are not timed, of a training its
// first steps. Where it trains, a run is a
// training step, and as many more as `training_steps` asks for are made; where it generates, phase
// decode runs for each token, and its times are medians of all of them. Throws Error unless memory
// was as planned.
ModelTimes measure(const models::Model& about, models::Execution& execution, Repeats repeats);

// A table for people, and JSON for programs.
std::string text(const ModelTimes& times);
std::string json(const ModelTimes& times);

} // namespace kg::perf
