// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Accesses that nothing orders: each kernel has one synchronisation too few, and passes with it.
#include "tests/unit/kernels/runtime/host/check/finding.h"

namespace kg::test {
namespace {

class Races : public Checkers {};
INSTANTIATE_TEST_SUITE_P(Orders, Races, kOrders, order_name);

std::string line(int number) { return "race_test.cu:" + std::to_string(number); }

// Where a hint puts a barrier.
std::string lines(int from, int to) {
  return "between lines " + std::to_string(from) + " and " + std::to_string(to) + " of ";
}

// Each thread reads what its neighbour wrote, twice.
constexpr int kNeighbourWrite = __LINE__ + 4;
__global__ void neighbours(float* out, bool first_barrier, bool second_barrier) {
  __shared__ float values[64];
  for (int round = 0; round < 2; ++round) {
    values[threadIdx.x] = static_cast<float>(threadIdx.x + round);
    if (first_barrier) __syncthreads();
    out[threadIdx.x] = values[63 - threadIdx.x];
    if (second_barrier) __syncthreads();
  }
}
constexpr int kNeighbourRead = kNeighbourWrite + 2;

TEST_P(Races, NoneBetweenBarriers) {
  const DeviceBuffer<float> out(64);
  EXPECT_THAT(finding(neighbours, {1, 64}, out.data(), true, true), IsEmpty());
}

TEST_P(Races, MissingBarrierAfterTheWrite) {
  const DeviceBuffer<float> out(64);
  EXPECT_THAT(
      finding(neighbours, {1, 64}, out.data(), false, true),
      AllOf(HasSubstr("[race] kernel "), HasSubstr(line(kNeighbourWrite)),
            HasSubstr(line(kNeighbourRead)), HasSubstr("of __shared__"), HasSubstr("values"),
            HasSubstr("hint: put __syncthreads() " + lines(kNeighbourWrite, kNeighbourRead))));
}

TEST_P(Races, MissingBarrierBeforeTheNextWrite) {
  const DeviceBuffer<float> out(64);
  EXPECT_THAT(finding(neighbours, {1, 64}, out.data(), true, false),
              AllOf(HasSubstr("[race]"), HasSubstr(line(kNeighbourWrite)),
                    HasSubstr(line(kNeighbourRead)),
                    HasSubstr("put __syncthreads() after line " + std::to_string(kNeighbourRead) +
                              ", before the loop returns to line " +
                              std::to_string(kNeighbourWrite) + " of ")));
}

// Each thread adds to a word of its own, in shared and in global memory. Then its neighbour in the
// warp, or in another one, reads or overwrites the word.
enum class Intruder { none, reads, overwrites, reads_global, overwrites_global };

__global__ void own_sums(volatile float* addend, float* out, unsigned distance, Intruder intruder,
                         bool barrier) {
  __shared__ float values[64];
  values[threadIdx.x] = 0;
  for (int i = 0; i < 4; ++i) {
    values[threadIdx.x] += addend[i];
    out[threadIdx.x] += values[threadIdx.x];
  }
  if (barrier) __syncthreads();
  if ((threadIdx.x & distance) == 0) return; // else each intrudes, and one finding hides another
  const unsigned other = threadIdx.x ^ distance;
  if (intruder == Intruder::reads) addend[4 + threadIdx.x] = values[other];
  if (intruder == Intruder::overwrites) values[other] = static_cast<float>(threadIdx.x);
  if (intruder == Intruder::reads_global) addend[4 + threadIdx.x] = out[other];
  if (intruder == Intruder::overwrites_global) out[other] = static_cast<float>(threadIdx.x);
}

TEST_P(Races, OnesOwnSums) {
  const auto addend = filled<float>(68, 1), out = filled<float>(64);
  EXPECT_THAT(finding(own_sums, {1, 64}, addend.data(), out.data(), 1u, Intruder::none, false),
              IsEmpty());
  for (const unsigned distance : {1u, 32u})
    for (const Intruder intruder : {Intruder::reads, Intruder::overwrites, Intruder::reads_global,
                                    Intruder::overwrites_global}) {
      const auto found = [&](bool barrier) {
        return finding(own_sums, {1, 64}, addend.data(), out.data(), distance, intruder, barrier);
      };
      EXPECT_THAT(found(true), IsEmpty());
      EXPECT_THAT(found(false), HasSubstr("[race] kernel "))
          << distance << ", " << static_cast<int>(intruder);
    }
}

// Within a warp: __syncwarp orders, a shuffle does not.
enum class Between { nothing, shuffle, whole_warp, halves };

__global__ void lanes(float* out, Between between) {
  __shared__ float values[32];
  const unsigned lane = threadIdx.x;
  values[lane] = static_cast<float>(lane);
  const unsigned half = lane < 16 ? 0x0000ffffu : 0xffff0000u;
  if (between == Between::shuffle) (void)__shfl_sync(0xffffffffu, 1.0f, 0);
  if (between == Between::whole_warp) __syncwarp();
  if (between == Between::halves) __syncwarp(half);
  out[lane] = values[lane ^ 8]; // in the same half
}

TEST_P(Races, LanesOfAWarp) {
  const DeviceBuffer<float> out(32);
  EXPECT_THAT(finding(lanes, {1, 32}, out.data(), Between::whole_warp), IsEmpty());
  EXPECT_THAT(finding(lanes, {1, 32}, out.data(), Between::halves), IsEmpty());
  EXPECT_THAT(finding(lanes, {1, 32}, out.data(), Between::nothing),
              AllOf(HasSubstr("[race]"), HasSubstr("put __syncwarp() between lines ")));
  EXPECT_THAT(finding(lanes, {1, 32}, out.data(), Between::shuffle), HasSubstr("[race]"));
}

constexpr int kLaneWrite = __LINE__ + 4;
__global__ void lanes_in_a_loop(float* out) {
  __shared__ float values[32];
  for (int round = 0; round < 2; ++round) {
    values[threadIdx.x] = static_cast<float>(round);
    __syncwarp();
    out[threadIdx.x] = values[threadIdx.x ^ 8];
  }
}

TEST_P(Races, LanesThatMeetOnceARound) {
  const DeviceBuffer<float> out(32);
  EXPECT_THAT(finding(lanes_in_a_loop, {1, 32}, out.data()),
              HasSubstr("put __syncwarp() after line " + std::to_string(kLaneWrite + 2) +
                        ", before the loop returns to line " + std::to_string(kLaneWrite)));
}

// Lanes of one warp race first, two warps later: the hint is what repairs both.
__global__ void shift_in_place(float* out) {
  __shared__ float values[96];
  values[threadIdx.x] = 1;
  __syncthreads();
  if (threadIdx.x > 0) values[threadIdx.x] += values[threadIdx.x - 1];
  __syncthreads();
  out[threadIdx.x] = values[threadIdx.x];
}

TEST_P(Races, HintIsForAllPairsOfTwoLines) {
  const DeviceBuffer<float> out(96);
  const std::string found = finding(shift_in_place, {1, 96}, out.data());
  EXPECT_THAT(found, AllOf(HasSubstr("[race]"),
                           HasSubstr("put __syncthreads() between the two accesses of ")));
  EXPECT_THAT(found, testing::Not(HasSubstr("__syncwarp")));
}

__global__ void across_halves(float* out) {
  __shared__ float values[32];
  const unsigned lane = threadIdx.x;
  values[lane] = static_cast<float>(lane);
  __syncwarp(lane < 16 ? 0x0000ffffu : 0xffff0000u);
  out[lane] = values[lane ^ 16];
}

TEST_P(Races, HalvesAreNotOrderedWithEachOther) {
  const DeviceBuffer<float> out(32);
  EXPECT_THAT(finding(across_halves, {1, 32}, out.data()), HasSubstr("[race]"));
}

// A warp's synchronisation says nothing to another warp.
__global__ void two_warps(float* out, bool whole_block) {
  __shared__ float value;
  if (threadIdx.x == 0) value = 1;
  if (whole_block) {
    __syncthreads();
  } else {
    __syncwarp();
  }
  out[threadIdx.x] = value;
}

TEST_P(Races, WarpsOfABlock) {
  const DeviceBuffer<float> out(64);
  EXPECT_THAT(finding(two_warps, {1, 64}, out.data(), true), IsEmpty());
  EXPECT_THAT(finding(two_warps, {1, 64}, out.data(), false), HasSubstr("[race]"));
}

// --- Global memory, between blocks

__global__ void store_block(int* out, int value_of_all) {
  if (threadIdx.x == 0) *out = value_of_all < 0 ? static_cast<int>(blockIdx.x) : value_of_all;
}

TEST_P(Races, BlocksThatWriteOnePlace) {
  const DeviceBuffer<int> out(1);
  EXPECT_THAT(finding(store_block, {4, 32}, out.data(), -1),
              AllOf(HasSubstr("[race]"), HasSubstr("thread (0,0,0) of block ("),
                    HasSubstr("blocks of a launch run in any order")));
}

// Whichever is last, the result is the same: `found = true` by many threads is common and right.
TEST_P(Races, WritersOfOneValue) {
  const DeviceBuffer<int> out(1);
  EXPECT_THAT(finding(store_block, {4, 32}, out.data(), 7), IsEmpty());
  EXPECT_EQ(out.to_host(stream_)[0], 7);
}

// Each block a word of its own bits, though as floats all are NaN.
__global__ void store_bits(unsigned* out, const unsigned* words) {
  if (threadIdx.x == 0) *out = words[blockIdx.x];
}

// NaN that a GPU's arithmetic would have given as one: a CPU's own, the compiler's, a GPU's.
TEST_P(Races, WritersOfNan) {
  const DeviceBuffer<unsigned> out(1);
  const auto finding_of = [&](const std::vector<unsigned>& words) {
    const auto values = DeviceBuffer<unsigned>::from_host(words, stream_);
    return finding(store_bits, {4, 32}, out.data(), values.data());
  };
  EXPECT_THAT(finding_of({0xffc00000, 0x7fc00000, 0x7fffffff, 0x7fc00000}), IsEmpty());
  EXPECT_THAT(finding_of({0xffffffff, 0xfffffffe, 0xffffffff, 0xfffffffd}), HasSubstr("[race]"))
      << "-1, -2 and -3";
  EXPECT_THAT(finding_of({0x7fc00000, 0x7fc00000, 0x3f800000, 0x7fc00000}), HasSubstr("[race]"));
}

__global__ void read_next_block(int* values, int* out) {
  values[blockIdx.x] = 1;
  out[blockIdx.x] = values[(blockIdx.x + 1) % gridDim.x];
}

TEST_P(Races, BlockThatReadsWhatAnotherWrites) {
  const auto values = filled<int>(4);
  const DeviceBuffer<int> out(4);
  EXPECT_THAT(finding(read_next_block, {4, 1}, values.data(), out.data()), HasSubstr("[race]"));
  EXPECT_THAT(finding(read_next_block, {1, 1}, values.data(), out.data()), IsEmpty());
}

TEST_P(Races, LaunchesAreOrdered) {
  const DeviceBuffer<int> out(1);
  EXPECT_THAT(finding(store_block, {1, 1}, out.data(), 1), IsEmpty());
  EXPECT_THAT(finding(store_block, {1, 1}, out.data(), 2), IsEmpty());
}

// --- Elements smaller than a word

__global__ void write_halves(f16* out, int distance) {
  out[threadIdx.x / static_cast<unsigned>(distance)] =
      from_float<f16>(static_cast<float>(threadIdx.x));
}

TEST_P(Races, NeighbouringHalvesAreApart) {
  const DeviceBuffer<f16> out(64);
  EXPECT_THAT(finding(write_halves, {1, 64}, out.data(), 1), IsEmpty());
  EXPECT_THAT(finding(write_halves, {1, 64}, out.data(), 2), HasSubstr("[race]"));
}

__global__ void read_word_write_byte(unsigned* words, unsigned* out) {
  if (threadIdx.x == 0) *out = *words;
  if (threadIdx.x == 33) reinterpret_cast<unsigned char*>(words)[2] = 7;
}

TEST_P(Races, ByteOfAWordThatIsReadWhole) {
  const auto words = filled<unsigned>(1);
  const DeviceBuffer<unsigned> out(1);
  EXPECT_THAT(finding(read_word_write_byte, {1, 64}, words.data(), out.data()),
              HasSubstr("[race]"));
}

// --- Atomic and plain

__global__ void count(int* counter, int* out, bool plain_read, bool plain_write) {
  if (plain_write && threadIdx.x == 0 && blockIdx.x == 0) *counter = 5;
  atomicAdd(counter, 1);
  if (plain_read && threadIdx.x == 0) out[blockIdx.x] = *counter;
}

TEST_P(Races, AtomicsDoNotRaceWithEachOther) {
  const auto counter = filled<int>(1);
  const DeviceBuffer<int> out(4);
  EXPECT_THAT(finding(count, {4, 64}, counter.data(), out.data(), false, false), IsEmpty());
  EXPECT_EQ(counter.to_host(stream_)[0], 256);
}

TEST_P(Races, PlainReadOfAnAtomicCounter) {
  const auto counter = filled<int>(1);
  const DeviceBuffer<int> out(4);
  EXPECT_THAT(finding(count, {4, 64}, counter.data(), out.data(), true, false),
              AllOf(HasSubstr("[race]"), ContainsRegex("only .*race_test.cu:[0-9]+ is atomic: make "
                                                       ".*race_test.cu:[0-9]+ atomic, or put")));
}

TEST_P(Races, PlainWriteToAnAtomicCounter) {
  const auto counter = filled<int>(1);
  const DeviceBuffer<int> out(4);
  EXPECT_THAT(finding(count, {4, 64}, counter.data(), out.data(), false, true),
              HasSubstr("[race]"));
}

// The guess with which a loop around atomicCAS begins needs no order: the swap confirms it.
__global__ void multiply_by_swap(unsigned* product) {
  unsigned old = *product;
  unsigned assumed;
  do {
    assumed = old;
    old = atomicCAS(product, assumed, assumed * 3);
  } while (old != assumed);
}

TEST_P(Races, GuessThatASwapConfirms) {
  const auto product = filled<unsigned>(1, 1);
  EXPECT_THAT(finding(multiply_by_swap, {2, 5}, product.data()), IsEmpty());
  EXPECT_EQ(product.to_host(stream_)[0], 59049u);
}

// A thread that leaves the loop early has only guessed. What it reads behind the loop is no guess.
__global__ void maximum_by_swap(const unsigned* in, unsigned* largest, unsigned* out, bool read) {
  const unsigned mine = in[blockIdx.x * blockDim.x + threadIdx.x];
  unsigned old = *largest;
  while (old < mine) {
    const unsigned assumed = old;
    old = atomicCAS(largest, assumed, mine);
    if (old == assumed) break;
  }
  if (read) out[blockIdx.x * blockDim.x + threadIdx.x] = *largest;
}

TEST_P(Races, GuessOfAThreadThatNeedsNoSwap) {
  const DeviceBuffer<unsigned> out(10);
  for (const bool falling : {true, false}) {
    std::vector<unsigned> values(10);
    for (unsigned i = 0; i < 10; ++i) values[i] = falling ? 20 - i : 10 + i;
    const auto in = DeviceBuffer<unsigned>::from_host(values, stream_);
    for (const bool read : {false, true}) {
      const auto largest = filled<unsigned>(1);
      const std::string found =
          finding(maximum_by_swap, {2, 5}, in.data(), largest.data(), out.data(), read);
      EXPECT_EQ(found.starts_with("[race]"), read) << found;
      EXPECT_EQ(largest.to_host(stream_)[0], falling ? 20 : 19);
    }
  }
}

// Lanes that trust to run in step, as older code does.
__global__ void in_step(float* out) {
  __shared__ volatile float values[64];
  values[threadIdx.x] = 1;
  __syncthreads();
  if (threadIdx.x < 32) {
    for (unsigned step = 32; step > 0; step /= 2)
      values[threadIdx.x] = values[threadIdx.x] + values[threadIdx.x + step];
  }
  if (threadIdx.x == 0) *out = values[0];
}

TEST_P(Races, VolatileDoesNotOrderLanes) {
  const DeviceBuffer<float> out(1);
  EXPECT_THAT(finding(in_step, {1, 64}, out.data()),
              AllOf(HasSubstr("[race]"), HasSubstr("lanes of a warp do not run in step")));
}

// --- The same seed, the same words

TEST_P(Races, FindingsAreDeterministic) {
  const DeviceBuffer<float> out(64);
  const std::string once = finding(neighbours, {1, 64}, out.data(), false, false);
  EXPECT_THAT(once, HasSubstr("[race]"));
  EXPECT_EQ(finding(neighbours, {1, 64}, out.data(), false, false), once);
}

} // namespace
} // namespace kg::test
