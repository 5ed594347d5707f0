// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The containers in which nvcc embeds device code: section .nv_fatbin of an object or executable,
// one container per translation unit. NVIDIA does not document the layout; this is what nvcc 13
// writes, and the tests compare it with the cubins of the same compiler.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace kg {

struct FatbinEntry {
  enum class Kind { ptx, elf, other };
  enum class Compression { none, lz4, zstd };
  Kind kind = Kind::other;
  int arch = 0;                                // 80, 90
  bool specific = false;                       // the "a" of sm_90a: runs on that architecture alone
  Compression compression = Compression::none; // otherwise its bytes say nothing here
  std::size_t whole_bytes = 0;                 // once it is decompressed
  std::string_view contents;

  // "sm_90a"
  std::string arch_name() const;

  // The cubin. Throws Error, with the fix, where it is compressed or no machine code.
  std::string_view cubin() const;

  // The text of the PTX. Throws Error, with the fix, where it is compressed or no PTX.
  std::string_view ptx() const;
};

// All entries of all containers. Throws Error naming `name` and what is broken.
std::vector<FatbinEntry> read_fatbin(std::string_view section, const std::string& name);

} // namespace kg
