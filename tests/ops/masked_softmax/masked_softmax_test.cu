// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests specific to masked_softmax; its card configures those of every operation.
#include "ops/masked_softmax/masked_softmax.h"

#include "runtime/device.h"
#include "runtime/launch.h"
#include "tests/contract/own_test.h"
#include "tests/contract/row_tests.h"
#include "tests/contract/samples.h"
#include "tests/oracle/oracle_masked_softmax.h"

namespace kg::card {
namespace {

// A causal mask and the same mask as bytes give the same bits: NaN if all kept elements overflow
// f32 when scaled.
KG_OWN_TEST(CausalIsBoolean) {
  for (const auto& [rows, cols] : {std::pair{20, 300}, std::pair{6, 1100}, std::pair{304, 304}}) {
    const std::vector<std::uint8_t> keep = test::causal_keep(rows, cols, rows / 2);
    const std::string size = "rows" + std::to_string(rows) + "_cols" + std::to_string(cols);
    Sample causal{"normal", "causal_" + size + "_queries" + std::to_string(rows / 2)};
    Sample boolean{"normal",
                   "boolean_" + size,
                   {{"keep", values(Dtype::i8, std::vector<double>(keep.begin(), keep.end()))}}};
    const auto expect_the_same = [&] {
      judge.each_variant(causal, [&](const Variant& variant) {
        EXPECT_EQ(judge.run(variant.name, causal).bits("y"),
                  judge.run(variant.name, boolean).bits("y"))
            << variant.name;
      });
    };
    expect_the_same();
    const auto lowest =
        values(judge.dtype(), std::vector<double>(keep.size(), -test::max_finite(judge.dtype())));
    for (Sample* const sample : {&causal, &boolean}) {
      sample->inputs.insert_or_assign("x", lowest);
      sample->scalars["scale"] = 4;
    }
    expect_the_same();
  }
}

KG_OWN_TEST(RowsTakeTurns) {
  for (const char* const form : {"boolean", "causal"}) check_rows_take_turns(judge, form);
}

KG_OWN_TEST(Automatic) {
  using masked_softmax::Variant;
  const auto beyond =
      static_cast<std::int64_t>(device_properties().shared_bytes_per_block_optin / 4);
  for (const auto& [cols, right] :
       {std::pair(std::int64_t{1024}, Variant::warp), std::pair(std::int64_t{1025}, Variant::block),
        std::pair(beyond, Variant::block)}) {
    EXPECT_EQ(masked_softmax::resolved(Variant::automatic, cols), right);
    EXPECT_EQ(masked_softmax::chain(Variant::automatic, cols), masked_softmax::chain(right, cols));
    judge.check({"normal", "causal_rows1_cols" + std::to_string(cols)}, {}, {name(right)});
  }
}

// Empty sequences, and masks of shapes that the contract does not have.
KG_OWN_TEST(RefusesOtherMasks) {
  dispatch(judge.dtype(), [&]<class T>() {
    const DeviceBuffer<T> data(64);
    T* const p = data.data();
    LaunchRecorder recorder;
    EXPECT_THROW(masked_softmax::run<T>(1, {p, {4, 8}, {8, 1}}, masked_softmax::causal_mask(0),
                                        {p, {4, 8}, {8, 1}}, masked_softmax::Variant::automatic,
                                        judge.stream()),
                 Error);
    EXPECT_TRUE(recorder.launches().empty());
  });
}

// Also with more queries than keys.
KG_OWN_TEST(WorkCountsWhatIsRead) {
  const double width = static_cast<double>(size_of(judge.dtype()));
  const Work square = masked_softmax::work(judge.dtype(), 8, 4, 4); // two triangles of 10
  EXPECT_EQ(square.bytes, (20 + 32) * width);
  EXPECT_EQ(square.flops, 100);
  EXPECT_EQ(masked_softmax::work(judge.dtype(), 4, 2, 4).bytes, (3 + 8) * width);
}

} // namespace
} // namespace kg::card
