// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The multiprocessor resources of a candidate's kernels, as compiled by nvcc. Needs no GPU.
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
  bool launched = false;    // in the listed shapes; otherwise its launch configuration is unknown
  judge::ExactMeasured row; // of judge::resource_table()
};

struct Taken {
  std::string arch;
  std::string skipped;                // why nothing was compiled: nvcc is missing
  std::string refused;                // nvcc's message
  std::vector<TakenByKernel> kernels; // launched ones first
};

// Compiles for the architecture ("sm_90a") with the nvcc of CUDA_HOME if set, else of PATH, else
// the one found at build time. `launches` as in resources::compiled_resources. Throws Error for an
// unknown architecture.
Taken compile_for_gpu(const Programs& programs, const std::filesystem::path& source,
                      const std::vector<std::string>& compile_options, const std::string& arch,
                      const resources::Launches& launches, const std::filesystem::path& folder);

// A table by kernel, and the usual remedies. What is lost, or why nothing is known, as lines.
report::Section taken_section(const Taken& taken);

nlohmann::json to_json(const Taken& taken);

} // namespace kg::candidate
