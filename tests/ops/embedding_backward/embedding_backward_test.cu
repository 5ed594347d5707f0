// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests specific to embedding_backward; its card configures those of every operation.
#include "ops/embedding_backward/embedding_backward.h"

#include "tests/contract/own_test.h"
#include "tests/contract/refusing.h"
#include "tests/contract/samples.h"
#include "tests/oracle/fills.h"

namespace kg::card {
namespace {

Sample sample_of(Dtype dtype, const std::string& shape, std::vector<double> x,
                 std::vector<double> order, std::vector<double> offsets) {
  return {.fill = "by hand",
          .shape = shape,
          .inputs = {{"x", values(dtype, std::move(x))},
                     {"order", values(Dtype::i32, std::move(order))},
                     {"offsets", values(Dtype::i32, std::move(offsets))}}};
}

void expect_exactly(Judge& judge, const Sample& sample, const std::vector<double>& expected) {
  judge.each_variant(sample, [&](const Variant& variant) {
    EXPECT_EQ(judge.run(variant.name, sample).outputs.at("y").values, expected)
        << variant.name << ": " << sample.shape;
  });
}

KG_OWN_TEST(RowsByHand) {
  // Row 0 has lookups 2 and 0, row 1 none, row 2 lookup 1.
  expect_exactly(judge,
                 sample_of(judge.dtype(), "rows3_count3_inner2", {1, 2, 10, 20, 100, 200},
                           {2, 0, 1}, {0, 2, 2, 3}),
                 {101, 202, 0, 0, 10, 20});
  // Lookups that belong to no row, such as those of an ignored index.
  expect_exactly(judge,
                 sample_of(judge.dtype(), "rows1_count3_inner1", {1, 10, 100}, {0, 1, 2}, {1, 2}),
                 {10});
}

// 2^15 absorbs 2^-10 for good, so the result reveals the order of the additions: that of the list.
KG_OWN_TEST(AddsInTheirOrder) {
  for (const char* const inner : {"1", "8"}) { // single elements and packs
    const std::size_t width = *inner == '8' ? 8 : 1;
    std::vector<double> x;
    for (const double each : {0x1p15, 0x1p-10, -0x1p15}) x.insert(x.end(), width, each);
    const std::string shape = std::string("rows1_count3_inner") + inner;
    Sample sample = sample_of(judge.dtype(), shape, x, {0, 1, 2}, {0, 3});
    expect_exactly(judge, sample, std::vector<double>(width, 0));
    sample.inputs["order"] = values(Dtype::i32, {0, 2, 1});
    expect_exactly(judge, sample, std::vector<double>(width, 0x1p-10));
    // Four at once: only the last one remains, or nothing in reverse order.
    std::vector<double> four = x;
    four.insert(four.end(), width, 0x1p-10);
    const std::string shape_of_four = std::string("rows1_count4_inner") + inner;
    sample = sample_of(judge.dtype(), shape_of_four, four, {0, 1, 2, 3}, {0, 4});
    expect_exactly(judge, sample, std::vector<double>(width, 0x1p-10));
    sample.inputs["order"] = values(Dtype::i32, {3, 2, 1, 0});
    expect_exactly(judge, sample, std::vector<double>(width, 0));
  }
}

// 300 ones sum to 300 in bf16; adding them in bf16 would stop at 256.
KG_OWN_TEST(SumsInF32) {
  std::vector<double> order;
  for (int i = 0; i < 300; ++i) order.push_back(i);
  expect_exactly(judge,
                 sample_of(judge.dtype(), "rows1_count300_inner16",
                           std::vector<double>(300 * 16, 1), order, {0, 300}),
                 std::vector<double>(16, 300));
}

KG_OWN_TEST(RefusesOtherProblems) {
  dispatch(judge.dtype(), [&]<class T>() {
    const DeviceBuffer<T> data(1024);
    const DeviceBuffer<std::int32_t> lists(64);
    using Problem = embedding_backward::Problem<T>;
    const Problem valid{.count = 4,
                        .rows = 6,
                        .inner = 16,
                        .x = data.data(),
                        .order = lists.data(),
                        .offsets = lists.data() + 8,
                        .y = data.data() + 512};
    const auto refuses = refusing(valid, [&](const auto& wrong) {
      embedding_backward::run(wrong, embedding_backward::Variant::automatic, judge.stream());
    });
    refuses("more lookups than offsets count", [](auto& p) { p.count = std::int64_t{1} << 31; });
    refuses("sums on what is added", [](auto& p) { p.y = const_cast<T*>(p.x) + 63; });
    refuses("sums on the order",
            [](auto& p) { p.y = reinterpret_cast<T*>(const_cast<std::int32_t*>(p.order)); });
    refuses("sums on the offsets",
            [](auto& p) { p.y = reinterpret_cast<T*>(const_cast<std::int32_t*>(p.offsets + 6)); });
    refuses("no offsets", [](auto& p) { p.offsets = nullptr; });
    refuses("a negative count", [](auto& p) { p.count = -1; });
  });
}

} // namespace
} // namespace kg::card
