// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Bulk copies, from the source and from what nvcc made of it: the same bytes where the kernel is
// right, and each mutant is found in some order of threads. Under the checkers each finding names
// what is wrong.
#include "tests/unit/kernels/runtime/bulk/scale_tiles.h"

#include "tests/unit/kernels/runtime/bulk/forms.h"

namespace kg::bulk {
namespace {

using executor::error_of;
using executor::under_every_order;
using testing::AllOf;
using testing::AnyOf;
using testing::ContainsRegex;
using testing::HasSubstr;

class BulkCopies : public Forms {
 protected:
  static constexpr unsigned kTiles = 7;

  // What a launch leaves in `out`, and its message.
  struct Outcome {
    std::vector<float> out;
    std::string message;
  };
  static Outcome run(Mutant mutant, unsigned tiles = kTiles) {
    Stream stream;
    std::vector<float> values(std::size_t{kTile} * tiles + 4);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i + 1);
    const auto in = DeviceBuffer<float>::from_host(values, stream);
    DeviceBuffer<float> out(std::size_t{kTile} * tiles);
    stream.synchronize();
    Outcome outcome;
    outcome.message = error_of([&] {
      launch(scale_tiles, {.grid = 1, .block = 32 + kConsumers, .stream = &stream}, in.data(),
             out.data(), tiles, mutant);
      stream.synchronize();
    });
    if (outcome.message.empty()) outcome.out = out.to_host(stream);
    return outcome;
  }
  static bool is_right(const Outcome& outcome) {
    if (!outcome.message.empty()) return false;
    for (std::size_t i = 0; i < outcome.out.size(); ++i)
      if (outcome.out[i] != 2 * static_cast<float>(i + 1)) return false;
    return true;
  }
  // What the orders say of the mutant, up to the first that says `wanted`; "wrong result" where one
  // says nothing else.
  static std::string found(Mutant mutant, const std::string& wanted = "") {
    std::string all;
    under_every_order([&] {
      if (!all.empty() && all.find(wanted) != std::string::npos) return;
      const Outcome outcome = run(mutant);
      if (!outcome.message.empty())
        all += outcome.message + "\n";
      else if (!is_right(outcome))
        all += "wrong result\n";
    });
    return all;
  }
};
KG_IN_BOTH_FORMS(BulkCopies);

TEST_P(BulkCopies, MoveTiles) {
  under_every_order([] {
    for (unsigned tiles : {1u, 2u, 3u, 5u, 7u}) {
      const Outcome outcome = run(Mutant::none, tiles);
      EXPECT_EQ(outcome.message, "");
      EXPECT_TRUE(is_right(outcome)) << tiles << " tiles";
    }
  });
}

// Without checkers: by what the executor refuses, by a deadlock, or by the result.
TEST_P(BulkCopies, MutantsShow) {
  for (const Mutant mutant :
       {Mutant::full_not_awaited, Mutant::full_of_other_parity, Mutant::empty_of_other_parity,
        Mutant::bytes_too_few, Mutant::bytes_too_many, Mutant::bytes_of_first_half,
        Mutant::arrival_missing, Mutant::other_stage_read, Mutant::group_of_another_thread,
        Mutant::group_not_committed, Mutant::destination_misaligned, Mutant::source_misaligned,
        Mutant::size_misaligned})
    EXPECT_NE(found(mutant), "") << static_cast<int>(mutant);
}

TEST_P(BulkCopies, MisalignedOnesAreRefused) {
  EXPECT_THAT(found(Mutant::destination_misaligned),
              AllOf(HasSubstr("the destination is 8 bytes behind a multiple of 16"),
                    HasSubstr("scale_tiles.cu:")));
  EXPECT_THAT(found(Mutant::source_misaligned),
              HasSubstr("the source is 4 bytes behind a multiple of 16"));
  EXPECT_THAT(found(Mutant::size_misaligned), HasSubstr("of 504 bytes; a bulk copy moves a"));
}

TEST_P(BulkCopies, AHangSaysWhatIsMissing) {
  EXPECT_THAT(
      found(Mutant::arrival_missing),
      AllOf(HasSubstr("deadlock in kernel"),
            ContainsRegex("thread 0 waits in mbarrier_(try_)?wait at .*scale_tiles.cu:[0-9]+ "
                          "for phase 0 \\(parity 0\\) of the mbarrier initialized at "
                          ".*scale_tiles.cu:[0-9]+, where 1 of 64 arrivals are missing")));
  EXPECT_THAT(
      found(Mutant::bytes_too_many),
      ContainsRegex("threads 32..95 wait in .* where 0 of 1 arrivals are missing and 16 bytes, "
                    "of 1040 expected at .*scale_tiles.cu:[0-9]+; expect_tx must name"));
  EXPECT_THAT(found(Mutant::bytes_too_few),
              ContainsRegex("0 of 1 arrivals are missing and 16 bytes more have come than the 1008 "
                            "expected at .*scale_tiles.cu:[0-9]+"));
}

#if KG_CHECKED

TEST_P(BulkCopies, AStoreIsWaitedForByItsThread) {
  EXPECT_THAT(
      found(Mutant::group_of_another_thread, "number 32"),
      AnyOf(HasSubstr("let the thread that issued it (number 32) commit it"), HasSubstr("[race]")));
  EXPECT_THAT(found(Mutant::group_not_committed, "number 32"),
              AllOf(HasSubstr("[barrier]"),
                    HasSubstr("let the thread that issued it (number 32) commit it")));
}

TEST_P(BulkCopies, FindingsNameBothSites) {
  const auto both = [](const char* first, const char* second, const char* hint) {
    return AllOf(HasSubstr(first), HasSubstr(second), HasSubstr(hint),
                 ContainsRegex("scale_tiles.cu:[0-9]+.*scale_tiles.cu:[0-9]+"));
  };
  for (const Mutant mutant :
       {Mutant::full_not_awaited, Mutant::full_of_other_parity, Mutant::other_stage_read})
    EXPECT_THAT(found(mutant, "reads 4 bytes"),
                both("[race]", "reads 4 bytes",
                     "wait for the phase of the mbarrier at which the bulk copy"))
        << static_cast<int>(mutant);
  for (const Mutant mutant : {Mutant::empty_not_awaited, Mutant::arrival_before_reading})
    EXPECT_THAT(found(mutant, "writes 512"), both("[race]", "writes 512 bytes", "arrive"))
        << static_cast<int>(mutant);
  EXPECT_THAT(
      found(Mutant::bytes_of_first_half, "[barrier]"),
      both("[barrier]", "while the bulk copy of 512 bytes", "let expect_tx name the bytes"));
  EXPECT_THAT(found(Mutant::stage_fence_missing, "[proxy]"),
              both("[proxy]", "by an ordinary store, without a proxy fence",
                   "put fence.proxy.async.shared::cta"));
  EXPECT_THAT(found(Mutant::stage_fence_behind_barrier, "[proxy]"), HasSubstr("[proxy]"));
  EXPECT_THAT(found(Mutant::init_fence_missing, "[proxy]"),
              both("[proxy]", "to complete at the mbarrier", "put fence.mbarrier_init"));
  for (const Mutant mutant :
       {Mutant::group_of_another_thread, Mutant::group_not_committed, Mutant::group_not_awaited})
    EXPECT_THAT(found(mutant, "is still"), both("[race]", "is still copying from",
                                                "wait_group.read by the thread that issued it"))
        << static_cast<int>(mutant);
  EXPECT_THAT(found(Mutant::store_before_barrier, "[race]"), HasSubstr("[race]"));
}

#endif

} // namespace
} // namespace kg::bulk
