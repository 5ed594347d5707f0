// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// stmatrix and elect, from the source and from what nvcc made of it.
#include "tests/unit/kernels/runtime/bulk/store_tiles.h"

#include "tests/unit/kernels/runtime/bulk/forms.h"

#include <set>

namespace kg::bulk {
namespace {

using executor::error_of;
using executor::under_every_order;
using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;

class StoreTiles : public Forms {
 protected:
  struct Outcome {
    std::vector<unsigned short> out;
    unsigned elected = ~0u;
    std::string message;
  };
  static Outcome run(StoreMutant mutant, bool transposed = false) {
    Stream stream;
    DeviceBuffer<unsigned short> out(kMatrices * 64);
    DeviceBuffer<unsigned> elected(1);
    Outcome outcome;
    outcome.message = error_of([&] {
      launch(store_tiles, {.grid = 1, .block = 32, .stream = &stream}, out.data(), elected.data(),
             transposed, mutant);
      stream.synchronize();
    });
    if (!outcome.message.empty()) return outcome;
    outcome.out = out.to_host(stream);
    outcome.elected = elected.to_host(stream)[0];
    return outcome;
  }
  static std::string found(StoreMutant mutant) {
    std::string all;
    under_every_order([&] { all += run(mutant).message; });
    return all;
  }
};
KG_IN_BOTH_FORMS(StoreTiles);

TEST_P(StoreTiles, WritesWholeMatrices) {
  std::set<unsigned> elected;
  under_every_order([&] {
    for (const bool transposed : {false, true}) {
      const Outcome outcome = run(StoreMutant::none, transposed);
      ASSERT_EQ(outcome.message, "");
      elected.insert(outcome.elected);
      for (unsigned i = 0; i < kMatrices; ++i)
        for (unsigned r = 0; r < 8; ++r)
          for (unsigned c = 0; c < 8; ++c)
            EXPECT_EQ(outcome.out[64 * i + (transposed ? 8 * c + r : 8 * r + c)],
                      64 * i + 8 * r + c);
    }
  });
  EXPECT_EQ(elected, std::set<unsigned>{0}); // kernels of CUTLASS rely on it
}

TEST_P(StoreTiles, AllLanesMayIssueTheSameStore) {
  under_every_order([] {
    const Outcome outcome = run(StoreMutant::all_lanes_copy);
    ASSERT_EQ(outcome.message, "");
    EXPECT_EQ(outcome.out, run(StoreMutant::none).out);
  });
}

TEST_P(StoreTiles, MisuseIsRefused) {
  EXPECT_THAT(found(StoreMutant::row_misaligned),
              AllOf(HasSubstr("store_tiles.cu:"), HasSubstr("stmatrix"),
                    HasSubstr("a row is not aligned to 16 bytes")));
  EXPECT_THAT(found(StoreMutant::half_of_warp), HasSubstr("threads 0..15 wait in stmatrix"));
}

#if !KG_CHECKED

TEST_P(StoreTiles, TheEndOfTheBlockCompletesAStore) {
  under_every_order([] {
    const Outcome outcome = run(StoreMutant::group_not_awaited);
    ASSERT_EQ(outcome.message, "");
    EXPECT_EQ(outcome.out, run(StoreMutant::none).out);
  });
}

#else

TEST_P(StoreTiles, FindingsNameBothSites) {
  EXPECT_THAT(found(StoreMutant::fence_missing),
              AllOf(HasSubstr("[proxy]"), HasSubstr("put fence.proxy.async.shared::cta")));
  EXPECT_THAT(found(StoreMutant::warp_not_synced),
              AnyOf(HasSubstr("[race]"), HasSubstr("[uninitialised]")));
  EXPECT_THAT(found(StoreMutant::lanes_copy_apart), HasSubstr("[race]"));
  EXPECT_THAT(found(StoreMutant::group_not_awaited),
              AllOf(HasSubstr("[barrier]"), HasSubstr("ended while its bulk copy of 512 bytes"),
                    HasSubstr("store_tiles.cu:")));
}

#endif

} // namespace
} // namespace kg::bulk
