// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Matrix instructions: which element of a matrix each register of each lane holds, one by one as
// the PTX ISA lists them ("Matrix Fragments for mma"), against plain products of integers, which
// are exact. ldmatrix and f16 from architecture 7.5 on, the others from 8.0.
#include "tests/unit/kernels/runtime/ptx/idioms/idiom.h"

#include "instructions/ldmatrix.h"
#include "instructions/mma.h"
#include "instructions/tf32.h"
#include "runtime/device.h"

#include <bit>
#include <cmath>
#include <limits>

namespace kg::idioms {
namespace {

class Matrix : public testing::Test {
 protected:
  void SetUp() override {
    if (device_properties().compute_major < 8)
      GTEST_SKIP() << "these matrix instructions need compute capability 8.0";
  }
};

constexpr unsigned kM = 16, kN = 8;

// A few bits of each operand's element numbers, mixed: no two elements of a matrix are equal, and
// neighbours do not lie next to each other. Exact in f16, bf16 and tf32.
float scattered(unsigned i, unsigned size) {
  return static_cast<float>(i * 77 % size) - static_cast<float>(size / 2);
}

std::vector<float> distinct(unsigned size) {
  std::vector<float> values(size);
  for (unsigned i = 0; i < size; ++i) values[i] = scattered(i, size);
  return values;
}

// a of kM x depth, b of depth x kN, c of kM x kN, by rows.
std::vector<float> product_sum(const std::vector<float>& a, const std::vector<float>& b,
                               const std::vector<float>& c) {
  const std::size_t depth = b.size() / kN;
  std::vector<float> result;
  for (unsigned row = 0; row < kM; ++row) {
    for (unsigned column = 0; column < kN; ++column) {
      double sum = c[row * kN + column];
      for (std::size_t k = 0; k < depth; ++k)
        sum += static_cast<double>(a[row * depth + k]) * b[k * kN + column];
      result.push_back(static_cast<float>(sum));
    }
  }
  return result;
}

// The number c_i of the sum: which element of C it is.
__device__ unsigned sum_element(unsigned lane, unsigned i) {
  const unsigned row = i < 2 ? lane / 4 : lane / 4 + 8;
  return row * kN + lane % 4 * 2 + i % 2;
}

__device__ void load_sum(float (&sum)[4], const float* c) {
  for (unsigned i = 0; i < 4; ++i) sum[i] = c[sum_element(threadIdx.x, i)];
}
__device__ void store_sum(const float (&sum)[4], float* d) {
  for (unsigned i = 0; i < 4; ++i) d[sum_element(threadIdx.x, i)] = sum[i];
}

template <class T>
__device__ unsigned pair(float low, float high) {
  const T halves[2] = {from_float<T>(low), from_float<T>(high)};
  unsigned bits;
  memcpy(&bits, halves, sizeof bits);
  return bits;
}

using Kernel = void (*)(const float* a, const float* b, const float* c, float* d);

template <class T>
__global__ void multiply_k16(const float* a, const float* b, const float* c, float* d) {
  const unsigned group = threadIdx.x / 4;
  const unsigned in_group = threadIdx.x % 4;
  float numbers[8]; // a_0 to a_7, then b_0 to b_3
  for (unsigned i = 0; i < 8; ++i) {
    const unsigned row = i < 2 || (i >= 4 && i < 6) ? group : group + 8;
    const unsigned column = in_group * 2 + i % 2 + (i < 4 ? 0 : 8);
    numbers[i] = a[row * 16 + column];
  }
  unsigned fragment_a[4], fragment_b[2];
  for (unsigned r = 0; r < 4; ++r) fragment_a[r] = pair<T>(numbers[2 * r], numbers[2 * r + 1]);
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned row = in_group * 2 + i % 2 + (i < 2 ? 0 : 8);
    numbers[i] = b[row * kN + group];
  }
  for (unsigned r = 0; r < 2; ++r) fragment_b[r] = pair<T>(numbers[2 * r], numbers[2 * r + 1]);
  float sum[4];
  load_sum(sum, c);
  ptx::mma_m16n8k16<T>(sum, fragment_a, fragment_b);
  store_sum(sum, d);
}

__global__ void multiply_k8(const float* a, const float* b, const float* c, float* d) {
  const unsigned group = threadIdx.x / 4;
  const unsigned k = threadIdx.x % 4 * 2;
  const float* const upper = a + group * 8 + k;
  const float* const lower = upper + 8 * 8;
  const unsigned fragment_a[2] = {pair<f16>(upper[0], upper[1]), pair<f16>(lower[0], lower[1])};
  float sum[4];
  load_sum(sum, c);
  ptx::mma_m16n8k8_f16(sum, fragment_a, pair<f16>(b[k * kN + group], b[(k + 1) * kN + group]));
  store_sum(sum, d);
}

__global__ void multiply_tf32(const float* a, const float* b, const float* c, float* d) {
  const unsigned group = threadIdx.x / 4;
  const unsigned in_group = threadIdx.x % 4;
  unsigned fragment_a[4], fragment_b[2];
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned row = i % 2 == 0 ? group : group + 8;
    const unsigned column = i < 2 ? in_group : in_group + 4;
    fragment_a[i] = ptx::to_tf32(a[row * 8 + column]);
  }
  for (unsigned i = 0; i < 2; ++i) fragment_b[i] = ptx::to_tf32(b[(in_group + 4 * i) * kN + group]);
  float sum[4];
  load_sum(sum, c);
  ptx::mma_m16n8k8_tf32(sum, fragment_a, fragment_b);
  store_sum(sum, d);
}

std::vector<float> multiplied(Kernel kernel, const std::vector<float>& a,
                              const std::vector<float>& b, const std::vector<float>& c,
                              Stream& stream) {
  const auto device_a = on_device(a, stream);
  const auto device_b = on_device(b, stream);
  const auto device_c = on_device(c, stream);
  DeviceBuffer<float> d(c.size());
  launch(kernel, {.grid = 1, .block = 32, .stream = &stream}, device_a.data(), device_b.data(),
         device_c.data(), d.data());
  return on_host(d, stream);
}

void expect_exact(Kernel kernel, unsigned depth) {
  const auto a = distinct(kM * depth);
  const auto b = distinct(depth * kN);
  const auto c = distinct(kM * kN);
  under_thread_orders([&](Stream& stream) {
    EXPECT_EQ(multiplied(kernel, a, b, c, stream), product_sum(a, b, c));
  });
}

TEST(MatrixOfF16, Fragments) { expect_exact(multiply_k16<f16>, 16); }
TEST_F(Matrix, FragmentsOfBf16) { expect_exact(multiply_k16<bf16>, 16); }
TEST(MatrixOfF16, ShortFragments) { expect_exact(multiply_k8, 8); }
TEST_F(Matrix, FragmentsOfTf32) { expect_exact(multiply_tf32, 8); }

// A NaN of A reaches its row of the sum and nothing else, an infinity of B its column.
TEST_F(Matrix, SpecialValues) {
  const float infinity = std::numeric_limits<float>::infinity();
  const struct {
    Kernel kernel;
    unsigned depth;
  } kCases[] = {
      {multiply_k16<f16>, 16}, {multiply_k16<bf16>, 16}, {multiply_k8, 8}, {multiply_tf32, 8}};
  Stream stream;
  for (const auto& [kernel, depth] : kCases) {
    std::vector<float> a(kM * depth, 1.0f), b(depth * kN, 1.0f);
    a[3 * depth + 5] = std::numeric_limits<float>::quiet_NaN();
    b[6 * kN + 2] = infinity;
    const auto d = multiplied(kernel, a, b, std::vector<float>(kM * kN, 0.5f), stream);
    for (unsigned row = 0; row < kM; ++row) {
      for (unsigned column = 0; column < kN; ++column) {
        const float value = d[row * kN + column];
        if (row == 3)
          EXPECT_TRUE(std::isnan(value)) << column;
        else
          EXPECT_EQ(value, column == 2 ? infinity : static_cast<float>(depth) + 0.5f);
      }
    }
  }
}

// --- ldmatrix ---

// Rows of 8 elements, far from each other and in no order.
__device__ unsigned place_of_row(unsigned row) { return row * 5 % 32 * 8; }

__device__ unsigned short* fill_rows() {
  auto* const rows = dynamic_shared<unsigned short>();
  for (unsigned i = 0; i < 8; ++i)
    rows[place_of_row(threadIdx.x) + i] = static_cast<unsigned short>(threadIdx.x * 8 + i);
  __syncwarp();
  return rows;
}

// out[lane][i]: what the lane has of matrix i.
template <unsigned kMatrices, bool kTransposed>
__global__ void load_matrices(unsigned* out) {
  const unsigned short* const rows = fill_rows();
  unsigned fragment[kMatrices];
  const unsigned short* const row = rows + place_of_row(threadIdx.x % (8 * kMatrices));
  if constexpr (kTransposed)
    ptx::ldmatrix_trans(fragment, row);
  else
    ptx::ldmatrix(fragment, row);
  for (unsigned i = 0; i < kMatrices; ++i) out[threadIdx.x * kMatrices + i] = fragment[i];
}

template <unsigned kMatrices, bool kTransposed>
void expect_rows() {
  std::vector<unsigned> expected;
  for (unsigned lane = 0; lane < 32; ++lane) {
    for (unsigned i = 0; i < kMatrices; ++i) {
      const auto element = [&](unsigned row, unsigned column) {
        return 64 * i + (kTransposed ? 8 * column + row : 8 * row + column);
      };
      expected.push_back(element(lane / 4, lane % 4 * 2) | element(lane / 4, lane % 4 * 2 + 1)
                                                               << 16);
    }
  }
  under_thread_orders([&](Stream& stream) {
    DeviceBuffer<unsigned> out(expected.size());
    launch(load_matrices<kMatrices, kTransposed>,
           {.grid = 1, .block = 32, .shared_bytes = 512, .stream = &stream}, out.data());
    EXPECT_EQ(on_host(out, stream), expected);
  });
}

TEST(LoadMatrix, RowsOfEachLane) {
  expect_rows<1, false>();
  expect_rows<2, false>();
  expect_rows<4, false>();
}
TEST(LoadMatrix, ColumnsOfEachLane) {
  expect_rows<1, true>();
  expect_rows<2, true>();
  expect_rows<4, true>();
}

// A and B by rows in shared memory: a as it lies, b transposed.
template <class T>
__global__ void multiply_shared(const float* a, const float* b, const float* c, float* d) {
  T* const shared_a = dynamic_shared<T>();
  T* const shared_b = shared_a + 16 * 16;
  for (unsigned i = threadIdx.x; i < 16 * 16; i += 32) shared_a[i] = from_float<T>(a[i]);
  for (unsigned i = threadIdx.x; i < 16 * 8; i += 32) shared_b[i] = from_float<T>(b[i]);
  __syncwarp();
  const unsigned lane = threadIdx.x;
  unsigned fragment_a[4], fragment_b[2];
  ptx::ldmatrix(fragment_a, shared_a + lane % 16 * 16 + lane / 16 * 8);
  ptx::ldmatrix_trans(fragment_b, shared_b + lane % 16 * 8);
  float sum[4];
  load_sum(sum, c);
  ptx::mma_m16n8k16<T>(sum, fragment_a, fragment_b);
  store_sum(sum, d);
}

template <class T>
void expect_exact_from_shared() {
  const auto a = distinct(kM * 16);
  const auto b = distinct(16 * kN);
  const auto c = distinct(kM * kN);
  under_thread_orders([&](Stream& stream) {
    const auto device_a = on_device(a, stream);
    const auto device_b = on_device(b, stream);
    const auto device_c = on_device(c, stream);
    DeviceBuffer<float> d(c.size());
    launch(multiply_shared<T>,
           {.grid = 1, .block = 32, .shared_bytes = (256 + 128) * sizeof(T), .stream = &stream},
           device_a.data(), device_b.data(), device_c.data(), d.data());
    EXPECT_EQ(on_host(d, stream), product_sum(a, b, c));
  });
}

TEST_F(Matrix, FromSharedMemory) {
  expect_exact_from_shared<f16>();
  expect_exact_from_shared<bf16>();
}

// --- TF32 ---

__global__ void round_to_tf32(const float* in, unsigned* out, unsigned* operand) {
  out[threadIdx.x] = ptx::to_tf32(in[threadIdx.x]);
  operand[threadIdx.x] = ptx::to_tf32_operand(in[threadIdx.x]);
}

TEST_F(Matrix, RoundsToTf32) {
  const float kLargest = std::numeric_limits<float>::max();
  const std::vector<float> in = {0.0f,
                                 -0.0f,
                                 1.0f,
                                 1 + 0x1p-11f,  // a tie: away from zero
                                 -1 - 0x1p-11f, //
                                 1 + 0x3p-11f,
                                 1 + 0x1p-11f - 0x1p-23f, // less than half a unit
                                 1 + 0x1p-11f + 0x1p-23f,
                                 2 - 0x1p-23f, // carries into the exponent
                                 0x1p-149f,
                                 -kLargest,
                                 std::numeric_limits<float>::infinity()};
  std::vector<unsigned> expected;
  for (const float value : in) {
    const double unit = std::ldexp(1.0, std::max(std::ilogb(value), -126) - 10);
    const double rounded = std::isinf(value) || value == 0 ? static_cast<double>(value)
                                                           : std::round(value / unit) * unit;
    expected.push_back(std::bit_cast<unsigned>(static_cast<float>(rounded)));
  }
  Stream stream;
  const auto device_in = on_device(in, stream);
  DeviceBuffer<unsigned> out(in.size()), operand(in.size());
  launch(round_to_tf32, {.grid = 1, .block = static_cast<unsigned>(in.size()), .stream = &stream},
         device_in.data(), out.data(), operand.data());
  EXPECT_EQ(on_host(out, stream), expected);
  std::vector<unsigned> seen = on_host(operand, stream); // by mma
  for (unsigned& bits : seen) bits &= ~0x1fffu;
  EXPECT_EQ(seen, expected);
}

} // namespace
} // namespace kg::idioms
