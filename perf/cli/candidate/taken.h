// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What a candidate's kernels take of a multiprocessor, as nvcc compiles them. Needs no GPU.
#pragma once

#include "perf/cli/candidate/contract_run.h"
#include "perf/code/resources/compiled.h"
#include "perf/judge/exact_gate.h"
#include "perf/report/sections.h"

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace kg::candidate {

struct TakenByKernel {
  std::string kernel;
  bool launched = false;    // in the listed shapes; else how it is launched is not known
  judge::ExactMeasured row; // of judge::resource_table()
};

struct Taken {
  std::string arch;
  std::string skipped;                // why nothing was compiled: there is no nvcc
  std::string refused;                // nvcc's words
  std::vector<TakenByKernel> kernels; // those that were launched first
};

// Compiled for the architecture ("sm_90a") by the nvcc of CUDA_HOME, where that is set, else of
// PATH, else by the one that the build found. `launches` as of resources::compiled_resources.
// Throws Error for an architecture that is not known.
Taken compile_for_gpu(const Programs& programs, const std::filesystem::path& source,
                      const std::vector<std::string>& compile_options, const std::string& arch,
                      const resources::Launches& launches, const std::filesystem::path& folder);

// A table by kernel, and what usually helps.
// Of each kernel, as a table; what is lost, or why nothing is known, as lines.
report::Section taken_section(const Taken& taken);

nlohmann::json to_json(const Taken& taken);

} // namespace kg::candidate
