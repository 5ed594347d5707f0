// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Arrays of up to 2^40 bytes that take memory only where they are written. Every page of one shows
// the same few pages of a file, copied by the kernel of the operating system on the first write: so
// reads need no signal handler, and memory behaves as if it were all there.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace kg::host {

// Allocations of so many bytes are sparse, and fills of as many give memory back.
inline constexpr std::size_t kSparseBytes = std::size_t{1} << 28;
// Larger ones are refused.
inline constexpr std::size_t kMostSparseBytes = std::size_t{1} << 40;
// Addresses on both sides of a sparse array that nobody has: an offset that was cut to 32 bits, of
// elements of up to 16 bytes, ends there or in the array.
inline constexpr std::size_t kSparseMargin = std::size_t{1} << 36;

// Addresses for `bytes`, each of which reads `fill`. Throws Error where there are none.
void* map_sparse(std::size_t bytes, unsigned char fill);
// Frees what map_sparse or std::aligned_alloc gave.
void free_block(void* block);

// The bytes of each Allocation that is sparse, without its guards.
std::vector<std::size_t> sparse_allocations();

// Fills, and gives the memory of whole pages back. False, and does nothing, where the bytes are not
// all of one sparse array.
bool fill_sparse(void* begin, unsigned char value, std::size_t bytes);

struct WrittenPages {
  std::vector<std::span<const std::byte>> runs; // in rising order, within the bytes asked about
  unsigned char fill;                           // what all other bytes read
};
// What has been written among `bytes` of a sparse array since it was mapped or last filled: whole
// pages. Throws Error where the operating system does not tell.
WrittenPages written_pages(const void* begin, std::size_t bytes);

} // namespace kg::host
