// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// cp.async.bulk and cp.reduce.async.bulk between blocks of a cluster, from the source and from what
// nvcc made of it.
#include "tests/unit/kernels/runtime/bulk/send_words.h"

#include "instructions/cluster.h"
#include "instructions/mbarrier.h"
#include "runtime/host/bulk_copy.h"
#include "tests/unit/kernels/runtime/bulk/forms.h"

#include <array>
#include <string>
#include <vector>

namespace kg::bulk {
namespace {

using executor::error_of;
using executor::under_every_order;
using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;

class SendWords : public Forms {
 protected:
  // Word i of block b is by[b] + step i. Returns the error, if there is one.
  template <class T>
  static std::string run(bool reduces, ReduceOp op, T initial, std::array<T, kSenders> by, T step,
                         std::vector<T>* result, SendMutant mutant = SendMutant::none) {
    Stream stream;
    std::vector<T> values(kSenders * kSent);
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = by[i / kSent] + step * static_cast<T>(i % kSent);
    const auto from = DeviceBuffer<T>::from_host(values, stream);
    DeviceBuffer<T> out(kSenders * values.size());
    const std::string message = error_of([&] {
      launch(send_words<T>,
             {.grid = kSenders,
              .block = kSent,
              .shared_bytes = kSendBytes,
              .stream = &stream,
              .cluster = {kSenders, 1, 1}},
             reduces, op, initial, from.data(), out.data(), mutant);
      stream.synchronize();
    });
    if (message.empty()) *result = out.to_host(stream);
    return message;
  }
  template <class T>
  static void expect_reduced(ReduceOp op, T initial, std::array<T, kSenders> by, T wanted) {
    under_every_order([&] {
      std::vector<T> out;
      ASSERT_EQ(run<T>(true, op, initial, by, 0, &out), "");
      for (std::size_t i = 0; i < out.size(); ++i)
        EXPECT_EQ(out[i], i / kSent % kSenders == 0 ? wanted : initial)
            << static_cast<int>(op) << " " << i;
    });
  }
  static std::string found(SendMutant mutant, bool reduces = false) {
    std::string all;
    under_every_order([&] {
      std::vector<std::uint32_t> out;
      all += run<std::uint32_t>(reduces, ReduceOp::add, 1, {2, 3}, 1, &out, mutant);
    });
    return all;
  }
};
KG_IN_BOTH_FORMS(SendWords);

TEST_P(SendWords, EveryBlockReceivesTheWordsOfAll) {
  under_every_order([&] {
    std::vector<std::uint64_t> out;
    ASSERT_EQ(run<std::uint64_t>(false, ReduceOp::add, 7, {100, 1000}, 3, &out), "");
    for (std::size_t i = 0; i < out.size(); ++i)
      EXPECT_EQ(out[i], (i / kSent % kSenders == 0 ? 100 : 1000) + 3 * (i % kSent)) << i;
  });
}

TEST_P(SendWords, EveryReduction) {
  using U = std::uint32_t;
  expect_reduced<U>(ReduceOp::add, 0xFFFFFFFF, {3, 5}, 7);
  expect_reduced<U>(ReduceOp::min, 0x80000000, {9, 7}, 7);
  expect_reduced<U>(ReduceOp::max, 0x80000000, {9, 7}, 0x80000000);
  expect_reduced<U>(ReduceOp::inc, 6, {7, 7}, 0);
  expect_reduced<U>(ReduceOp::dec, 1, {7, 7}, 7);
  expect_reduced<U>(ReduceOp::bit_and, 15, {11, 14}, 10);
  expect_reduced<U>(ReduceOp::bit_or, 16, {1, 4}, 21);
  expect_reduced<U>(ReduceOp::bit_xor, 15, {1, 4}, 10);
  using S = std::int32_t;
  expect_reduced<S>(ReduceOp::add, -10, {3, 5}, -2);
  expect_reduced<S>(ReduceOp::min, -10, {3, 5}, -10);
  expect_reduced<S>(ReduceOp::max, -10, {3, 5}, 5);
  expect_reduced<std::uint64_t>(ReduceOp::add, 0xFFFFFFFF, {1, std::uint64_t{1} << 40},
                                (std::uint64_t{1} << 32) + (std::uint64_t{1} << 40));
}

TEST_P(SendWords, BytesThatDoNotComeAreNamed) {
  EXPECT_THAT(found(SendMutant::bytes_too_many),
              ContainsRegex("16 bytes, of 272 expected at .*send_words.cu:[0-9]+"));
}

TEST_P(SendWords, ABlockMayNotEndBeforeItsWordsAreRead) {
  EXPECT_THAT(found(SendMutant::block_ends),
              HasSubstr("the block has ended while a bulk copy of 128 bytes from its shared memory "
                        "into block 1 of the cluster is in flight"));
}

// The address of the mbarrier is not mapped, which only a program's own PTX can get wrong.
__global__ void send_with_own_barrier() {
  auto* const shared = dynamic_shared<std::uint64_t>();
  ptx::mbarrier_init(shared, 1);
  ptx::cluster_sync();
  if (ptx::cluster_rank() == 0)
    host::bulk_send(cooperative_groups::cluster_group::map_shared_rank(shared + 2, 1), shared + 4,
                    16, shared, {}, "cp.async.bulk", Location::here());
  ptx::cluster_sync();
}

TEST(BulkSend, TheMbarrierIsInTheReceivingBlock) {
  Stream stream;
  const std::string message = error_of([&] {
    launch(send_with_own_barrier, {.grid = kSenders,
                                   .block = 1,
                                   .shared_bytes = kSendBytes,
                                   .stream = &stream,
                                   .cluster = {kSenders, 1, 1}});
    stream.synchronize();
  });
  EXPECT_THAT(message, AllOf(HasSubstr("the destination is in block 1 of the cluster, and the "
                                       "mbarrier in block 0; map both to the same rank"),
                             ContainsRegex("send_words_test.cu:[0-9]+")));
}

#if KG_CHECKED

TEST_P(SendWords, FindingsNameBothSites) {
  const auto both = ContainsRegex("send_words.cu:[0-9]+(.|\n)*send_words.cu:[0-9]+");
  for (const bool reduces : {false, true}) {
    EXPECT_THAT(found(SendMutant::no_fence, reduces), AllOf(HasSubstr("[proxy]"), both)) << reduces;
    EXPECT_THAT(found(SendMutant::phase_not_awaited, reduces), AllOf(HasSubstr("[race]"), both))
        << reduces;
    EXPECT_THAT(found(SendMutant::source_overwritten, reduces), AllOf(HasSubstr("[race]"), both))
        << reduces;
  }
}

#endif

} // namespace
} // namespace kg::bulk
