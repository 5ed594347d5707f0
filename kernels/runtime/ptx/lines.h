// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Which source lines of kernels made from PTX were reached, where KERNELGRADE_LINES=1 asks for it:
// a note of the process (runtime/event_file.h). Lines are those of the module's line table
// (nvcc -lineinfo); what was inlined from the CUDA toolkit counts for the line that calls it.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kg::ptx_run {

using SourceLine = std::pair<std::string, int>; // path as nvcc gives it, line

bool records_lines();
// Of a kernel that is about to be loaded, by a name of its own. reached_lines (prelude.h) gives a
// byte for each, which the kernel sets.
void record_lines(const std::string& kernel, std::vector<SourceLine> lines);
// Of kernels of a module that may never be launched. What is not understood has no lines.
void record_lines(std::string_view ptx, const std::vector<std::string>& kernels);
// Writes the note: "1 17 /home/me/k.cu" a line, 0 for one that was not reached.
void write_lines();

} // namespace kg::ptx_run
