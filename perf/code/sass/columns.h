// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What machine code has of a kernel's row in baselines/resources/, and which lines it comes from.
#pragma once

#include "perf/code/sass/kernels.h"
#include "perf/judge/exact_table.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace kg::sass {

// Fills the optional columns of the row, whose kernel it is, with a hint for each:
//   bytes_in_flight   of a thread, in the kernel's main part: loaded, over round trips
//   issue_slots       instructions that a warp issues in a pass of it: for each KiB that it moves
//   in
//                     global memory; for each matrix instruction, where there are any; or, where it
//                     does neither, in all
//   calls             of library functions, in the whole kernel
//   divisions         IEEE divisions, reciprocals and roots, which have a slow path, likewise
//   loop_calls        of both, those in loops
// An opcode that the table of pipes lacks is the row's fault.
void fill_columns(judge::ExactMeasured& row, const Kernel& kernel);

// Of all rows of an op whose compiled files lie in `folder`; throws Error as kernels_in does.
void fill_columns(std::vector<judge::ExactMeasured>& rows, const std::filesystem::path& folder,
                  std::string_view arch, const std::string& op, const resources::Launches& launches,
                  const std::filesystem::path& nvdisasm);

} // namespace kg::sass
