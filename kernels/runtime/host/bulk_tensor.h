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

// Where a box begins: elements along each dimension, the contiguous one first.
struct BoxOrigin {
  unsigned rank; // 1 to kMaxTensorRank
  std::array<std::int32_t, kMaxTensorRank> at;
};

// Both read the map at once. `map` is aligned to 64 bytes, and the shared memory to 128; the map's
// rank is that of the origin: else Error (a trap). `name` is the function that the kernel called.

// The whole box completes at `barrier`, with what lies outside of the tensor filled.
void tensor_load(void* to, const void* map, const BoxOrigin& origin, std::uint64_t* barrier,
                 const char* name, Location where);
// Of the box only what lies within the tensor is written, and read.
void tensor_store(const void* map, const BoxOrigin& origin, const void* from, const char* name,
                  Location where);

} // namespace kg::host
