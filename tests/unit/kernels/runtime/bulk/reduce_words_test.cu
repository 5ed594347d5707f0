// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// red.async, from the source and from what nvcc made of it.
#include "tests/unit/kernels/runtime/bulk/reduce_words.h"

#include "tests/unit/kernels/runtime/bulk/forms.h"

namespace kg::bulk {
namespace {

using executor::error_of;
using executor::under_every_order;
using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;

class ReduceWords : public Forms {
 protected:
  // All words become the same: block b combines them with `by`[b].
  template <class T>
  static std::string run(ReduceOp op, T initial, std::array<T, kWordBlocks> by, T* result,
                         WordMutant mutant = WordMutant::none) {
    Stream stream;
    std::vector<T> values(kWordBlocks * kWords);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = by[i / kWords];
    const auto from = DeviceBuffer<T>::from_host(values, stream);
    DeviceBuffer<T> out(values.size());
    const std::string message = error_of([&] {
      launch(reduce_words<T>,
             {.grid = kWordBlocks,
              .block = kWords,
              .shared_bytes = kWordsBytes,
              .stream = &stream,
              .cluster = {kWordBlocks, 1, 1}},
             op, initial, from.data(), out.data(), mutant);
      stream.synchronize();
    });
    if (!message.empty()) return message;
    values = out.to_host(stream);
    for (const T& each : values) EXPECT_EQ(each, values[0]) << static_cast<int>(op);
    *result = values[0];
    return "";
  }
  template <class T>
  static void expect(ReduceOp op, T initial, std::array<T, kWordBlocks> by, T wanted) {
    under_every_order([&] {
      T result{};
      ASSERT_EQ(run(op, initial, by, &result), "");
      EXPECT_EQ(result, wanted) << static_cast<int>(op);
    });
  }
  static std::string found(WordMutant mutant) {
    std::string all;
    under_every_order([&] {
      std::uint32_t result = 0;
      all += run<std::uint32_t>(ReduceOp::add, 1, {2, 2}, &result, mutant);
    });
    return all;
  }
};
KG_IN_BOTH_FORMS(ReduceWords);

TEST_P(ReduceWords, EveryOperation) {
  using U = std::uint32_t;
  expect<U>(ReduceOp::add, 0xFFFFFFFF, {3, 5}, 7);
  expect<U>(ReduceOp::min, 0x80000000, {9, 7}, 7);
  expect<U>(ReduceOp::max, 0x80000000, {9, 7}, 0x80000000);
  expect<U>(ReduceOp::inc, 6, {7, 7}, 0);
  expect<U>(ReduceOp::dec, 1, {7, 7}, 7); // 1, 0, 7
  expect<U>(ReduceOp::bit_and, 15, {11, 14}, 10);
  expect<U>(ReduceOp::bit_or, 16, {1, 4}, 21);
  expect<U>(ReduceOp::bit_xor, 15, {1, 4}, 10);
  using S = std::int32_t;
  expect<S>(ReduceOp::add, -10, {3, 5}, -2);
  expect<S>(ReduceOp::min, -10, {3, 5}, -10);
  expect<S>(ReduceOp::max, -10, {3, 5}, 5);
  expect<std::uint64_t>(ReduceOp::add, 0xFFFFFFFF, {1, std::uint64_t{1} << 40},
                        (std::uint64_t{1} << 32) + (std::uint64_t{1} << 40));
}

TEST_P(ReduceWords, BytesThatDoNotComeAreNamed) {
  EXPECT_THAT(found(WordMutant::bytes_too_many),
              ContainsRegex("4 bytes, of 260 expected at .*reduce_words.cu:[0-9]+"));
}

#if KG_CHECKED

TEST_P(ReduceWords, FindingsNameBothSites) {
  EXPECT_THAT(
      found(WordMutant::phase_not_awaited),
      AllOf(HasSubstr("[race]"), ContainsRegex("reduce_words.cu:[0-9]+.*reduce_words.cu:[0-9]+")));
}

#endif

} // namespace
} // namespace kg::bulk
