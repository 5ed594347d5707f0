// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/ptx/bulk.h"

#include "runtime/host/bulk_copy.h"
#include "runtime/host/bulk_tensor.h"
#include "runtime/host/proxy.h"

namespace kg::ptx_run {
namespace {

Location here(Where where) { return {where.file, where.line}; }

host::Proxy proxy(Covered covered) {
  switch (covered) {
  case Covered::shared: return host::Proxy::shared;
  case Covered::global: return host::Proxy::global;
  case Covered::both: return host::Proxy::both;
  case Covered::mbarrier_init: break;
  }
  return host::Proxy::mbarrier_init;
}

host::BoxOrigin box_origin(const u32* at, const u16* by, u32 rank) {
  host::BoxOrigin origin{rank, {}};
  for (u32 i = 0; i < rank; ++i) origin.at[i] = static_cast<s32>(at[i]);
  if (by) {
    origin.offsets.emplace();
    for (u32 i = 0; i + 2 < rank; ++i) (*origin.offsets)[i] = by[i];
  }
  return origin;
}

} // namespace

void proxy_fence(Covered covered) { host::proxy_fence(proxy(covered)); }

void bulk_load(void* to, const void* from, u32 bytes, u64* barrier, Where where) {
  host::bulk_load(to, from, bytes, barrier, "cp.async.bulk", here(where));
}
void bulk_multicast(void* to, const void* from, u32 bytes, u64* barrier, u32 blocks, Where where) {
  host::bulk_multicast(to, from, bytes, barrier, blocks, "cp.async.bulk", here(where));
}
void bulk_send(void* to, const void* from, u32 bytes, u64* barrier, Where where) {
  host::bulk_send(to, from, bytes, barrier, {}, "cp.async.bulk", here(where));
}
void bulk_send_reduction(ReduceOp op, ReduceType type, void* to, const void* from, u32 bytes,
                         u64* barrier, Where where) {
  host::bulk_send(to, from, bytes, barrier, host::BulkReduction{op, type}, "cp.reduce.async.bulk",
                  here(where));
}
void bulk_store(void* to, const void* from, u32 bytes, Where where) {
  host::bulk_store(to, from, bytes, "cp.async.bulk", here(where));
}
void tensor_load(void* to, const void* map, const u32* at, const u16* by, u32 rank, u64* barrier,
                 Where where) {
  host::tensor_load(to, map, box_origin(at, by, rank), barrier, "cp.async.bulk.tensor",
                    here(where));
}
void tensor_multicast(void* to, const void* map, const u32* at, const u16* by, u32 rank,
                      u64* barrier, u32 blocks, Where where) {
  host::tensor_multicast(to, map, box_origin(at, by, rank), barrier, blocks, "cp.async.bulk.tensor",
                         here(where));
}
void tensor_store(const void* map, const u32* at, const u16* by, u32 rank, const void* from,
                  Where where) {
  host::tensor_store(map, box_origin(at, by, rank), from, "cp.async.bulk.tensor", here(where));
}
void bulk_reduce(ReduceOp op, ReduceType type, void* to, const void* from, u32 bytes, Where where) {
  host::bulk_reduce({op, type}, to, from, bytes, "cp.reduce.async.bulk", here(where));
}
void tensor_reduce(ReduceOp op, const void* map, const u32* at, u32 rank, const void* from,
                   Where where) {
  host::tensor_reduce(op, map, box_origin(at, nullptr, rank), from, "cp.reduce.async.bulk.tensor",
                      here(where));
}
void bulk_commit(Where where) { host::bulk_commit("cp.async.bulk.commit_group", here(where)); }
void bulk_wait(u32 pending, bool read, Where where) {
  host::bulk_wait_group(pending, read, "cp.async.bulk.wait_group", here(where));
}

} // namespace kg::ptx_run
