// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/kernels/runtime/bulk/reduce_words.h"

#include "instructions/cluster.h"
#include "instructions/mbarrier.h"
#include "instructions/red_async.h"

namespace kg::bulk {
namespace {

template <ReduceOp op, class T>
__device__ __forceinline__ void reduce_by(T* word, T value, std::uint64_t* full) {
  if constexpr (ptx::kReducesInCluster<op, T>)
    for (unsigned rank = 0; rank < kWordBlocks; ++rank) ptx::red_async<op>(word, value, full, rank);
}

} // namespace

template <class T>
__global__ void reduce_words(ReduceOp op, T initial, const T* from, T* out, WordMutant mutant) {
  auto* const full = dynamic_shared<std::uint64_t>();
  T* const word = reinterpret_cast<T*>(full + 2) + threadIdx.x;
  const unsigned mine = kWords * ptx::cluster_rank() + threadIdx.x;
  *word = initial;
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(full, 1);
    ptx::fence_mbarrier_init();
  }
  ptx::cluster_sync();
  if (threadIdx.x == 0)
    ptx::mbarrier_arrive_expect_tx(full, kWordBlocks * kWords * sizeof(T) +
                                             (mutant == WordMutant::bytes_too_many ? 4 : 0));
  switch (op) {
  case ReduceOp::add: reduce_by<ReduceOp::add>(word, from[mine], full); break;
  case ReduceOp::min: reduce_by<ReduceOp::min>(word, from[mine], full); break;
  case ReduceOp::max: reduce_by<ReduceOp::max>(word, from[mine], full); break;
  case ReduceOp::inc: reduce_by<ReduceOp::inc>(word, from[mine], full); break;
  case ReduceOp::dec: reduce_by<ReduceOp::dec>(word, from[mine], full); break;
  case ReduceOp::bit_and: reduce_by<ReduceOp::bit_and>(word, from[mine], full); break;
  case ReduceOp::bit_or: reduce_by<ReduceOp::bit_or>(word, from[mine], full); break;
  case ReduceOp::bit_xor: reduce_by<ReduceOp::bit_xor>(word, from[mine], full); break;
  }
  if (mutant != WordMutant::phase_not_awaited) ptx::mbarrier_wait_parity(full, 0);
  out[mine] = *word;
  ptx::cluster_sync();
}
template __global__ void reduce_words(ReduceOp, std::uint32_t, const std::uint32_t*, std::uint32_t*,
                                      WordMutant);
template __global__ void reduce_words(ReduceOp, std::int32_t, const std::int32_t*, std::int32_t*,
                                      WordMutant);
template __global__ void reduce_words(ReduceOp, std::uint64_t, const std::uint64_t*, std::uint64_t*,
                                      WordMutant);

} // namespace kg::bulk
