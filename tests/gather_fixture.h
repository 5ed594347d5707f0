// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// How gather_test.cu runs and judges one table and one index.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/buffer.h"
#include "runtime/launch.h"
#include "tests/oracle/compare.h"
#include "tests/oracle/fills.h"
#include "tests/oracle/oracle_layout.h"
#include "tests/oracle/random.h"
#include "tests/oracle/strided.h"
#include "tests/support/case.h"
#include "tests/support/device_types.h"
#include "tests/support/hygiene.h"
#include "tests/support/vacuity.h"

#include "gather/gather.h"

namespace kg::test {

using gather::kVariants;
using gather::Problem;
using gather::Variant;

// Elements between the start of each storage, which is aligned to 256 bytes, and the tensor.
struct Offsets {
  std::int64_t table = 0;
  std::int64_t index = 0;
  std::int64_t y = 0;
};

inline std::int64_t table_size(const Problem& p) { return p.outer * p.extent * p.inner; }
inline std::int64_t y_size(const Problem& p) { return p.outer * p.count * p.inner; }

// Random rows, the first and the last among them, and some twice.
inline std::vector<std::int64_t> random_index(const Problem& p) {
  constexpr std::uint64_t kStream = 1 << 11;
  const Random random(seed(), kStream);
  std::vector<std::int64_t> index;
  for (std::int64_t i = 0; i < p.count; ++i)
    index.push_back(random.integer(static_cast<std::uint64_t>(i), 0, p.extent - 1));
  if (p.count > 1) index[1] = 0;
  if (p.count > 0) index[0] = p.extent - 1;
  return index;
}

template <typename T>
class Gather : public testing::Test {
 protected:
  static constexpr Dtype kDtype = DtypeOf<T>::value;
  static constexpr std::int64_t kPack = 16 / static_cast<std::int64_t>(sizeof(T));

  void SetUp() override {
    this->RecordProperty("backend", std::string(name(backend)));
    require_evidence("gather", kDtype, kVariants, moving_evidence(kDtype));
  }

  static VariantId id(Variant variant) {
    return {"gather", std::string(name(kDtype)), std::string(gather::name(variant))};
  }

  static CaseContext context(Variant variant, std::string fill, const Problem& p) {
    return {CaseId("gather." + std::string(name(kDtype)) + ".outer" + std::to_string(p.outer) +
                   "_extent" + std::to_string(p.extent) + "_inner" + std::to_string(p.inner) +
                   "_count" + std::to_string(p.count)),
            std::string(gather::name(variant)),
            std::move(fill),
            {p.outer * p.count, p.inner},
            {}};
  }

  // The kernel that must run, and its word.
  static std::string kernel_of(Variant variant, const Problem& p, const Offsets& offsets) {
    constexpr auto kBytes = static_cast<std::int64_t>(sizeof(T));
    if (variant == Variant::naive) return "gather::naive<";
    std::int64_t word = 16;
    while ((p.inner * kBytes) % word != 0 || (offsets.table * kBytes) % word != 0 ||
           (offsets.y * kBytes) % word != 0)
      word /= 2;
    if (word < 8 && p.inner * kBytes >= gather::kLongRow) return "gather::shifted_rows<unsigned ";
    switch (word) {
    case 1: return "gather::words<unsigned char>";
    case 2: return "gather::words<unsigned short>";
    case 4: return "gather::words<unsigned int>";
    case 8: return "gather::words<unsigned long>";
    }
    return "gather::words<kg::Pack<unsigned int, 4>";
  }

  // Ours, with everything checked but the values.
  template <typename Index>
  std::vector<T> run(Variant variant, const std::vector<T>& table, const std::vector<Index>& index,
                     const Problem& p, Offsets offsets = {}) {
    constexpr std::int64_t kBehind = 5;
    const auto stored_table = scatter(table, contiguous({table_size(p)}, offsets.table));
    std::vector<Index> stored_index(static_cast<std::size_t>(offsets.index), Index{-1}); // poison
    stored_index.insert(stored_index.end(), index.begin(), index.end());
    const auto device_table = device_input(stored_table, offsets.table, stream_);
    const auto device_index = device_input(stored_index, offsets.index, stream_);
    const DeviceBuffer<T> y(offsets.y + y_size(p) + kBehind);

    Hygiene hygiene(id(variant));
    hygiene.input("table", stored_table, device_table, stream_);
    hygiene.input("index", stored_index, device_index, stream_);
    LaunchRecorder recorder;
    const Index* const first = device_index.data() + offsets.index;
    const Variant ran = gather::run(device_table.data() + offsets.table, first,
                                    y.data() + offsets.y, p, sizeof(T), variant, stream_);
    stream_.synchronize();
    EXPECT_EQ(ran, variant);
    EXPECT_EQ(recorder.launches().size(), y_size(p) > 0 ? 1u : 0u);
    for (const LaunchRecord& launch : recorder.launches())
      EXPECT_NE(launch.kernel_name.find(kernel_of(variant, p, offsets)), std::string::npos)
          << launch.kernel_name << " instead of " << kernel_of(variant, p, offsets);
    return hygiene.output(y, contiguous({y_size(p)}, offsets.y), stream_);
  }

  // What y must be, from a table of values, bits or elements.
  template <typename Element>
  static std::vector<Element> oracle(const std::vector<Element>& table,
                                     const std::vector<std::int64_t>& index, const Problem& p) {
    std::vector<std::int64_t> rows;
    for (std::int64_t o = 0; o < p.outer; ++o)
      for (const std::int64_t row : index) rows.push_back(o * p.extent + row);
    return gather_rows_oracle(table, p.inner, rows);
  }

  // All variants and both widths of the index on bit patterns of all kinds.
  void check(const Problem& p, const std::vector<std::int64_t>& index, Offsets offsets = {}) {
    for (const Variant variant : kVariants) check(variant, p, index, offsets);
  }
  void check(Variant variant, const Problem& p, const std::vector<std::int64_t>& index,
             Offsets offsets = {}) {
    const auto bits = unique_bits(kDtype, table_size(p));
    const auto table = elements_of_bits<T>(bits);
    const auto expected = oracle(bits, index, p);
    const std::vector<std::int64_t> shape = {p.outer * p.count, p.inner};
    EXPECT_TRUE(not_vacuous_bits(kDtype, shape, expected, degenerate(expected)));
    const std::vector<std::int32_t> narrow(index.begin(), index.end());
    EXPECT_TRUE(
        verdict(compare_bits(observe(run(variant, table, narrow, p, offsets)), shape, expected),
                context(variant, "unique_bits, i32 index", p)));
    EXPECT_TRUE(
        verdict(compare_bits(observe(run(variant, table, index, p, offsets)), shape, expected),
                context(variant, "unique_bits, i64 index", p)));
  }

  static Degenerate degenerate(const std::vector<std::uint64_t>& expected) {
    if (expected.size() == 1)
      return expected[0] == 0 ? Degenerate::zero : Degenerate::single_element;
    return Degenerate::no;
  }

  Stream stream_;
};

} // namespace kg::test
