// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What ptxas says where it compiles asynchronous products (wgmma) or setmaxnreg to less than the
// source asks for: products that wait for each other, waits and fences of its own, register counts
// that it ignores. Its numbers are C7501 to C7599. They are "info", which no -Werror stops.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace kg::resources {

struct Remark {
  std::string code;     // "C7510"
  std::string words;    // all that follows it; its lines are those of PTX that nvcc deletes
  std::string function; // mangled; empty where the words name none
};

// In the order of the log.
std::vector<Remark> read_remarks(std::string_view log);

// Why kernels must not pass, by mangled name; those without a remark are absent. Each text has the
// words of the worst remark, the line of the first product or call that it can mean, where `ptx`
// was compiled with -lineinfo, and what to do. A remark counts against the kernel that it names.
// One that names another function, or none, counts against each kernel that mentions that function,
// or setmaxnreg; against all where none does. Throws Error naming `file` where the PTX is cut off.
std::map<std::string, std::string> remark_faults(const std::vector<Remark>& remarks,
                                                 std::string_view ptx, const std::string& file);

} // namespace kg::resources
