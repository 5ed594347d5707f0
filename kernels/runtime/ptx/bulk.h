// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Bulk copies and proxy fences for code translated from PTX (prelude.h).
#pragma once

#include "runtime/ptx/integers.h"
#include "runtime/ptx/where.h"
#include "runtime/reduce_op.h"

namespace kg::ptx_run {

enum class Covered { shared, global, both, mbarrier_init };
void proxy_fence(Covered covered);
void bulk_load(void* to, const void* from, u32 bytes, u64* barrier, Where where);
void bulk_multicast(void* to, const void* from, u32 bytes, u64* barrier, u32 blocks, Where where);
// Into a block of the cluster.
void bulk_send(void* to, const void* from, u32 bytes, u64* barrier, Where where);
void bulk_send_reduction(ReduceOp op, ReduceType type, void* to, const void* from, u32 bytes,
                         u64* barrier, Where where);
void bulk_store(void* to, const void* from, u32 bytes, Where where);
// Copies of tensor boxes. `rank` coordinates give the start of a box; `by` has the rank - 2 offsets
// of im2col mode, and is null in tiled mode.
void tensor_load(void* to, const void* map, const u32* at, const u16* by, u32 rank, u64* barrier,
                 Where where);
void tensor_multicast(void* to, const void* map, const u32* at, const u16* by, u32 rank,
                      u64* barrier, u32 blocks, Where where);
void tensor_store(const void* map, const u32* at, const u16* by, u32 rank, const void* from,
                  Where where);
// Reductions into global memory.
void bulk_reduce(ReduceOp op, ReduceType type, void* to, const void* from, u32 bytes, Where where);
void tensor_reduce(ReduceOp op, const void* map, const u32* at, u32 rank, const void* from,
                   Where where);
void bulk_commit(Where where);
void bulk_wait(u32 pending, bool read, Where where);

} // namespace kg::ptx_run
