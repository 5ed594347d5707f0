// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Accesses to memory that is not there, not aligned, not alive or not written: one kernel for each,
// and what is to be said of it. A line that a report must name is marked by LINE.
#include "tests/unit/kernels/runtime/host/check/finding.h"

#include <memory>
#include <optional>

namespace kg::test {
namespace {

class MemoryFaults : public Checkers {};
INSTANTIATE_TEST_SUITE_P(Orders, MemoryFaults, kOrders, order_name);

constexpr int kReadLine = __LINE__ + 4;
__global__ void copy(const float* from, float* to, int count, int from_offset, int to_offset) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= count) return;
  const float value = from[i + from_offset];
  to[i + to_offset] = value;
}
constexpr int kWriteLine = kReadLine + 1;

std::string at_line(int line) { return "memory_fault_test.cu:" + std::to_string(line); }

TEST_P(MemoryFaults, NoneInARightKernel) {
  const auto from = filled<float>(100, 1.0f);
  const DeviceBuffer<float> to(100);
  EXPECT_THAT(finding(copy, {4, 32}, from.data(), to.data(), 100, 0, 0), IsEmpty());
  EXPECT_EQ(to.to_host(stream_), std::vector<float>(100, 1.0f));
}

TEST_P(MemoryFaults, ReadBehindABuffer) {
  const auto from = filled<float>(99);
  const DeviceBuffer<float> to(100);
  EXPECT_THAT(finding(copy, {1, 128}, from.data(), to.data(), 100, 0, 0),
              AllOf(StartsWith("[out-of-bounds] kernel "), HasSubstr("copy"),
                    HasSubstr("block (0,0,0), thread (99,0,0) reads 4 bytes at"),
                    HasSubstr(at_line(kReadLine)),
                    HasSubstr("just behind the end of a buffer of 396 bytes (argument 1)"),
                    HasSubstr("hint: ")));
}

TEST_P(MemoryFaults, WriteBeforeABuffer) {
  const auto from = filled<float>(8);
  const DeviceBuffer<float> to(8);
  EXPECT_THAT(finding(copy, {1, 1}, from.data(), to.data(), 1, 0, -2),
              AllOf(StartsWith("[out-of-bounds]"), HasSubstr("writes 4 bytes at"),
                    HasSubstr(at_line(kWriteLine)),
                    HasSubstr("8 bytes before a buffer of 32 bytes (argument 2)")));
}

TEST_P(MemoryFaults, WriteFarBehindABuffer) {
  const auto from = filled<float>(8);
  const DeviceBuffer<float> to(8);
  EXPECT_THAT(finding(copy, {1, 1}, from.data(), to.data(), 1, 0, 1000),
              AllOf(StartsWith("[out-of-bounds]"), HasSubstr("bytes behind the end of a buffer")));
}

TEST_P(MemoryFaults, BufferWithoutElements) {
  const DeviceBuffer<float> from(0);
  const DeviceBuffer<float> to(8);
  EXPECT_THAT(finding(copy, {1, 1}, from.data(), to.data(), 1, 0, 0),
              AllOf(StartsWith("[out-of-bounds]"), HasSubstr("buffer of 0 bytes")));
}

TEST_P(MemoryFaults, NullPointer) {
  const auto from = filled<float>(8);
  float* const nowhere = nullptr;
  EXPECT_THAT(finding(copy, {1, 1}, from.data(), nowhere, 1, 0, 2),
              AllOf(StartsWith("[out-of-bounds]"), HasSubstr("the null pointer + 8")));
}

TEST_P(MemoryFaults, HostMemory) {
  const auto host = std::make_unique<float[]>(1 << 20); // far from every device buffer
  const DeviceBuffer<float> to(8);
  EXPECT_THAT(finding(copy, {1, 1}, host.get(), to.data(), 1, 1 << 19, 0),
              AllOf(StartsWith("[out-of-bounds]"), HasSubstr("not device memory")));
}

TEST_P(MemoryFaults, FreedBuffer) {
  const DeviceBuffer<float> to(8);
  std::optional<DeviceBuffer<float>> from = filled<float>(8);
  const float* const dangling = from->data();
  from.reset();
  EXPECT_THAT(finding(copy, {1, 1}, dangling, to.data(), 1, 3, 0),
              AllOf(StartsWith("[freed]"), HasSubstr("byte 12 of a freed buffer of 32 bytes")));
}

TEST_P(MemoryFaults, UnwrittenBuffer) {
  const DeviceBuffer<float> from(8);
  const DeviceBuffer<float> to(8);
  EXPECT_THAT(finding(copy, {1, 8}, from.data(), to.data(), 8, 0, 0),
              AllOf(StartsWith("[uninitialised]"), HasSubstr(at_line(kReadLine)),
                    HasSubstr("of a buffer of 32 bytes (argument 1), which nothing has written"),
                    HasSubstr("8 times")));
}

TEST_P(MemoryFaults, PoisonedAgain) {
  auto from = filled<float>(8);
  const DeviceBuffer<float> to(8);
  EXPECT_THAT(finding(copy, {1, 8}, from.data(), to.data(), 8, 0, 0), IsEmpty());
  from.poison(stream_);
  EXPECT_THAT(finding(copy, {1, 8}, from.data(), to.data(), 8, 0, 0),
              StartsWith("[uninitialised]"));
}

TEST_P(MemoryFaults, CopiesOnTheDeviceCarryWhatIsWritten) {
  const auto half_written = DeviceBuffer<float>(8);
  fill_bytes(half_written.data(), 0, 16, stream_);
  const DeviceBuffer<float> copied(8);
  copy_on_device(copied.data(), half_written.data(), 32, stream_);
  const DeviceBuffer<float> to(8);
  EXPECT_THAT(finding(copy, {1, 4}, copied.data(), to.data(), 4, 0, 0), IsEmpty());
  EXPECT_THAT(finding(copy, {1, 1}, copied.data(), to.data(), 1, 4, 0),
              StartsWith("[uninitialised]"));
}

__global__ void copy_quads(const float4* from, float4* to) { to[threadIdx.x] = from[threadIdx.x]; }

TEST_P(MemoryFaults, MisalignedQuad) {
  const auto from = filled<float>(16);
  const DeviceBuffer<float4> to(2);
  EXPECT_THAT(
      finding(copy_quads, {1, 2}, reinterpret_cast<const float4*>(from.data() + 1), to.data()),
      AllOf(StartsWith("[misaligned]"), HasSubstr("reads 16 bytes at"),
            HasSubstr("of a buffer of 64 bytes (argument 1)")));
}

// The last of four elements is beyond the end, the first is not.
TEST_P(MemoryFaults, QuadThatRunsOverTheEnd) {
  const auto from = filled<float>(7);
  const DeviceBuffer<float4> to(2);
  EXPECT_THAT(finding(copy_quads, {1, 2}, reinterpret_cast<const float4*>(from.data()), to.data()),
              AllOf(StartsWith("[out-of-bounds]"), HasSubstr("thread (1,0,0)"),
                    HasSubstr("just behind the end of a buffer of 28 bytes")));
}

__global__ void sum_bytes(const unsigned char* from, int count, unsigned* sum) {
  unsigned total = 0;
  for (int i = 0; i < count; ++i) total += from[i];
  *sum = total;
}

TEST_P(MemoryFaults, SingleBytes) {
  const auto from = filled<unsigned char>(5, 3);
  const DeviceBuffer<unsigned> sum(1);
  EXPECT_THAT(finding(sum_bytes, {1, 1}, from.data(), 5, sum.data()), IsEmpty());
  EXPECT_EQ(sum.to_host(stream_)[0], 15u);
  EXPECT_THAT(
      finding(sum_bytes, {1, 1}, from.data(), 6, sum.data()),
      AllOf(StartsWith("[out-of-bounds]"), HasSubstr("just behind the end of a buffer of 5")));
}

// --- Shared memory

__global__ void rotate_static(float* out, int by, bool write) {
  __shared__ float before[4];
  __shared__ float values[32];
  __shared__ float after[4];
  if (threadIdx.x < 4) before[threadIdx.x] = after[threadIdx.x] = 0;
  if (write) values[threadIdx.x] = static_cast<float>(threadIdx.x);
  __syncthreads();
  const float* const pointer = values;
  out[threadIdx.x] = pointer[static_cast<int>(threadIdx.x) + by] + before[0] + after[0];
}

TEST_P(MemoryFaults, StaticSharedIsRight) {
  const DeviceBuffer<float> out(32);
  EXPECT_THAT(finding(rotate_static, {3, 32}, out.data(), 0, true), IsEmpty());
}

TEST_P(MemoryFaults, StaticSharedOverrun) {
  const DeviceBuffer<float> out(32);
  EXPECT_THAT(finding(rotate_static, {3, 32}, out.data(), 2, true),
              AllOf(StartsWith("[out-of-bounds]"), HasSubstr("behind the end of __shared__"),
                    HasSubstr("values, 128 bytes long")));
}

TEST_P(MemoryFaults, StaticSharedUnderrun) {
  const DeviceBuffer<float> out(32);
  EXPECT_THAT(finding(rotate_static, {3, 32}, out.data(), -1, true),
              AllOf(StartsWith("[out-of-bounds]"), HasSubstr("4 bytes before __shared__"),
                    HasSubstr("values")));
}

// What an earlier block or launch left there does not count.
TEST_P(MemoryFaults, StaticSharedUnwritten) {
  const DeviceBuffer<float> out(32);
  EXPECT_THAT(finding(rotate_static, {1, 32}, out.data(), 0, true), IsEmpty());
  EXPECT_THAT(finding(rotate_static, {2, 32}, out.data(), 0, false),
              AllOf(StartsWith("[uninitialised]"), HasSubstr("of __shared__"), HasSubstr("values"),
                    HasSubstr("64 times")));
}

constexpr int kIndexLine = __LINE__ + 3;
__global__ void index_array(float* out, int row) {
  __shared__ float tile[4][8];
  tile[row][threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] = tile[row][threadIdx.x];
}

// Inside the array as a whole, so that no look at addresses could find it.
TEST_P(MemoryFaults, IndexBeyondARow) {
  const DeviceBuffer<float> out(9);
  EXPECT_THAT(finding(index_array, {1, 8}, out.data(), 3), IsEmpty());
  EXPECT_THAT(finding(index_array, {1, 9}, out.data(), 1),
              AllOf(StartsWith("[out-of-bounds]"), HasSubstr("index 8 of an array 'float [8]'"),
                    HasSubstr(at_line(kIndexLine)), HasSubstr("thread (8,0,0)")));
  EXPECT_THAT(finding(index_array, {1, 8}, out.data(), 4),
              HasSubstr("index 4 of an array 'float [4][8]'"));
}

__global__ void rotate_dynamic(float* out, int by) {
  auto* const values = dynamic_shared<float>();
  values[threadIdx.x] = static_cast<float>(threadIdx.x);
  __syncthreads();
  out[threadIdx.x] = values[threadIdx.x + by];
}

TEST_P(MemoryFaults, DynamicSharedOverrun) {
  const DeviceBuffer<float> out(32);
  EXPECT_THAT(finding(rotate_dynamic, {2, 32, 128}, out.data(), 0), IsEmpty());
  EXPECT_THAT(finding(rotate_dynamic, {2, 32, 132}, out.data(), 1),
              AllOf(StartsWith("[uninitialised]"),
                    HasSubstr("byte 128 of the 132 bytes of dynamic shared memory")));
  EXPECT_THAT(finding(rotate_dynamic, {2, 32, 128}, out.data(), 1),
              AllOf(StartsWith("[out-of-bounds]"),
                    HasSubstr("0 bytes behind the end of the 128 bytes of dynamic shared memory")));
}

// --- Variables

__device__ int device_counter = 0;
__constant__ int constant_table[4] = {1, 2, 3, 4};

__global__ void use_variables(int* out, int index) {
  atomicAdd(&device_counter, 1);
  const int* const table = constant_table;
  out[threadIdx.x] = table[index];
}

TEST_P(MemoryFaults, DeviceAndConstantVariables) {
  const DeviceBuffer<int> out(32);
  EXPECT_THAT(finding(use_variables, {1, 32}, out.data(), 3), IsEmpty());
}

// A fault stops its thread, not the tests: the executor goes on.
TEST_P(MemoryFaults, TheNextLaunchIsClean) {
  const auto from = filled<float>(32, 2.0f);
  const DeviceBuffer<float> to(32);
  EXPECT_THAT(finding(copy, {2, 32}, from.data(), to.data(), 64, 0, 0), StartsWith("[out-of"));
  EXPECT_THAT(finding(copy, {2, 32}, from.data(), to.data(), 32, 0, 0), IsEmpty());
  EXPECT_EQ(to.to_host(stream_), std::vector<float>(32, 2.0f));
}

} // namespace
} // namespace kg::test
