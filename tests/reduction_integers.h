// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The tests of reduction_test.cu for i32: sums modulo 2^32, always exact.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/oracle/vendor_comparison.h"
#include "tests/reduction_fixture.h"
#include "tests/support/repeats.h"
#include "vendor/reduction/reduction.h"

namespace kg::test {

template <typename T>
class ReductionOfIntegers : public Reduction<T> {
 protected:
  static std::vector<double> wrapped_sums(const std::vector<double>& x, const Extents& extents) {
    std::vector<double> sums;
    const std::vector<double> slices = slices_of(x, extents);
    for (std::int64_t r = 0; r < result_count(extents); ++r) {
      std::uint32_t sum = 0;
      for (std::int64_t a = 0; a < extents[1]; ++a)
        sum += static_cast<std::uint32_t>(
            static_cast<std::int64_t>(slices[static_cast<std::size_t>(r * extents[1] + a)]));
      sums.push_back(static_cast<std::int32_t>(sum));
    }
    return sums;
  }

  static std::vector<double> random(const Extents& extents, std::int64_t largest) {
    return integers(Dtype::i32, extents[0] * extents[1] * extents[2], largest, Tensor::a).values;
  }
};

TYPED_TEST_SUITE(ReductionOfIntegers, testing::Types<std::int32_t>, DtypeNames);

TYPED_TEST(ReductionOfIntegers, SumsModuloTwoToThe32) {
  std::vector<Extents> some = shapes();
  some.insert(some.end(), {{5, 7, 1}, {1, 7, 33}, {2, 4100, 1}});
  for (const Extents& extents : some) {
    const std::vector<double> x = this->random(extents, std::numeric_limits<std::int32_t>::max());
    this->check_exact(Op::sum, "integers", x, this->wrapped_sums(x, extents), extents);
    this->check_exact(Op::sum, "integers", x, this->wrapped_sums(x, extents), extents,
                      {.gap = 3, .outer_gap = 1, .offset = 5});
  }
}

TYPED_TEST(ReductionOfIntegers, Empty) {
  for (const Variant variant : kVariants) {
    EXPECT_TRUE(this->run(Op::sum, variant, {}, {0, 5, 1}).empty());
    EXPECT_EQ(this->run(Op::sum, variant, {}, {2, 0, 1}), (std::vector<TypeParam>{0, 0}));
  }
}

TYPED_TEST(ReductionOfIntegers, RandomAgainstVendors) {
  using T = TypeParam;
  for (const Extents& extents : shapes()) {
    const vendor::ReductionProblem problem = vendor_problem(Op::sum, Dtype::i32, extents);
    const std::vector<double> x = this->random(extents, 1000);
    const std::vector<double> sums = this->wrapped_sums(x, extents);
    const Expectation expected = exactly(Dtype::i32, {result_count(extents)}, sums);
    const auto vendors = vendor::reduction_variants(problem);
    if (vendors.empty()) report_no_vendor("reduction", Dtype::i32, "sum");
    for (const Variant variant : kVariants) {
      const Observed ours = observe(this->run(Op::sum, variant, elements<T>(x), extents));
      for (const std::string_view vendor : vendors) {
        const auto device_x = DeviceBuffer<T>::from_host(elements<T>(x), this->stream_);
        const DeviceBuffer<T> out(sums.size());
        vendor::reduction(vendor, problem, device_x.data(), out.data(), this->stream_);
        EXPECT_TRUE(verdict(
            compare_with_vendor(ours, observe(out.to_host(this->stream_)), expected),
            this->context(Op::sum, variant, "integers beside " + std::string(vendor), extents)));
      }
    }
  }
}

TYPED_TEST(ReductionOfIntegers, SameBitsEveryTime) {
  const Extents extents{3, 4100, 1};
  const auto x = elements<TypeParam>(this->random(extents, 1000));
  for (const Variant variant : kVariants)
    EXPECT_TRUE(same_bits_every_time(this->id(variant),
                                     [&] { return this->run(Op::sum, variant, x, extents); }));
}

TYPED_TEST(ReductionOfIntegers, HasSumsOnly) {
  const DeviceBuffer<TypeParam> data(8);
  for (const Op op : {Op::mean, Op::max, Op::min})
    EXPECT_THROW(reduction::run(op, reduction::packed<TypeParam>(data.data(), {1, 8, 1}),
                                data.data(), nullptr, Variant::naive, this->stream_),
                 Error);
}

} // namespace kg::test
