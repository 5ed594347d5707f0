// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Creates a copy of a kernel source with all its mutants, each controlled by a run-time switch
// (switch.h): one compilation serves them all, and the source stays clean.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "tests/mutation/mutants/spec.h"

namespace kg::mutants {

// `source` with the mutants of `file`, a path relative to kernels/; a mutant's number is its index
// in `mutants`. The switch selects the mutant or the original, which may contain nested mutants:
//   expression   (kg::mutant(3) ? (<mutant>) : (<original>))
//   statement    {if (kg::mutant(4)) {<mutant>} else {<original>}}
// Line numbers are kept, and #line sets the file name `shown`. Throws kg::Error if an original is
// not found (spec.h) or partially overlaps another.
std::string mutated(std::string_view source, const std::string& file, const std::string& shown,
                    const std::vector<Mutant>& mutants);

// The source file that defines kg::active_mutant for these names.
std::string names_source(const std::vector<Mutant>& mutants);

// Writes <out>/<file> for every file named in the spec, and <out>/names.cpp.
void write_mutated(const std::vector<Mutant>& mutants, const std::filesystem::path& kernels,
                   const std::filesystem::path& out);

} // namespace kg::mutants
