// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Asynchronous copies and mbarriers under the checkers: a destination belongs to nobody before the
// wait, and to other threads only after they have synchronised with the one that waited.
#include "tests/unit/kernels/runtime/host/check/finding.h"

#include "instructions/cp_async.h"
#include "instructions/mbarrier.h"

namespace kg::test {
namespace {

class AsyncCopies : public Checkers {
 protected:
  DeviceBuffer<float> counted() {
    std::vector<float> values;
    for (int i = 0; i < 64; ++i) values.push_back(static_cast<float>(i));
    return DeviceBuffer<float>::from_host(values, stream_);
  }
};
INSTANTIATE_TEST_SUITE_P(Orders, AsyncCopies, kOrders, order_name);

// Each thread copies one value and reads its neighbour's.
__global__ void exchange(const float* in, float* out, bool wait, bool barrier) {
  __shared__ float stage[64];
  ptx::cp_async_ca<4>(&stage[threadIdx.x], &in[threadIdx.x]);
  ptx::cp_async_commit();
  if (wait) ptx::cp_async_wait_group<0>();
  if (barrier) __syncthreads();
  out[threadIdx.x] = stage[63 - threadIdx.x];
}

TEST_P(AsyncCopies, WaitAndBarrier) {
  const auto in = counted();
  const DeviceBuffer<float> out(64);
  EXPECT_THAT(finding(exchange, {1, 64}, in.data(), out.data(), true, true), IsEmpty());
  EXPECT_EQ(out.to_host(stream_)[3], 60.0f);
  EXPECT_THAT(finding(exchange, {1, 64}, in.data(), out.data(), false, true),
              AllOf(HasSubstr("[race]"), HasSubstr("is still copying to"),
                    HasSubstr("wait for the asynchronous copy")));
  EXPECT_THAT(finding(exchange, {1, 64}, in.data(), out.data(), true, false),
              AnyOf(HasSubstr("[race]"), HasSubstr("[uninitialised]")));
}

// Its own copy a thread may read after the wait alone.
__global__ void own(const float* in, float* out, bool wait) {
  __shared__ float stage[64];
  ptx::cp_async_ca<4>(&stage[threadIdx.x], &in[threadIdx.x]);
  if (wait) ptx::cp_async_wait_all();
  out[threadIdx.x] = stage[threadIdx.x];
}

TEST_P(AsyncCopies, OnesOwn) {
  const auto in = counted();
  const DeviceBuffer<float> out(64);
  EXPECT_THAT(finding(own, {1, 64}, in.data(), out.data(), true), IsEmpty());
  EXPECT_THAT(finding(own, {1, 64}, in.data(), out.data(), false), HasSubstr("[race]"));
}

// A thread may not go on adding to a word while a copy writes it.
template <class Word>
__global__ void adds(const float* in, float* out, bool wait) {
  __shared__ Word stage[64];
  stage[threadIdx.x] = 0;
  for (int i = 0; i < 4; ++i) stage[threadIdx.x] += in[i];
  ptx::cp_async_ca<4>(reinterpret_cast<float*>(&stage[threadIdx.x] + 1) - 1, &in[threadIdx.x]);
  if (wait) ptx::cp_async_wait_all();
  stage[threadIdx.x] += 1;
  if (!wait) ptx::cp_async_wait_all();
  out[threadIdx.x] = static_cast<float>(stage[threadIdx.x]);
}

TEST_P(AsyncCopies, IntoOnesOwnSum) {
  const auto in = counted();
  const DeviceBuffer<float> out(64);
  for (const auto kernel : {&adds<float>, &adds<double>}) { // of a double the upper half
    EXPECT_THAT(finding(kernel, {1, 64}, in.data(), out.data(), true), IsEmpty());
    EXPECT_THAT(finding(kernel, {1, 64}, in.data(), out.data(), false), HasSubstr("[race]"));
  }
}

TEST_P(AsyncCopies, SourcesAreChecked) {
  const DeviceBuffer<float> unwritten(64);
  const auto half = filled<float>(32);
  const DeviceBuffer<float> out(64);
  EXPECT_THAT(finding(own, {1, 64}, unwritten.data(), out.data(), true),
              StartsWith("[uninitialised]"));
  EXPECT_THAT(finding(own, {1, 64}, half.data(), out.data(), true),
              AllOf(HasSubstr("[out-of-bounds]"), HasSubstr("async_test.cu:")));
}

// Without bytes to read, a copy writes zeros and may point anywhere: the usual guard of a tail.
__global__ void zeros(const float* nowhere, float* out) {
  __shared__ float stage[64];
  ptx::cp_async_ca<4>(&stage[threadIdx.x], nowhere, 0);
  ptx::cp_async_wait_all();
  out[threadIdx.x] = stage[threadIdx.x];
}

TEST_P(AsyncCopies, SourceOfNoBytes) {
  const DeviceBuffer<float> out(64);
  const float* const nowhere = nullptr;
  EXPECT_THAT(finding(zeros, {1, 64}, nowhere, out.data()), IsEmpty());
  EXPECT_EQ(out.to_host(stream_), std::vector<float>(64, 0.0f));
}

// A warp copies, the other uses what has arrived on the mbarrier.
__global__ void produce_and_consume(const float* in, float* out, bool wait) {
  __shared__ float stage[32];
  __shared__ std::uint64_t full;
  if (threadIdx.x == 0) ptx::mbarrier_init(&full, 32);
  __syncthreads();
  if (threadIdx.x < 32) {
    ptx::cp_async_ca<4>(&stage[threadIdx.x], &in[threadIdx.x]);
    ptx::cp_async_mbarrier_arrive_noinc(&full);
  } else {
    if (wait) ptx::mbarrier_wait_parity(&full, 0);
    out[threadIdx.x - 32] = stage[63 - threadIdx.x];
  }
}

TEST_P(AsyncCopies, HandedOverByAnMbarrier) {
  const auto in = counted();
  const DeviceBuffer<float> out(32);
  EXPECT_THAT(finding(produce_and_consume, {1, 64}, in.data(), out.data(), true), IsEmpty());
  EXPECT_EQ(out.to_host(stream_)[1], 30.0f);
  EXPECT_THAT(finding(produce_and_consume, {1, 64}, in.data(), out.data(), false),
              AnyOf(HasSubstr("[race]"), HasSubstr("[uninitialised]")));
}

// A ring of one stage: the producer must wait until the consumer has left it.
__global__ void ring(const float* in, float* out) {
  __shared__ float stage[32];
  __shared__ std::uint64_t full;
  __shared__ std::uint64_t empty;
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&full, 32);
    ptx::mbarrier_init(&empty, 32);
  }
  __syncthreads();
  const unsigned lane = threadIdx.x % 32;
  for (unsigned round = 0; round < 4; ++round) {
    if (threadIdx.x < 32) {
      ptx::mbarrier_wait_parity(&empty, (round + 1) % 2);
      stage[lane] = in[lane] + static_cast<float>(round);
      ptx::mbarrier_arrive(&full);
    } else {
      ptx::mbarrier_wait_parity(&full, round % 2);
      out[round * 32 + lane] = stage[31 - lane];
      ptx::mbarrier_arrive(&empty);
    }
  }
}

TEST_P(AsyncCopies, RingOverMbarriers) {
  const auto in = counted();
  const DeviceBuffer<float> out(4 * 32);
  EXPECT_THAT(finding(ring, {1, 64}, in.data(), out.data()), IsEmpty());
  EXPECT_EQ(out.to_host(stream_)[3 * 32 + 2], 29.0f + 3.0f);
}

} // namespace
} // namespace kg::test
