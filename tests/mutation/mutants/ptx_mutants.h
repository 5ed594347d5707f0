// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Bugs seeded in what nvcc made: in the PTX of a fat binary, which the executor runs in the place
// of the kernels (KERNELGRADE_PTX). A spec (spec.h) says them as it does those of a source: `file`
// is a fat binary in the folder, `after` usually the kernel's ".entry <mangled name>(", `original`
// a part of an instruction.
#pragma once

#include <filesystem>
#include <string>

#include "tests/mutation/mutants/spec.h"

namespace kg::mutants {

// The text of a fat binary's PTX. Throws kg::Error where the file is missing or holds none.
std::string ptx_of(const std::filesystem::path& fatbin);

// Fills the new folder `out` with what `folder` holds, but the mutant's file, in whose place the
// mutated text stands.
void write_mutated(const std::filesystem::path& folder, const Mutant& mutant,
                   const std::filesystem::path& out);

} // namespace kg::mutants
