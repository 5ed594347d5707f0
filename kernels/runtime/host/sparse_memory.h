// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Arrays of up to 2^40 bytes that use memory only for written pages. All pages of an array map the
// same few pages of a file, which the operating system copies on the first write. So reads need no
// signal handler, and the array behaves like ordinary memory.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace kg::host {

// Allocations of at least this size are sparse, and fills of at least this size release memory.
inline constexpr std::size_t kSparseBytes = std::size_t{1} << 28;
// Larger allocations are refused.
inline constexpr std::size_t kMostSparseBytes = std::size_t{1} << 40;
// Unused addresses on both sides of a sparse array: an offset truncated to 32 bits, for elements of
// up to 16 bytes, stays within the margin or the array.
inline constexpr std::size_t kSparseMargin = std::size_t{1} << 36;

// Maps `bytes` bytes that all read as `fill`. Throws Error if no address range is available.
void* map_sparse(std::size_t bytes, unsigned char fill);
// Frees a block from map_sparse or std::aligned_alloc.
void free_block(void* block);

// The size in bytes, without guards, of each sparse Allocation.
std::vector<std::size_t> sparse_allocations();

// Fills the range and releases the memory of whole pages. Returns false and does nothing unless the
// range lies within one sparse array.
bool fill_sparse(void* begin, unsigned char value, std::size_t bytes);

struct WrittenPages {
  std::vector<std::span<const std::byte>> runs; // in rising order, within the requested range
  unsigned char fill;                           // value of all other bytes
};
// The pages among `bytes` of a sparse array written since it was mapped or last filled; whole
// pages. Throws Error if the operating system cannot report them.
WrittenPages written_pages(const void* begin, std::size_t bytes);

} // namespace kg::host
