// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Bulk copies of the boxes of a tensor (PTX ISA, "Data Movement and Conversion Instructions:
// cp.async.bulk.tensor", in tiled mode): bulk_copy.h moves the bytes, and tensor_map.h says which.
#pragma once

#include "runtime/error.h"
#include "runtime/host/tensor_map.h"

#include <array>
#include <cstdint>

namespace kg::host {

// The first element of a box along each dimension, the contiguous one first.
struct BoxOrigin {
  unsigned rank; // 1 to kMaxTensorRank
  std::array<std::int32_t, kMaxTensorRank> at;
};

// All read the map at once. `map` must be aligned to 64 bytes and the shared memory to 128, and the
// ranks of map and origin must agree, otherwise Error (a trap). `name` is the function that the
// kernel called.

// Elements outside the tensor are filled. The bytes of the whole box complete at `barrier`.
void tensor_load(void* to, const void* map, const BoxOrigin& origin, std::uint64_t* barrier,
                 const char* name, Location where);
// The same into several blocks of the cluster (BulkCopies::multicast).
void tensor_multicast(void* to, const void* map, const BoxOrigin& origin, std::uint64_t* barrier,
                      unsigned blocks, const char* name, Location where);
// Reads and writes only the part of the box that lies within the tensor.
void tensor_store(const void* map, const BoxOrigin& origin, const void* from, const char* name,
                  Location where);

} // namespace kg::host
