// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Matrix instructions that a GPU would leave undefined are errors of the executor. What they
// compute is in tests/unit/kernels/runtime/ptx/idioms/matrix_test.cu.
#include "instructions/cp_async.h"
#include "instructions/ldmatrix.h"
#include "instructions/mma.h"
#include "tests/unit/kernels/runtime/executor_support.h"

#include <algorithm>
#include <cmath>
#include <gmock/gmock.h>

namespace kg::executor {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::Each;
using testing::HasSubstr;

// Which lanes come, and from how many places.
enum class Callers { all, lower_half, lower_half_and_a_barrier, two_places };

constexpr int kFirstCall = __LINE__ + 12;
__global__ void multiply(Callers callers, float* out) {
  const unsigned a[4] = {};
  const unsigned b[2] = {};
  float sum[4] = {1, 1, 1, 1};
  const bool lower = threadIdx.x % 32 < 16;
  if (callers == Callers::all) {
    ptx::mma_m16n8k16<f16>(sum, a, b);
  } else if (callers == Callers::lower_half) {
    if (lower) ptx::mma_m16n8k16<f16>(sum, a, b);
  } else if (callers == Callers::lower_half_and_a_barrier) {
    if (lower) ptx::mma_m16n8k16<f16>(sum, a, b);
    __syncwarp();
  } else if (lower) {
    ptx::mma_m16n8k16<f16>(sum, a, b);
  } else {
    ptx::mma_m16n8k16<f16>(sum, a, b);
  }
  out[threadIdx.x] = sum[0];
}

std::string multiplied_by(Callers callers, unsigned threads) {
  std::vector<float> out(threads);
  return error_of([&] { launch(multiply, {.grid = 1, .block = threads}, callers, out.data()); });
}

TEST(MatrixInstructions, NeedAllLanes) {
  under_every_order([] {
    EXPECT_EQ(multiplied_by(Callers::all, 64), "");
    EXPECT_THAT(multiplied_by(Callers::lower_half, 32),
                AllOf(HasSubstr("mma_m16n8k16<f16> by 16 lanes of the warp"),
                      HasSubstr("all 32 must execute it"), HasSubstr("matrix_test.cu:")));
    EXPECT_THAT(multiplied_by(Callers::lower_half_and_a_barrier, 32),
                AllOf(HasSubstr("deadlock"), HasSubstr("mma_m16n8k16<f16>")));
    EXPECT_THAT(multiplied_by(Callers::all, 48), HasSubstr("by 16 lanes of the warp"));
  });
}

TEST(MatrixInstructions, AreOneForAllLanes) {
  under_every_order([] {
    EXPECT_THAT(multiplied_by(Callers::two_places, 32),
                AllOf(HasSubstr("while other lanes of the warp call it at"),
                      AnyOf(HasSubstr(place("matrix_test.cu", kFirstCall)),
                            HasSubstr(place("matrix_test.cu", kFirstCall + 2)))));
  });
}

__global__ void load(unsigned lanes, unsigned offset, unsigned* out) {
  alignas(16) __shared__ unsigned short rows[32 * 8 + 8];
  for (unsigned i = threadIdx.x; i < 32 * 8 + 8; i += 32) rows[i] = static_cast<unsigned short>(i);
  __syncwarp();
  unsigned fragment[4] = {};
  if (threadIdx.x < lanes) ptx::ldmatrix(fragment, rows + threadIdx.x * 8 + offset);
  out[threadIdx.x] = fragment[0];
}

std::string loaded(unsigned lanes, unsigned offset) {
  std::vector<unsigned> out(32);
  return error_of([&] { launch(load, {.grid = 1, .block = 32}, lanes, offset, out.data()); });
}

TEST(MatrixInstructions, LoadWholeRows) {
  under_every_order([] {
    EXPECT_EQ(loaded(32, 8), "");
    EXPECT_THAT(loaded(31, 0), HasSubstr("ldmatrix by 31 lanes of the warp"));
    EXPECT_THAT(loaded(32, 4), AllOf(HasSubstr("matrix_test.cu:"), HasSubstr("ldmatrix"),
                                     HasSubstr("a row is not aligned to 16 bytes")));
  });
}

TEST(MatrixInstructions, StandInKernels) {
  EXPECT_THAT(error_of([] {
                float sum[4] = {};
                ptx::mma_m16n8k8_f16(sum, {0, 0}, 0);
              }),
              HasSubstr("mma_m16n8k8_f16 was called outside a kernel"));
}

// TF32 that nobody rounded: what a float has beyond it does not take part.
__global__ void multiply_floats(float value, float* out) {
  const unsigned bits = __float_as_uint(value);
  float sum[4] = {};
  ptx::mma_m16n8k8_tf32(sum, {bits, bits, bits, bits}, {0x3f800000u, 0x3f800000u});
  out[threadIdx.x] = sum[0];
}

TEST(MatrixInstructions, CutFloatsOffToTf32) {
  std::vector<float> out(32);
  launch(multiply_floats, {.grid = 1, .block = 32}, 1 + 0x1p-10f + 0x1p-11f, out.data());
  EXPECT_THAT(out, Each(8 + 8 * 0x1p-10f));
}

// A's rows come by asynchronous copies, B is 1 throughout.
__global__ void multiply_copied(bool wait, const f16* a, float* out) {
  alignas(16) __shared__ f16 rows[16 * 16];
  const unsigned lane = threadIdx.x;
  ptx::cp_async_cg(rows + lane * 8, a + lane * 8);
  ptx::cp_async_commit();
  if (wait) ptx::cp_async_wait_group<0>();
  __syncwarp();
  unsigned fragment[4];
  ptx::ldmatrix(fragment, rows + lane % 16 * 16 + lane / 16 * 8);
  constexpr unsigned kOnes = 0x3c003c00;
  float sum[4] = {};
  ptx::mma_m16n8k16<f16>(sum, fragment, {kOnes, kOnes});
  for (unsigned i = 0; i < 4; ++i) out[lane * 4 + i] = sum[i];
}

TEST(MatrixInstructions, OfACopyInFlightGiveNan) {
  alignas(16) f16 a[16 * 16];
  std::fill_n(a, 16 * 16, f16(0.5f));
  const ScopedSchedule scope({ThreadOrder::forward});
  std::vector<float> out(128);
  const f16* const source = a;
  launch(multiply_copied, {.grid = 1, .block = 32}, true, source, out.data());
  EXPECT_THAT(out, Each(8.0f));
  launch(multiply_copied, {.grid = 1, .block = 32}, false, source, out.data());
  EXPECT_TRUE(std::all_of(out.begin(), out.end(), [](float v) { return std::isnan(v); }));
}

} // namespace
} // namespace kg::executor
