// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Where the random order lets another thread run between two accesses: in a kernel's own code, and
// not in an inline function of the standard library, which the checkers call, too, to put a finding
// into words.
#include "tests/unit/kernels/runtime/host/check/finding.h"

#include <algorithm>

namespace kg::test {
namespace {

constexpr int kNumbers = 64; // of each thread

__attribute__((noinline)) void reverse_here(int* first, int* last) {
  while (first < --last) {
    const int number = *first;
    *first++ = *last;
    *last = number;
  }
}

using Reverse = void(int*, int*);
Reverse* volatile reverse_there = std::reverse<int*>; // a call, then, of the library's function

struct Seen {
  int inside, others; // others: who were inside when one came
};

// Not instrumented: between the two counts there are the accesses of `reverse` alone.
__attribute__((noinline, no_sanitize("thread"))) void count_others(Seen* seen, Reverse* reverse,
                                                                   int* numbers) {
  seen->others += seen->inside++;
  reverse(numbers, numbers + kNumbers);
  --seen->inside;
}

__global__ void reverse_all(Seen* seen, Reverse* reverse, int* numbers) {
  count_others(seen, reverse, numbers + threadIdx.x * kNumbers);
}

class Preemption : public testing::Test {
 protected:
  // Of 64 threads, under ten seeds.
  int others(Reverse* reverse) {
    int sum = 0;
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      const ScopedSchedule scope({.order = ThreadOrder::random, .seed = seed});
      Stream stream;
      const auto seen = DeviceBuffer<Seen>::from_host(std::vector<Seen>(1), stream);
      const auto numbers = DeviceBuffer<int>::from_host(std::vector<int>(64 * kNumbers), stream);
      EXPECT_THAT(finding(reverse_all, {1, 64}, seen.data(), reverse, numbers.data()), IsEmpty());
      sum += seen.to_host(stream)[0].others;
    }
    return sum;
  }
};

TEST_F(Preemption, InAKernelsOwnCode) { EXPECT_GT(others(reverse_here), 0); }

TEST_F(Preemption, NotInTheStandardLibrary) { EXPECT_EQ(others(reverse_there), 0); }

} // namespace
} // namespace kg::test
