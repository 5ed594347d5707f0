// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Bulk copies of the boxes of a tensor (PTX ISA, "Data Movement and Conversion Instructions:
// cp.async.bulk.tensor", in tiled and im2col mode): bulk_copy.h moves the bytes, and tensor_map.h
// says which.
#pragma once

#include "runtime/error.h"
#include "runtime/host/tensor_map.h"
#include "runtime/reduce_op.h"

#include <array>
#include <cstdint>
#include <optional>

namespace kg::host {

// The first element of a box or of a column of pixels along each dimension, the contiguous one
// first. With offsets the copy is one of im2col mode; a store's are 0.
struct BoxOrigin {
  unsigned rank; // 1 to kMaxTensorRank
  std::array<std::int32_t, kMaxTensorRank> at;
  std::optional<PixelOffsets> offsets{};
};

// All functions read the map immediately. They throw Error (a trap) unless `map` is aligned to 64
// bytes, the shared memory to 128, and modes and ranks of map and origin agree. A column begins in
// the bounding box, and its offsets have at most 16, 8 or 5 bits (rank 3, 4, 5). `name` is the
// function that the kernel called.

// Fills elements outside the tensor. The bytes of the whole box complete at `barrier`.
void tensor_load(void* to, const void* map, const BoxOrigin& origin, std::uint64_t* barrier,
                 const char* name, Location where);
// The same into several blocks of the cluster (BulkCopies::multicast).
void tensor_multicast(void* to, const void* map, const BoxOrigin& origin, std::uint64_t* barrier,
                      unsigned blocks, const char* name, Location where);
// Reads and writes only the part of the box within the tensor.
void tensor_store(const void* map, const BoxOrigin& origin, const void* from, const char* name,
                  Location where);
// The same, but combines the tensor's elements with those of the box. Error if the tensor's type
// has no such reduction.
void tensor_reduce(ReduceOp op, const void* map, const BoxOrigin& origin, const void* from,
                   const char* name, Location where);

} // namespace kg::host
