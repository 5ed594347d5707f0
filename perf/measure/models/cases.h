// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The models that the gate looks at, and what each holds, asks for and takes.
#pragma once

#include "perf/judge/exact_result.h"
#include "perf/judge/result.h"
#include "perf/measure/models/spec.h"

#include <filesystem>
#include <vector>

namespace kg::perf {

struct ModelCase {
  Spec spec;
  bool large = false; // only a GPU runs it; elsewhere its memory is planned
};
// Where the listed transformers' configurations lie.
std::filesystem::path model_configs();
std::vector<ModelCase> model_cases(const std::filesystem::path& configs);

// Key: case, phase ("forward", ..., and "whole", all of them together). Quantities: peak_bytes, the
// most that lives at once, of "whole" the arena; calls of operations; bytes that these must move;
// flops that they must do.
const judge::ExactTable& memory_table();

struct ModelFigures {
  judge::ExactRows memory;
  std::vector<judge::Measured> times; // by phase; none where the model was only planned
};
// Runs it `runs` times after one run that warms up; 0: plans it and asks for no memory.
ModelFigures figures(const Spec& spec, int runs);

} // namespace kg::perf
