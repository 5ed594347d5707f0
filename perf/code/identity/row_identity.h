// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The identity of a row. Two rows with equal identities run the same machine code in the same
// launches, so neither can be slower on the device than the other.
#pragma once

#include "runtime/launch.h"

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace kg::identity {

// Hash of code, grid, block, cluster, shared bytes and cooperative flag of each launch, in order.
// `code` returns the hash of a kernel's machine code, or "" if unknown. Empty if there are no
// launches or some code is unknown.
std::string row_identity(const std::vector<LaunchRecord>& launches,
                         const std::function<std::string(const std::string& kernel)>& code);

// Hashes of the kernels in an executable's .nv_fatbin section that a GPU of this compute capability
// runs, by LaunchRecord::kernel_name. Kernels that differ only in their parameters share a name and
// a hash. Throws Error with `file` if it cannot be read or holds compressed code for that GPU.
std::map<std::string, std::string> device_code(std::string_view executable, const std::string& file,
                                               int compute_major, int compute_minor);

// The identity of an operation's row in this program. Host: hashes the code of the operation's
// library and of the emulator. Throws Error if this program's file cannot be read.
std::string this_programs_identity(const std::string& op,
                                   const std::vector<LaunchRecord>& launches);

} // namespace kg::identity
