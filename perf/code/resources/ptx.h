// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What the compiler made of a kernel's accesses to global and shared memory, read from its PTX,
// whose accesses to global memory ptxas does not merge.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace kg::resources {

// So many times are 16 contiguous bytes of global or shared memory moved by several narrower
// accesses, of 1 to 8 bytes each, where one could. Counted in the text: an access in a loop counts
// once.
struct SplitAccesses {
  int loads = 0;
  int stores = 0;

  friend bool operator==(const SplitAccesses&, const SplitAccesses&) = default;
};

// Of each entry function, by its mangled name. Accesses belong together that stand in one basic
// block under the same guard, at constant distances from a register that keeps its value; a run of
// n bytes without a gap among them is n / 16 split accesses. Whether its address is a multiple of
// 16 is not known here. Syntax: PTX ISA 9.0, chapter 4 and sections ld, ld.global.nc and st. Throws
// Error naming `file` where the text is cut off or an address cannot be read.
std::map<std::string, SplitAccesses> split_accesses(std::string_view ptx, const std::string& file);

// The text between the braces of each entry function, without comments, by its mangled name. Throws
// Error naming `file` where the text is cut off.
std::map<std::string, std::string> entry_bodies(std::string_view ptx, const std::string& file);

} // namespace kg::resources
