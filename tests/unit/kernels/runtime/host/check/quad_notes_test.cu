// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads of 16 bytes of dynamic shared memory, which are only noted until something else happens to
// them: what is found must be what would have been found at once.
#include "tests/unit/kernels/runtime/host/check/finding.h"

#include <cstddef>
#include <cstdint>

namespace kg::test {
namespace {

class Quads : public Checkers {};
INSTANTIATE_TEST_SUITE_P(Orders, Quads, kOrders, order_name);

std::string line(int number) { return "quad_notes_test.cu:" + std::to_string(number); }

constexpr int kWords = 16;

// One read of 16 bytes.
constexpr int kRead = __LINE__ + 2;
__device__ float sum(const float4* at) {
  const float4 quad = *at;
  return quad.x + quad.y + quad.z + quad.w;
}

// Shared memory as every test finds it: written by thread 0, a barrier behind.
__device__ float4* prepared() {
  auto* const words = dynamic_shared<float>();
  for (int i = 0; threadIdx.x == 0 && i < kWords; ++i) words[i] = 1.0f;
  __syncthreads();
  return reinterpret_cast<float4*>(words);
}

// The threads in `readers` (bits) read the second quad; then `writer` writes one word, or all four
// (word -1).
__global__ void read_then_write(std::uint64_t readers, unsigned writer, int word, bool barrier,
                                float* out) {
  float4* const quads = prepared();
  if (readers >> threadIdx.x & 1) out[threadIdx.x] = sum(&quads[1]);
  if (barrier) __syncthreads();
  __nanosleep(100);
  if (threadIdx.x == writer) {
    const float4 value{2, 3, 4, 5};
    if (word < 0) quads[1] = value;
    if (word >= 0) reinterpret_cast<float*>(quads)[word] = 7;
  }
}

TEST_P(Quads, AWriteToAnyWordMeetsTheReaders) {
  const DeviceBuffer<float> out(64);
  const LaunchConfig config{.grid = 1, .block = 64, .shared_bytes = kWords * 4};
  struct Case {
    std::uint64_t readers;
    unsigned writer;
    bool race;
  };
  for (const Case& c : {Case{1, 0, false}, Case{1, 1, true}, Case{1, 40, true}, Case{3, 0, true},
                        Case{3, 1, true}, Case{7, 1, true}, Case{1 | 1ull << 32, 0, true},
                        Case{1 | 1ull << 32, 32, true}, Case{3 | 1ull << 32, 63, true}}) {
    for (const int word : {-1, 4, 5, 6, 7}) {
      const auto found = [&](bool barrier) {
        return finding(read_then_write, config, c.readers, c.writer, word, barrier, out.data());
      };
      EXPECT_THAT(found(true), IsEmpty());
      if (c.race) {
        EXPECT_THAT(found(false), AllOf(HasSubstr("[race]"), HasSubstr(line(kRead))))
            << c.readers << " " << c.writer << " " << word;
      } else {
        EXPECT_THAT(found(false), IsEmpty());
      }
    }
    for (const int beside : {3, 8})
      EXPECT_THAT(finding(read_then_write, config, c.readers, c.writer, beside, false, out.data()),
                  IsEmpty());
  }
}

// Two lanes of warp 0 read, then one of warp 1; of these three, only the last is not ordered before
// the write.
__global__ void third_reader(float* out) {
  float4* const quads = prepared();
  const unsigned thread = threadIdx.x;
  if (thread < 2 || thread == 32) out[thread] = sum(&quads[1]);
  if (thread < 32) {
    __nanosleep(100);
    __syncwarp();
    if (thread == 0) quads[1].x = 2;
  }
}

TEST_P(Quads, TheThirdReaderOfAnotherWarpCounts) {
  const DeviceBuffer<float> out(64);
  EXPECT_THAT(
      finding(third_reader, {.grid = 1, .block = 64, .shared_bytes = kWords * 4}, out.data()),
      HasSubstr("[race]"));
}

// One quad before and after __syncwarp().
__global__ void read_again(unsigned again, unsigned writer, float* out) {
  float4* const quads = prepared();
  const unsigned thread = threadIdx.x;
  if (thread < 2) out[thread] = sum(&quads[1]);
  __syncwarp();
  if (thread == again) out[thread] += sum(&quads[1]);
  __nanosleep(100);
  if (thread == writer) quads[1].y = 2;
}

TEST_P(Quads, AWarpsBarrierOrdersItsLanesOnly) {
  const DeviceBuffer<float> out(64);
  const LaunchConfig config{.grid = 1, .block = 64, .shared_bytes = kWords * 4};
  const auto found = [&](unsigned again, unsigned writer) {
    return finding(read_again, config, again, writer, out.data());
  };
  EXPECT_THAT(found(99, 5), IsEmpty());
  EXPECT_THAT(found(1, 1), IsEmpty());
  EXPECT_THAT(found(1, 5), HasSubstr("[race]"));
  EXPECT_THAT(found(99, 40), HasSubstr("[race]"));
}

// A lane of warp 1 reads what thread 0 has read, but later by a barrier of its warp, and writes it.
__global__ void read_later_and_write(float* out) {
  float4* const quads = prepared();
  const unsigned thread = threadIdx.x;
  if (thread == 0) out[0] = sum(&quads[1]);
  if (thread >= 32) {
    __nanosleep(100);
    __syncwarp();
    if (thread == 33) {
      out[1] = sum(&quads[1]);
      quads[1].y = 2;
    }
  }
}

TEST_P(Quads, ALaterReadLosesNoEarlierOne) {
  const DeviceBuffer<float> out(64);
  EXPECT_THAT(finding(read_later_and_write, {.grid = 1, .block = 64, .shared_bytes = kWords * 4},
                      out.data()),
              HasSubstr("[race]"));
}

// Words of a quad that nobody reads as one: two writers, or a reader and a writer.
__global__ void word_by_word(bool read, float* out) {
  float4* const quads = prepared();
  const unsigned thread = threadIdx.x;
  if (thread == 0 && read) out[0] = quads[1].x;
  if (thread == 0 && !read) quads[1].x = 3;
  __nanosleep(100);
  if (thread == 40) quads[1].x = 2;
}

TEST_P(Quads, AWriteMeetsSingleWords) {
  const DeviceBuffer<float> out(64);
  for (const bool read : {false, true})
    EXPECT_THAT(finding(word_by_word, {.grid = 1, .block = 64, .shared_bytes = kWords * 4}, read,
                        out.data()),
                AllOf(HasSubstr("[race]"), HasSubstr(read ? "(0,0,0) read" : "(0,0,0) wrote")));
}

// What was written since the last barrier is not settled, whether it was read before or not.
__global__ void write_then_read(bool read_before, bool wide, float* out) {
  float4* const quads = prepared();
  if (threadIdx.x == 0) {
    const float4 value{2, 3, 4, 5};
    if (read_before) out[1] = sum(&quads[1]);
    if (wide) quads[1] = value;
    if (!wide) quads[1].z = 2;
    out[0] = sum(&quads[1]);
  }
  __nanosleep(100);
  if (threadIdx.x == 33) out[2] = sum(&quads[1]);
}

TEST_P(Quads, AWriteIsSeen) {
  const DeviceBuffer<float> out(64);
  for (const bool read_before : {false, true})
    for (const bool wide : {false, true})
      EXPECT_THAT(finding(write_then_read, {.grid = 1, .block = 64, .shared_bytes = kWords * 4},
                          read_before, wide, out.data()),
                  HasSubstr("[race]"));
}

// Thread 32 learns by a fence that thread 0 has read; thread 64, at the same time, has read, too.
__global__ void handed_over(bool third, int* flag, float* out) {
  float4* const quads = prepared();
  if (threadIdx.x == 64 && third) out[2] = sum(&quads[1]);
  if (threadIdx.x == 0) {
    out[0] = sum(&quads[1]);
    __threadfence_block();
    atomicExch(flag, 1);
  } else if (threadIdx.x == 32) {
    while (atomicAdd(flag, 0) == 0) __nanosleep(100);
    quads[1].w = 2;
  }
}

TEST_P(Quads, AFenceHandsOverWhatWasNoted) {
  const DeviceBuffer<float> out(64);
  for (const bool third : {false, true}) {
    const auto flag = filled<int>(1);
    EXPECT_THAT(finding(handed_over, {.grid = 1, .block = 96, .shared_bytes = kWords * 4}, third,
                        flag.data(), out.data()),
                third ? testing::Matcher<std::string>(HasSubstr("[race]")) : IsEmpty());
  }
}

// Thread 32 hands its read over to its warp, and only then learns of thread 0's, which thread 33
// therefore does not know. So what is read after a fence must not wait in a note until it is known.
__global__ void knows_of_one(int* flags, float* out) {
  float4* const quads = prepared();
  const unsigned thread = threadIdx.x;
  if (thread == 0) {
    out[0] = sum(&quads[1]);
    __threadfence_block();
    atomicExch(&flags[0], 1);
  }
  if (thread < 32) return;
  if (thread == 32) out[1] = sum(&quads[1]);
  __syncwarp();
  if (thread == 32) {
    while (atomicAdd(&flags[0], 0) == 0) __nanosleep(10);
    atomicExch(&flags[1], 1);
  } else if (thread == 33) {
    while (atomicAdd(&flags[1], 0) == 0) __nanosleep(10);
    quads[1].w = 2;
  }
}

TEST_P(Quads, AFenceEndsTheNotes) {
  const DeviceBuffer<float> out(2);
  const auto flags = filled<int>(2);
  EXPECT_THAT(finding(knows_of_one, {.grid = 1, .block = 64, .shared_bytes = kWords * 4},
                      flags.data(), out.data()),
              AllOf(HasSubstr("[race]"), HasSubstr("which thread (0,0,0) read")));
}

__global__ void read_unwritten(bool barrier_only, float* out) {
  auto* const words = dynamic_shared<float>();
  if (!barrier_only || blockIdx.x == 0)
    for (int i = 0; i < (barrier_only ? 8 : 7); ++i) words[i] = 1;
  __syncthreads();
  out[blockIdx.x] = sum(reinterpret_cast<const float4*>(words) + 1);
}

TEST_P(Quads, EveryWordMustBeWritten) {
  const DeviceBuffer<float> out(2);
  // The last word of the quad is not; in the second case, none is in block 1.
  EXPECT_THAT(finding(read_unwritten, {.grid = 1, .block = 1, .shared_bytes = kWords * 4}, false,
                      out.data()),
              HasSubstr("[uninitialised]"));
  EXPECT_THAT(finding(read_unwritten, {.grid = 2, .block = 1, .shared_bytes = kWords * 4}, true,
                      out.data()),
              AllOf(HasSubstr("[uninitialised]"), HasSubstr("block (1,0,0)")));
}

__global__ void read_at(std::size_t byte, float* out) {
  const auto* const bytes = reinterpret_cast<const unsigned char*>(prepared());
  *out = sum(reinterpret_cast<const float4*>(bytes + byte));
}

TEST_P(Quads, TheEndAndTheAlignmentAreChecked) {
  const DeviceBuffer<float> out(1);
  const auto found = [&](std::size_t byte) {
    return finding(read_at, {.grid = 1, .block = 1, .shared_bytes = kWords * 4 + 8}, byte,
                   out.data());
  };
  EXPECT_THAT(found(48), IsEmpty());
  EXPECT_THAT(found(64), HasSubstr("[out-of-bounds]"));
  EXPECT_THAT(found(80), HasSubstr("[out-of-bounds]"));
  EXPECT_THAT(found(20), HasSubstr("[misaligned]"));
}

} // namespace
} // namespace kg::test
