// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Buffers that a launch reads for a while before it writes to them: what was only noted until then
// must be known as well as if it had been judged at once.
#include "tests/unit/kernels/runtime/host/check/finding.h"

#include <cstddef>
#include <cstdint>

namespace kg::test {
namespace {

class QuietBuffers : public Checkers {};
INSTANTIATE_TEST_SUITE_P(Orders, QuietBuffers, kOrders, order_name);

std::string line(int number) { return "read_log_test.cu:" + std::to_string(number); }

constexpr int kWords = 4096;

// Block 0 reads `count` words from `first` on, `stride` apart; block 1 writes one.
constexpr int kWalkRead = __LINE__ + 5;
__global__ void walk(int* words, int first, int stride, int count, int written, int* out) {
  int sum = 0;
  for (int i = 0; i < count; ++i) {
    if (blockIdx.x == 1) break;
    sum += words[first + i * stride];
  }
  if (blockIdx.x == 1) words[written] = 7;
  out[blockIdx.x] = sum;
}
constexpr int kWalkWrite = kWalkRead + 2;

TEST_P(QuietBuffers, EveryWordOfARunIsKnown) {
  auto words = filled<int>(kWords, 1);
  const DeviceBuffer<int> out(2);
  struct Case {
    int first, stride, count;
  };
  for (const Case walked : {Case{3, 1, 100}, Case{5, 700, 5}, Case{4000, -900, 5}, Case{9, 0, 4}}) {
    const auto [first, stride, count] = walked;
    for (const int i : {0, 1, count / 2, count - 1}) {
      words = filled<int>(kWords, 1);
      EXPECT_THAT(
          finding(walk, {2, 1}, words.data(), first, stride, count, first + i * stride, out.data()),
          AllOf(HasSubstr("[race]"), HasSubstr("of block (0,0,0) read"), HasSubstr(line(kWalkRead)),
                HasSubstr(line(kWalkWrite))))
          << first << " + " << i << " * " << stride;
    }
    for (const int beside : {first + count * stride, first - stride, first + 2}) {
      if (stride != 0 && beside >= 0 && beside < kWords && (beside - first) % stride != 0) {
        EXPECT_THAT(finding(walk, {2, 1}, words.data(), first, stride, count, beside, out.data()),
                    IsEmpty())
            << first << " + i * " << stride << ", " << beside;
      }
    }
  }
}

// The threads of block 0 read a word each, in rows of 8 that are 20 apart: one run. Then a thread
// of `block` writes a word.
constexpr int kShareRead = __LINE__ + 3;
__global__ void share_out(int* words, unsigned block, unsigned writer, int written, int* out) {
  const unsigned thread = threadIdx.x;
  if (blockIdx.x == 0) out[thread] = words[thread / 8 * 20 + thread % 8];
  __nanosleep(100);
  if (blockIdx.x == block && thread == writer) words[written] = 7;
}

TEST_P(QuietBuffers, EveryThreadOfARunIsKnown) {
  const DeviceBuffer<int> out(64);
  const auto found = [&](unsigned block, unsigned writer, int written) {
    const auto words = filled<int>(160, 1);
    return finding(share_out, {2, 64}, words.data(), block, writer, written, out.data());
  };
  for (const unsigned thread : {0u, 1u, 7u, 8u, 9u, 31u, 32u, 56u, 63u}) {
    const int read = static_cast<int>(thread / 8 * 20 + thread % 8);
    const std::string reader = "thread (" + std::to_string(thread) + ",0,0)";
    const auto race = AllOf(HasSubstr("[race]"), HasSubstr(reader), HasSubstr(line(kShareRead)));
    EXPECT_THAT(found(1, 5, read), race) << thread;
    EXPECT_THAT(found(0, (thread + 1) % 64, read), race) << thread;
    EXPECT_THAT(found(0, (thread + 32) % 64, read), race) << thread;
    EXPECT_THAT(found(0, thread, read), IsEmpty()) << thread;
  }
  for (const int beside : {8, 19, 28, 148}) EXPECT_THAT(found(0, 5, beside), IsEmpty()) << beside;
}

TEST_P(QuietBuffers, ARunEndsWithItsBuffer) {
  const auto words = filled<int>(kWords, 1);
  const DeviceBuffer<int> out(2);
  EXPECT_THAT(finding(walk, {1, 1}, words.data(), 0, 512, 9, 0, out.data()),
              AllOf(HasSubstr("[out-of-bounds]"), HasSubstr("just behind the end")));
  EXPECT_THAT(finding(walk, {1, 1}, words.data(), 4095, -1025, 5, 0, out.data()),
              AllOf(HasSubstr("[out-of-bounds]"), HasSubstr("bytes before a buffer")));
}

__global__ void misaligned_walk(const unsigned char* bytes, int* out) {
  int sum = 0;
  for (int i = 0; i < 4; ++i) sum += *reinterpret_cast<const int*>(bytes + 6 * i);
  *out = sum;
}

TEST_P(QuietBuffers, ARunIsAligned) {
  const auto bytes = filled<unsigned char>(64, 1);
  const DeviceBuffer<int> out(1);
  EXPECT_THAT(finding(misaligned_walk, {1, 1}, bytes.data(), out.data()),
              HasSubstr("[misaligned]"));
}

// Everybody reads everything; then one thread of another warp writes.
__global__ void read_then_write(int* words, bool barrier, int* out) {
  int sum = 0;
  for (int i = 0; i < 64; ++i) sum += words[i];
  if (barrier) __syncthreads();
  if (threadIdx.x == 40) words[17] = 9;
  out[threadIdx.x] = sum;
}

TEST_P(QuietBuffers, ABarrierOrdersWhatWasNoted) {
  const auto words = filled<int>(64, 1);
  const DeviceBuffer<int> out(64);
  EXPECT_THAT(finding(read_then_write, {1, 64}, words.data(), true, out.data()), IsEmpty());
  EXPECT_THAT(finding(read_then_write, {1, 64}, words.data(), false, out.data()),
              HasSubstr("[race]"));
}

// The same word before and after a barrier, by two instructions in this order or the other: the
// later read is the one that is not ordered.
__global__ void read_twice(int* words, bool half_first, int* out) {
  int sum = 0;
  for (int round = 0; round < 2; ++round) {
    if (threadIdx.x == 0) {
      if ((round == 0) == half_first) {
        sum += reinterpret_cast<const short*>(words)[6];
      } else {
        sum += words[3];
      }
    }
    if (round == 0) __syncthreads();
  }
  if (threadIdx.x == 32) words[3] = 2;
  out[threadIdx.x] = sum;
}

TEST_P(QuietBuffers, TheLastReadCounts) {
  const DeviceBuffer<int> out(64);
  for (const bool half_first : {false, true}) {
    const auto words = filled<int>(8, 1);
    EXPECT_THAT(finding(read_twice, {1, 64}, words.data(), half_first, out.data()),
                HasSubstr("[race]"))
        << half_first;
  }
}

// Of two buffers that were read, one is written; then the other.
__global__ void write_one_then_other(int* one, int* other, int written) {
  if (blockIdx.x == 0) {
    const int value = *one + *other;
    if (written == 0) *one = value + 1;
    if (written == 1) *other = value + 1;
  } else {
    *(written == 0 ? other : one) = 3;
  }
}

TEST_P(QuietBuffers, AWriteToOneBufferLosesNothingOfAnother) {
  for (const int written : {0, 1}) {
    const auto one = filled<int>(1, 1);
    const auto other = filled<int>(1, 1);
    EXPECT_THAT(
        finding(write_one_then_other, {2, 1}, one.data(), other.data(), written),
        AllOf(HasSubstr("[race]"), HasSubstr(written == 0 ? "(argument 2)" : "(argument 1)")));
  }
}

// Thread 32 hands its read over to thread 64, and only then learns of thread 0's, which thread 64
// therefore does not know.
__global__ void knows_of_one(int* word, int* flags, int* out) {
  const unsigned thread = threadIdx.x;
  if (thread == 0) {
    out[0] = *word;
    __threadfence();
    atomicExch(&flags[0], 1);
  } else if (thread == 32) {
    out[1] = *word;
    __threadfence();
    atomicExch(&flags[1], 1);
    while (atomicAdd(&flags[0], 0) == 0) __nanosleep(10);
    atomicExch(&flags[2], 1);
  } else if (thread == 64) {
    while (atomicAdd(&flags[1], 0) == 0) __nanosleep(10);
    while (atomicAdd(&flags[2], 0) == 0) __nanosleep(10);
    *word = 5;
  }
}

TEST_P(QuietBuffers, KnowledgeThatCameLaterDoesNotCount) {
  const auto word = filled<int>(1, 1);
  const auto flags = filled<int>(3);
  const DeviceBuffer<int> out(2);
  EXPECT_THAT(finding(knows_of_one, {1, 96}, word.data(), flags.data(), out.data()),
              AllOf(HasSubstr("[race]"), HasSubstr("which thread (0,0,0) read")));
}

// No two reads of a thread are equally far apart from the one before.
__global__ void gather(unsigned* words, unsigned* out) {
  unsigned at = threadIdx.x;
  unsigned sum = 0;
  for (int i = 0; i < 1200; ++i) {
    at = at * 1664525u + 1013904223u;
    if (blockIdx.x == 0) sum += words[at / 4096 % kWords];
  }
  if (blockIdx.x == 1 && threadIdx.x == 0) words[100] = 7;
  out[threadIdx.x + blockIdx.x * 1024] = sum;
}

TEST_P(QuietBuffers, MoreThanCanBeNoted) {
  const auto words = filled<unsigned>(kWords, 1u);
  const DeviceBuffer<unsigned> out(2048);
  EXPECT_THAT(finding(gather, {2, 1024}, words.data(), out.data()), HasSubstr("[race]"));
}

} // namespace
} // namespace kg::test
