// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/kernels/runtime/bulk/send_words.h"

#include "instructions/cluster.h"
#include "instructions/cp_async_bulk_cluster.h"
#include "instructions/fence_proxy_async.h"
#include "instructions/mbarrier.h"

namespace kg::bulk {
namespace {

template <ReduceOp op, class T>
__device__ __forceinline__ void send_by(T* to, const T* words, std::uint64_t* full, unsigned rank) {
  if constexpr (ptx::kReducesInCluster<op, T>)
    ptx::cp_reduce_async_bulk_to_block<op>(to, words, kSent * sizeof(T), full, rank);
}

template <class T>
__device__ __forceinline__ void send_reduction(ReduceOp op, T* to, const T* words,
                                               std::uint64_t* full, unsigned rank) {
  switch (op) {
  case ReduceOp::add: return send_by<ReduceOp::add>(to, words, full, rank);
  case ReduceOp::min: return send_by<ReduceOp::min>(to, words, full, rank);
  case ReduceOp::max: return send_by<ReduceOp::max>(to, words, full, rank);
  case ReduceOp::inc: return send_by<ReduceOp::inc>(to, words, full, rank);
  case ReduceOp::dec: return send_by<ReduceOp::dec>(to, words, full, rank);
  case ReduceOp::bit_and: return send_by<ReduceOp::bit_and>(to, words, full, rank);
  case ReduceOp::bit_or: return send_by<ReduceOp::bit_or>(to, words, full, rank);
  case ReduceOp::bit_xor: return send_by<ReduceOp::bit_xor>(to, words, full, rank);
  }
}

} // namespace

template <class T>
__global__ void send_words(bool reduces, ReduceOp op, T initial, const T* from, T* out,
                           SendMutant mutant) {
  auto* const full = dynamic_shared<std::uint64_t>();
  T* const words = reinterpret_cast<T*>(full + 2);
  T* const received = words + kSent;
  const unsigned own = ptx::cluster_rank();
  words[threadIdx.x] = from[kSent * own + threadIdx.x];
  for (unsigned b = 0; b < kSenders; ++b) received[kSent * b + threadIdx.x] = initial;
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(full, 1);
    ptx::fence_mbarrier_init();
  }
  if (mutant != SendMutant::no_fence) ptx::fence_proxy_async_shared();
  ptx::cluster_sync();
  if (threadIdx.x == 0) {
    ptx::mbarrier_arrive_expect_tx(full, kSenders * kSent * sizeof(T) +
                                             (mutant == SendMutant::bytes_too_many ? 16 : 0));
    const bool ends = mutant == SendMutant::block_ends && own == 0;
    for (unsigned rank = ends ? 1 : 0; rank < kSenders; ++rank) {
      if (reduces)
        send_reduction(op, received, words, full, rank);
      else
        ptx::cp_async_bulk_to_block(received + kSent * own, words, kSent * sizeof(T), full, rank);
    }
  }
  if (mutant == SendMutant::block_ends && own == 0) return;
  if (mutant == SendMutant::source_overwritten) words[threadIdx.x] = initial;
  if (mutant != SendMutant::phase_not_awaited) ptx::mbarrier_wait_parity(full, 0);
  for (unsigned b = 0; b < kSenders; ++b)
    out[kSent * (kSenders * own + b) + threadIdx.x] = received[kSent * b + threadIdx.x];
  ptx::cluster_sync();
  words[threadIdx.x] = initial; // all copies have read it
}
template __global__ void send_words(bool, ReduceOp, std::uint32_t, const std::uint32_t*,
                                    std::uint32_t*, SendMutant);
template __global__ void send_words(bool, ReduceOp, std::int32_t, const std::int32_t*,
                                    std::int32_t*, SendMutant);
template __global__ void send_words(bool, ReduceOp, std::uint64_t, const std::uint64_t*,
                                    std::uint64_t*, SendMutant);

} // namespace kg::bulk
