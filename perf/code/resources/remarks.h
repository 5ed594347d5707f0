// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Parses ptxas remarks that wgmma or setmaxnreg was compiled to less than requested: serialized
// wgmma, inserted waits and fences, ignored register counts. Their numbers are C7501 to C7599.
// Their level is "info", which -Werror does not stop.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace kg::resources {

struct Remark {
  std::string code;     // "C7510"
  std::string words;    // the rest of the remark; its line numbers refer to PTX that nvcc deletes
  std::string function; // mangled; empty if the remark names none
};

// Remarks in the order of the log.
std::vector<Remark> read_remarks(std::string_view log);

// Faults by mangled kernel name; kernels without a remark are absent. Each text has the worst
// remark, the line of the first wgmma or call it can refer to (if `ptx` was compiled with
// -lineinfo), and the fix. A remark counts against the kernel it names. Otherwise it counts against
// each kernel that mentions the named function or setmaxnreg, or against all kernels if none does.
// Throws Error with `file` if the PTX is truncated.
std::map<std::string, std::string> remark_faults(const std::vector<Remark>& remarks,
                                                 std::string_view ptx, const std::string& file);

} // namespace kg::resources
