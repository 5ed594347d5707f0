// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The containers in which nvcc embeds device code: section .nv_fatbin of an object or executable,
// one container per translation unit. NVIDIA does not document the layout. This code follows nvcc
// 13, and the tests compare its results with cubins of the same compiler.
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
  bool specific = false;                       // the "a" of sm_90a: runs only on that architecture
  Compression compression = Compression::none; // if not none, `contents` is opaque here
  std::size_t whole_bytes = 0;                 // after decompression
  std::string_view contents;

  // "sm_90a"
  std::string arch_name() const;

  // The cubin. Throws Error with a fix if the entry is compressed or not machine code.
  std::string_view cubin() const;

  // The text of the PTX. Throws Error with a fix if the entry is compressed or not PTX.
  std::string_view ptx() const;
};

// All entries of all containers. Throws Error with `name` and the defect.
std::vector<FatbinEntry> read_fatbin(std::string_view section, const std::string& name);

} // namespace kg
