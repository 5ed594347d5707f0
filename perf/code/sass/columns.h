// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The machine-code columns of a row in baselines/resources/, and the lines that cause them.
#pragma once

#include "perf/code/sass/kernels.h"
#include "perf/judge/exact_table.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace kg::sass {

// Fills the optional columns of the kernel's row, with a hint for each:
//   bytes_in_flight   per thread, in the kernel's main part: bytes loaded / round trips
//   issue_slots       instructions that a warp issues per iteration of the main part: per KiB moved
//                     in global memory; per matrix instruction, if there are any; or in total, if
//                     there is neither
//   calls             of library functions, in the whole kernel
//   divisions         IEEE divisions, reciprocals and roots with a slow path, in the whole kernel
//   loop_calls        calls and divisions inside loops
// An opcode missing in the table of pipes is a fault of the row.
void fill_columns(judge::ExactMeasured& row, const Kernel& kernel);

// Fills all rows of the operation with compiled files in `folder`. Throws Error as kernels_in does.
void fill_columns(std::vector<judge::ExactMeasured>& rows, const std::filesystem::path& folder,
                  std::string_view arch, const std::string& op, const resources::Launches& launches,
                  const std::filesystem::path& nvdisasm);

} // namespace kg::sass
