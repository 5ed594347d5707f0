// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads a kernel's compiled accesses to global and shared memory from its PTX. ptxas does not merge
// accesses to global memory.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace kg::resources {

// Counts 16 contiguous bytes of global or shared memory that several accesses of 1 to 8 bytes move,
// where a single access could. Static count: an access in a loop counts once.
struct SplitAccesses {
  int loads = 0;
  int stores = 0;

  friend bool operator==(const SplitAccesses&, const SplitAccesses&) = default;
};

// Split accesses of each entry function, by its mangled name. Grouped accesses are in one basic
// block with the same guard, at constant offsets from an unchanged register. A contiguous range of
// n bytes among them counts as n / 16 split accesses. Whether the address is 16-byte aligned is
// unknown here. Syntax: PTX ISA 9.0, chapter 4 and sections ld, ld.global.nc and st. Throws Error
// with `file` if the text is truncated or an address cannot be parsed.
std::map<std::string, SplitAccesses> split_accesses(std::string_view ptx, const std::string& file);

// The body of each entry function, without comments, by its mangled name. Throws Error with `file`
// if the text is truncated.
std::map<std::string, std::string> entry_bodies(std::string_view ptx, const std::string& file);

} // namespace kg::resources
