// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Records which source lines of kernels translated from PTX were reached, if KERNELGRADE_LINES=1:
// an event of the process (runtime/event_file.h). Lines come from the module's line table (nvcc
// -lineinfo). Code inlined from the CUDA toolkit counts for the line that calls it.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kg::ptx_run {

using SourceLine = std::pair<std::string, int>; // path as nvcc writes it, line

bool records_lines();
// For a kernel that is about to be loaded, under a unique name. reached_lines (prelude.h) returns
// one byte per line, which the kernel sets.
void record_lines(const std::string& kernel, std::vector<SourceLine> lines);
// For kernels of a module that may never be launched. A kernel that cannot be parsed has no lines.
void record_lines(std::string_view ptx, const std::vector<std::string>& kernels);
// Writes the event: "1 17 /home/me/k.cu" for each line, beginning with 0 if it was not reached.
void write_lines();

} // namespace kg::ptx_run
