// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Makes the copy of a kernel source that holds all its mutants at once, each behind a switch that
// is read at run time (switch.h): one compilation serves them all, and the source stays clean.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "tests/mutation/mutants/spec.h"

namespace kg::mutants {

// `source` with the mutants of `file`, a path relative to kernels/; a mutant's number is its place
// in `mutants`. Each is behind its switch, and the original in the other branch, where mutants may
// nest:
//   expression   (kg::mutant(3) ? (<mutant>) : (<original>))
//   statement    {if (kg::mutant(4)) {<mutant>} else {<original>}}
// Lines keep their numbers, and a #line gives them the name `shown`. Throws kg::Error when an
// original cannot be found (spec.h) or overlaps another in part.
std::string mutated(std::string_view source, const std::string& file, const std::string& shown,
                    const std::vector<Mutant>& mutants);

// The source file that defines kg::active_mutant for these names.
std::string names_source(const std::vector<Mutant>& mutants);

// Writes <out>/<file> for every file that the spec names, and <out>/names.cpp.
void write_mutated(const std::vector<Mutant>& mutants, const std::filesystem::path& kernels,
                   const std::filesystem::path& out);

} // namespace kg::mutants
