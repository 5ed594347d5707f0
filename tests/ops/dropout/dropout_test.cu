// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests specific to dropout; its card configures those of every operation.
#include "ops/dropout/dropout.h"

#include "runtime/buffer.h"
#include "tests/contract/own_test.h"
#include "tests/contract/samples.h"
#include "tests/ops/random_streams.h"
#include "tests/oracle/fills.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace kg::card {
namespace {

// Known answers that Random123 publishes (kat_vectors, philox4x32 with 10 rounds), and words from
// cuRAND's header for three streams: for the kernels' function and for the tests' own.
KG_OWN_TEST(WordsAreKnown) {
  const auto as_list = [](uint4 four) {
    return std::vector<unsigned>{four.x, four.y, four.z, four.w};
  };
  constexpr unsigned kOnes = 0xffffffff;
  EXPECT_EQ(as_list(philox({0, 0, 0, 0}, {0, 0})),
            (std::vector<unsigned>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(as_list(philox({kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes})),
            (std::vector<unsigned>{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(
      as_list(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0})),
      (std::vector<unsigned>{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
  struct Known {
    RandomStream stream;
    std::vector<unsigned> words;
  };
  const Known known[] = {
      {{1234, 1, 5}, {1698527859, 495137217, 2264860335}},
      {{0xdeadbeefcafef00d, 7, 1000003}, {2541415795, 2707282797, 137474411}},
      {{0xdeadbeefcafef00d, 0x123456789, 0x100000001}, {2904747565, 2093393240, 2118574196}}};
  for (const Known& each : known)
    for (std::size_t i = 0; i < each.words.size(); ++i) {
      const auto index = static_cast<std::int64_t>(i);
      EXPECT_EQ(random_word(each.stream, index), each.words[i]) << "word " << i;
      EXPECT_EQ(word_of(each.stream, index), each.words[i]) << "word " << i;
    }
}

// Runs a variant on n ones, from element `first` of a larger tensor. Returns 1 for each kept
// element.
std::vector<int> kept(Dtype dtype, dropout::Variant variant, float p, std::int64_t n,
                      std::int64_t first, Stream& stream) {
  return dispatch(dtype, [&]<class T>() {
    const std::vector<T> ones(static_cast<std::size_t>(n), from_float<T>(1.0F));
    const auto x = DeviceBuffer<T>::from_host(ones, stream);
    const DeviceBuffer<T> y(ones.size());
    dropout::run(
        dropout::Problem<T>{.n = n,
                            .x = x.data(),
                            .y = y.data(),
                            .p = p,
                            .stream = {.seed = 11, .offset = static_cast<std::uint64_t>(first)}},
        variant, stream);
    std::vector<int> result;
    for (const T each : y.to_host(stream)) result.push_back(to_float(each) != 0);
    return result;
  });
}

// The same elements for every variant, wherever a tensor is split.
KG_OWN_TEST(TensorsMayBeCut) {
  for (const dropout::Variant variant : dropout::kVariants) {
    const std::vector<int> whole = kept(judge.dtype(), variant, 0.4F, 3000, 0, judge.stream());
    EXPECT_EQ(whole, kept(judge.dtype(), dropout::Variant::naive, 0.4F, 3000, 0, judge.stream()));
    for (const std::int64_t cut : {1, 2, 4, 7, 1000}) {
      const std::vector<int> rest =
          kept(judge.dtype(), variant, 0.4F, 3000 - cut, cut, judge.stream());
      EXPECT_TRUE(std::equal(rest.begin(), rest.end(), whole.begin() + cut))
          << name(variant) << ", cut at " << cut;
    }
  }
}

// Within six standard deviations of a binomial distribution; the stream is fixed, so the test is
// deterministic.
KG_OWN_TEST(DropsItsShare) {
  constexpr std::int64_t kN = 40000;
  for (const float p : {0.05F, 0.3F, 0.8F}) {
    const std::vector<int> all =
        kept(judge.dtype(), dropout::Variant::automatic, p, kN, 0, judge.stream());
    const auto count = static_cast<double>(std::count(all.begin(), all.end(), 1));
    EXPECT_NEAR(count, kN * (1 - p), 6 * std::sqrt(kN * p * (1 - p))) << "p is " << p;
  }
}

} // namespace
} // namespace kg::card
