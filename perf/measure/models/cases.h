// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The models that the gate measures, and the memory, calls and time of each.
#pragma once

#include "perf/judge/exact_result.h"
#include "perf/judge/result.h"
#include "perf/measure/models/spec.h"

#include <filesystem>
#include <vector>

namespace kg::perf {

struct ModelCase {
  Spec spec;
  bool large = false; // runs on a GPU only; elsewhere its memory is only planned
};
// The folder of the listed transformers' configurations.
std::filesystem::path model_configs();
std::vector<ModelCase> model_cases(const std::filesystem::path& configs);

// Key: case, phase ("forward", ..., and "whole" for all phases together). Quantities: peak_bytes,
// the maximum live at once (for "whole": the arena); calls of operations; the minimum bytes that
// these operations move; the minimum flops that they execute.
const judge::ExactTable& memory_table();

struct ModelFigures {
  judge::ExactRows memory;
  std::vector<judge::Measured> times; // by phase; empty if the model was only planned
};
// Runs the model `runs` times after one warm-up run. With 0 runs, only plans its memory.
ModelFigures figures(const Spec& spec, int runs);

} // namespace kg::perf
