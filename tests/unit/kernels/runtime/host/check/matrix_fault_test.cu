// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// ldmatrix under the checkers: the row that a lane gives is an access of that lane.
#include "tests/unit/kernels/runtime/host/check/finding.h"

#include "instructions/cp_async.h"
#include "instructions/ldmatrix.h"
#include "instructions/mma.h"

namespace kg::test {
namespace {

class Matrices : public Checkers {};
INSTANTIATE_TEST_SUITE_P(Orders, Matrices, kOrders, order_name);

// Each lane writes a row (all but the last `unwritten`), then the warp reads rows from `first` on.
constexpr int kLoad = __LINE__ + 9;
__global__ void write_and_load(unsigned unwritten, bool barrier, unsigned first, unsigned* out) {
  alignas(16) __shared__ unsigned short rows[32 * 8];
  if (threadIdx.x < 32 - unwritten) {
    for (unsigned i = 0; i < 8; ++i)
      rows[threadIdx.x * 8 + i] = static_cast<unsigned short>(threadIdx.x + i);
  }
  if (barrier) __syncwarp();
  unsigned fragment[4];
  ptx::ldmatrix(fragment, rows + (threadIdx.x ^ 9) * 8 + first * 8);
  // Sums are not matrices: no order comes with them, and none is needed.
  float sum[4] = {};
  ptx::mma_m16n8k16<f16>(sum, fragment, {fragment[0], fragment[1]});
  out[threadIdx.x] = static_cast<unsigned>(sum[0]);
}

TEST_P(Matrices, RowsOfOtherLanesNeedABarrier) {
  const DeviceBuffer<unsigned> out(32);
  EXPECT_THAT(finding(write_and_load, {1, 32}, 0u, true, 0u, out.data()), IsEmpty());
  EXPECT_THAT(
      finding(write_and_load, {1, 32}, 0u, false, 0u, out.data()),
      AnyOf(AllOf(HasSubstr("[race]"), HasSubstr("matrix_fault_test.cu:" + std::to_string(kLoad))),
            HasSubstr("[uninitialised]")));
}

TEST_P(Matrices, RowsMustBeWritten) {
  const DeviceBuffer<unsigned> out(32);
  EXPECT_THAT(finding(write_and_load, {1, 32}, 1u, true, 0u, out.data()),
              AllOf(StartsWith("[uninitialised]"),
                    HasSubstr("matrix_fault_test.cu:" + std::to_string(kLoad))));
}

TEST_P(Matrices, RowsMustLieInTheArray) {
  const DeviceBuffer<unsigned> out(32);
  EXPECT_THAT(finding(write_and_load, {1, 32}, 0u, true, 1u, out.data()),
              AllOf(HasSubstr("[out-of-bounds]"),
                    HasSubstr("matrix_fault_test.cu:" + std::to_string(kLoad))));
}

// Of two matrices, 16 lanes give the rows: what the others point to is not read.
__global__ void load_two(const unsigned short* in, unsigned* out) {
  alignas(16) __shared__ unsigned short rows[16 * 8];
  if (threadIdx.x < 16) ptx::cp_async_cg(rows + threadIdx.x * 8, in + threadIdx.x * 8);
  ptx::cp_async_wait_all();
  __syncwarp();
  unsigned fragment[2];
  ptx::ldmatrix_trans(fragment, rows + threadIdx.x * 8);
  out[threadIdx.x] = fragment[1];
}

TEST_P(Matrices, LanesWithoutARowReadNothing) {
  const auto in = filled<unsigned short>(16 * 8, 3);
  const DeviceBuffer<unsigned> out(32);
  EXPECT_THAT(finding(load_two, {1, 32}, in.data(), out.data()), IsEmpty());
  EXPECT_EQ(out.to_host(stream_), std::vector<unsigned>(32, 0x00030003u));
}

// The rows are still on their way.
__global__ void load_in_flight(const unsigned short* in, bool wait, unsigned* out) {
  alignas(16) __shared__ unsigned short rows[32 * 8];
  ptx::cp_async_cg(rows + threadIdx.x * 8, in + threadIdx.x * 8);
  ptx::cp_async_commit();
  if (wait) ptx::cp_async_wait_group<0>();
  __syncwarp();
  unsigned fragment[4];
  ptx::ldmatrix(fragment, rows + threadIdx.x * 8);
  out[threadIdx.x] = fragment[0];
}

TEST_P(Matrices, CopiesMustHaveArrived) {
  const auto in = filled<unsigned short>(32 * 8, 1);
  const DeviceBuffer<unsigned> out(32);
  EXPECT_THAT(finding(load_in_flight, {1, 32}, in.data(), true, out.data()), IsEmpty());
  EXPECT_THAT(finding(load_in_flight, {1, 32}, in.data(), false, out.data()),
              AllOf(HasSubstr("[race]"), HasSubstr("is still copying to"),
                    HasSubstr("wait for the asynchronous copy")));
}

} // namespace
} // namespace kg::test
