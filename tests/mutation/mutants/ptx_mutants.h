// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Bugs seeded in nvcc's output: in the PTX of a fat binary, which the executor runs instead of the
// kernels (KERNELGRADE_PTX). A spec (spec.h) describes them like those of a source: `file` is a fat
// binary in the folder, `after` usually the kernel's ".entry <mangled name>(", `original` a part of
// an instruction.
#pragma once

#include <filesystem>
#include <string>

#include "tests/mutation/mutants/spec.h"

namespace kg::mutants {

// The PTX text of a fat binary. Throws kg::Error if the file is missing or has none.
std::string ptx_of(const std::filesystem::path& fatbin);

// Copies the contents of `folder` to the new folder `out`, with the mutated text in place of the
// mutant's file.
void write_mutated(const std::filesystem::path& folder, const Mutant& mutant,
                   const std::filesystem::path& out);

} // namespace kg::mutants
