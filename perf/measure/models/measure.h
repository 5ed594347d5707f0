// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Times a model's steps: each layer and operation, forward and backward separately.
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

// Lower bound on the steps' time on a GPU. Each step takes the longer of two times: its bytes at
// copy bandwidth, and its flops at peak. 16-bit types use the peak of the Tensor Cores, others that
// of the FMA units (Williams et al., "Roofline", 2009).
struct Roof {
  std::string gpu = {};
  double bytes_per_s = 0, flops_per_s = 0;
  double memory_ns = 0;     // of memory-bound steps
  double arithmetic_ns = 0; // of compute-bound steps
};

struct ModelTimes {
  std::string name;
  std::string config = {}, dtype = "f32", device = {};
  bool executor = false; // times are the emulator's
  std::int64_t parameters = 0;
  std::string item = {};
  std::int64_t items = 0;   // per run
  std::int64_t decoded = 0; // per run of phase decode; 0: no such phase
  std::int64_t cache_bytes = 0;
  int warm_up = 1;             // untimed runs
  int runs = 0;                // timed runs, after the warm-up
  std::int64_t free_bytes = 0; // device memory left once the whole model is allocated
  std::vector<StepTime> steps = {};
  int skipped = 0; // updates skipped because gradients were not finite at this loss scale
  std::vector<double> losses = {}; // one per training step
  models::MemoryUse memory = {};
  Roof roof = {}; // of one run of each phase; no name if the GPU's peaks are unknown
};

struct Repeats {
  int warm_up = 1, runs = 3;
  int training_steps = 0;
};

// Times the steps of each phase in `runs` runs, after `warm_up` untimed runs. When training, a run
// is one training step; at least `training_steps` of them run. When generating, phase decode runs
// once per token, and its times are medians over all tokens. Throws Error unless memory use was as
// planned.
ModelTimes measure(const models::Model& about, models::Execution& execution, Repeats repeats);

// A table for the terminal, and JSON.
std::string text(const ModelTimes& times);
std::string json(const ModelTimes& times);

} // namespace kg::perf
