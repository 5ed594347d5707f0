// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The identity of a row: two rows that are equal in it run the same machine code in the same
// launches, so that neither can be slower on the device than the other.
#pragma once

#include "runtime/launch.h"

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace kg::identity {

// Of the code, grid, block, cluster, shared bytes and cooperativeness of each launch, in order.
// `code` gives the hash of a kernel's machine code, empty where that is not known. Empty where
// there are no launches or some code is not known.
std::string row_identity(const std::vector<LaunchRecord>& launches,
                         const std::function<std::string(const std::string& kernel)>& code);

// The hashes of the kernels in an executable's section .nv_fatbin that a GPU of this compute
// capability runs, by LaunchRecord::kernel_name. Kernels that differ in their parameters alone
// share a name and a hash. Throws Error naming `file` where it cannot be read, or holds compressed
// code for that GPU.
std::map<std::string, std::string> device_code(std::string_view executable, const std::string& file,
                                               int compute_major, int compute_minor);

// The identity of an op's row in this program. Host: the code is that of the op's library and of
// the executor. Throws Error where this program's file cannot be read.
std::string this_programs_identity(const std::string& op,
                                   const std::vector<LaunchRecord>& launches);

} // namespace kg::identity
