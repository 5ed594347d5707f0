// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// argmax against the oracle and every vendor. An index is right or wrong.
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "argmax/argmax.h"
#include "runtime/device.h"
#include "tests/oracle/vendor_comparison.h"
#include "tests/reduction_fixture.h"
#include "tests/support/huge.h"
#include "tests/support/metamorphic.h"
#include "tests/support/repeats.h"
#include "vendor/argmax/argmax.h"

namespace kg::test {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr std::int64_t kWarpMaxCols = 2048; // of rows that a warp takes; longer ones take a block

template <typename T>
class Argmax : public testing::Test {
 protected:
  static constexpr Dtype kDtype = DtypeOf<T>::value;

  void SetUp() override {
    this->RecordProperty("backend", std::string(name(backend)));
    require_evidence("argmax", kDtype, argmax::kVariants, kExactOperation);
  }

  static VariantId id(argmax::Variant variant) {
    return {"argmax", std::string(name(kDtype)), std::string(argmax::name(variant))};
  }

  // The kernel of reduction that must run, with argmax's keys; a second launch goes over the keys
  // that the first one leaves.
  static bool is_kernel(const std::string& kernel, argmax::Variant variant, const Extents& extents,
                        bool is_first) {
    const auto is = [&](const std::string& part) {
      return kernel.find("reduction::" + part + "<kg::argmax::LargestFirst") != std::string::npos;
    };
    if (variant == argmax::Variant::naive)
      return is(result_count(extents) > 1 ? "naive" : "naive_block");
    if (!is_first) return is("naive") || is("naive_block");
    if (extents[2] > 1) return is("column_tiles");
    return is(extents[1] <= kWarpMaxCols ? "warp_rows" : "block_rows");
  }

  // Ours, with everything checked but the values.
  std::vector<std::int32_t> run(argmax::Variant variant, const std::vector<T>& x,
                                const Extents& extents, Layout layout = {}) {
    const Strided place = placed(extents, layout);
    const std::int64_t results = result_count(extents);
    constexpr std::int64_t kBehind = 5;
    const std::vector<T> stored_x = scatter(x, place);
    const auto device_x = device_input(stored_x, place, stream_);
    const DeviceBuffer<std::int32_t> out(results + kBehind);
    const View<const T, 3> view{
        device_x.data() + layout.offset, extents, {place.strides[0], place.strides[1], 1}};
    const DeviceBuffer<unsigned char> workspace(argmax::workspace_bytes(view, variant));

    Hygiene hygiene(id(variant));
    hygiene.input("x", stored_x, device_x, stream_);
    hygiene.workspace(workspace);
    LaunchRecorder recorder;
    const argmax::Variant ran = argmax::run(
        view, out.data(), workspace.size() > 0 ? workspace.data() : nullptr, variant, stream_);
    stream_.synchronize();
    EXPECT_EQ(ran, variant);
    EXPECT_EQ(recorder.launches().size(), results == 0 ? 0u : workspace.size() > 0 ? 2u : 1u);
    for (const LaunchRecord& launch : recorder.launches()) {
      const bool is_first = &launch == recorder.launches().data();
      EXPECT_TRUE(is_kernel(launch.kernel_name, variant, extents, is_first))
          << launch.kernel_name << " ran";
    }
    return hygiene.output(out, contiguous({results}), stream_);
  }

  static std::vector<double> indices(const std::vector<double>& x, const Extents& extents) {
    std::vector<double> result;
    for (const std::int64_t index :
         row_maxima_oracle(slices_of(x, extents), result_count(extents), extents[1]).index)
      result.push_back(static_cast<double>(index));
    return result;
  }

  static CaseContext context(argmax::Variant variant, std::string fill, const Extents& extents) {
    return {CaseId("argmax." + std::string(name(kDtype)) + ".o" + std::to_string(extents[0]) +
                   "_a" + std::to_string(extents[1]) + "_i" + std::to_string(extents[2])),
            std::string(argmax::name(variant)),
            std::move(fill),
            {result_count(extents)},
            {}};
  }

  // Every variant on this tensor.
  void check(const std::string& fill, const std::vector<double>& values, const Extents& extents,
             Layout layout = {}) {
    const std::vector<double> expected = indices(values, extents);
    for (const argmax::Variant variant : argmax::kVariants)
      EXPECT_TRUE(verdict(compare(observe(run(variant, elements<T>(values), extents, layout)),
                                  exactly(Dtype::i32, {result_count(extents)}, expected)),
                          context(variant, fill, extents)));
  }

  static std::vector<double> normals(const Extents& extents) {
    return normal(kDtype, extents[0] * extents[1] * extents[2], Tensor::a).values;
  }

  Stream stream_;
};

TYPED_TEST_SUITE(Argmax, FloatTypes, DtypeNames);

TYPED_TEST(Argmax, RandomAgainstOracle) {
  for (const Extents& extents : shapes()) {
    this->check("normal", this->normals(extents), extents);
    this->check("normal", this->normals(extents), extents, {.gap = 5, .outer_gap = 2, .offset = 3});
    const std::vector<double> expected = this->indices(this->normals(extents), extents);
    EXPECT_TRUE(not_vacuous(exactly(Dtype::i32, {result_count(extents)}, expected),
                            degenerate_of(expected.size())));
  }
}

// Few different values, so that every result has ties in other threads, warps and blocks.
TYPED_TEST(Argmax, FirstOfEqualElements) {
  for (const Extents& extents : shapes()) {
    const std::int64_t count = extents[0] * extents[1] * extents[2];
    this->check("ties", integers(this->kDtype, count, 1, Tensor::a).values, extents);
    this->check("constant", std::vector<double>(static_cast<std::size_t>(count), -2.5), extents);
  }
}

// The largest element in each place where a thread, a piece or a tail begins or ends.
TYPED_TEST(Argmax, EveryPlace) {
  for (const Extents& extents : {Extents{1, 2500, 1}, Extents{1, 70, 1}, Extents{1, 150, 8}}) {
    const std::int64_t axis = extents[1];
    for (const std::int64_t place : {std::int64_t{0}, std::int64_t{1}, std::int64_t{7},
                                     std::int64_t{63}, axis / 2, axis - 2, axis - 1}) {
      std::vector<double> x(static_cast<std::size_t>(axis * extents[2]), -1.0);
      for (std::int64_t i = 0; i < extents[2]; ++i)
        x[static_cast<std::size_t>(place * extents[2] + i)] = -0.5;
      this->check("one", x, extents);
    }
  }
}

TYPED_TEST(Argmax, Sizes) {
  for (const std::int64_t n : {0, 1, 2, 3, 5, 31, 33, 127, 129, 256, 513, 2049}) {
    this->check("normal", this->normals({n, 7, 1}), {n, 7, 1});
    this->check("normal", this->normals({2, 5, n}), {2, 5, n});
    if (n == 0) continue;
    for (const Extents& extents : {Extents{3, n, 1}, Extents{1, n, 3}, Extents{1, n, 8}})
      this->check("normal", this->normals(extents), extents);
  }
}

TYPED_TEST(Argmax, BeyondOneGrid) {
  const std::int64_t resident = std::int64_t{device_properties().sm_count} * 8;
  for (const Extents& extents :
       {Extents{resident + 1, 2051, 1}, Extents{1, resident * 2048 + 5, 1}})
    this->check("normal", this->normals(extents), extents);
}

TYPED_TEST(Argmax, Misaligned) {
  for (const std::int64_t offset : {1, 4, 7, 8})
    for (const Extents& extents : {Extents{5, 1030, 1}, Extents{3, 66, 40}})
      this->check("normal", this->normals(extents), extents,
                  {.gap = 8, .outer_gap = 1, .offset = offset});
}

// Also with its sign bit set, and whichever of two has the larger payload, or sign.
TYPED_TEST(Argmax, AnyNan) {
  using T = TypeParam;
  const Extents extents{1, 2600, 1};
  const std::vector<T> x = elements<T>(this->normals(extents));
  std::vector<T> nans = {from_raw_bits<T>(poison_bits(this->kDtype))};
  for (const SpecialValue& special : special_values(this->kDtype))
    if (std::isnan(decode(this->kDtype, special.bits)))
      nans.push_back(from_raw_bits<T>(special.bits));
  for (const T first : nans)
    for (const T second : nans) {
      std::vector<T> with_two = x;
      with_two[1300] = first;
      with_two[2000] = second;
      for (const argmax::Variant variant : argmax::kVariants)
        EXPECT_EQ(this->run(variant, with_two, extents), std::vector<std::int32_t>{1300})
            << std::hex << raw_bits(first) << " before " << raw_bits(second);
    }
}

// The smallest numbers are no zeros, neither beside zeros nor among themselves.
TYPED_TEST(Argmax, Subnormals) {
  const double least = min_subnormal(this->kDtype);
  for (const Extents& extents : {Extents{3, 300, 1}, Extents{1, 2600, 1}, Extents{2, 90, 16}}) {
    const std::int64_t count = extents[0] * extents[1] * extents[2];
    std::vector<double> x = integers(this->kDtype, count, 100, Tensor::a).values;
    for (double& value : x) value *= least;
    this->check("subnormal", x, extents);
    for (double& value : x) value = value > 99 * least ? least : 0;
    this->check("subnormal and zero", x, extents);
    for (double& value : x) value = value > 0 ? 0 : -least;
    this->check("negative and zero", x, extents);
  }
}

// The same where every block has a row of its own, long enough for the loop of several packs.
TYPED_TEST(Argmax, ZerosInLongRows) {
  const Extents extents{device_properties().sm_count * 8 + 1, 4999, 1};
  const std::int64_t count = extents[0] * extents[1];
  std::vector<double> x = integers(this->kDtype, count, 100, Tensor::a).values;
  for (double& value : x) value = value > 99 ? 1 : value < 0 ? -0.0 : 0.0;
  this->check("zeros and ones", x, extents);
  for (double& value : x) value = value == 0 ? value : -1;
  this->check("zeros and less", x, extents);
}

// A NaN is larger than every number, and the first one wins; zeros of both signs are equal.
TYPED_TEST(Argmax, SpecialValues) {
  for (const Extents& extents : {Extents{3, 300, 1}, Extents{1, 2600, 1}, Extents{2, 90, 16}}) {
    const std::int64_t count = extents[0] * extents[1] * extents[2];
    const auto place = [&](std::vector<double>& x, std::int64_t i, double value) {
      x[static_cast<std::size_t>(i)] = value;
    };
    for (const double special : {kNan, kInf, -kInf}) {
      std::vector<double> x = this->normals(extents);
      place(x, count - 1, special);
      this->check("special", x, extents);
      place(x, count / 2, special);
      place(x, count / 3, kInf);
      this->check("special", x, extents);
      this->check("special", std::vector<double>(static_cast<std::size_t>(count), special),
                  extents);
    }
    std::vector<double> zeros(static_cast<std::size_t>(count), -0.0);
    for (std::int64_t i = count / 2; i < count; ++i) place(zeros, i, 0.0);
    this->check("zeros", zeros, extents);
  }
  for (const argmax::Variant variant : argmax::kVariants)
    record(this->id(variant), Evidence::special);
}

TYPED_TEST(Argmax, RandomAgainstVendors) {
  using T = TypeParam;
  for (const Extents& extents : shapes()) {
    const vendor::ArgmaxProblem problem{this->kDtype, extents[0], extents[1], extents[2]};
    const auto vendors = vendor::argmax_variants(problem);
    if (vendors.empty()) report_no_vendor("argmax", this->kDtype);
    const std::vector<double> x = this->normals(extents);
    const std::vector<double> expected = this->indices(x, extents);
    for (const argmax::Variant variant : argmax::kVariants) {
      const Observed ours = observe(this->run(variant, elements<T>(x), extents));
      for (const std::string_view vendor : vendors) {
        const auto device_x = DeviceBuffer<T>::from_host(elements<T>(x), this->stream_);
        const DeviceBuffer<std::int32_t> out(expected.size());
        vendor::argmax(vendor, problem, device_x.data(), out.data(), this->stream_);
        EXPECT_TRUE(
            verdict(compare_with_vendor(ours, observe(out.to_host(this->stream_)),
                                        exactly(Dtype::i32, {result_count(extents)}, expected)),
                    this->context(variant, "normal beside " + std::string(vendor), extents)));
      }
    }
  }
}

TYPED_TEST(Argmax, SameBitsEveryTime) {
  for (const Extents& extents : {Extents{1, 9000, 1}, Extents{9, 70, 1}, Extents{2, 130, 24}}) {
    const std::int64_t count = extents[0] * extents[1] * extents[2];
    const auto x = elements<TypeParam>(integers(this->kDtype, count, 2, Tensor::a).values);
    for (const argmax::Variant variant : argmax::kVariants)
      EXPECT_TRUE(
          same_bits_every_time(this->id(variant), [&] { return this->run(variant, x, extents); }));
  }
}

// On a stream whose earlier work still writes x.
TYPED_TEST(Argmax, WaitsForItsStream) {
  using T = TypeParam;
  for (const Extents& extents : axes_of({33, 200})) {
    const auto x = elements<T>(this->normals(extents));
    for (const argmax::Variant variant : argmax::kVariants) {
      const DeviceBuffer<std::int32_t> out(static_cast<std::size_t>(result_count(extents)));
      const LateInput<T> late(x, this->stream_);
      const auto view = reduction::packed(late.data(), extents);
      const DeviceBuffer<unsigned char> workspace(argmax::workspace_bytes(view, variant));
      argmax::run(view, out.data(), workspace.size() > 0 ? workspace.data() : nullptr, variant,
                  this->stream_);
      EXPECT_TRUE(same_bits("behind a slow kernel", out.to_host(this->stream_),
                            this->run(variant, x, extents)));
    }
  }
}

TYPED_TEST(Argmax, BeyondThirtyOneBits) {
  using T = TypeParam;
  constexpr std::int64_t kOuter = (std::int64_t{1} << 21) + 3;
  constexpr std::int64_t kAxis = 1024;
  const std::string reason = too_huge_reason(sizeof(T) * kOuter * kAxis);
  if (!reason.empty()) GTEST_SKIP() << reason;
  const DeviceBuffer<T> x(static_cast<std::size_t>(kOuter * kAxis));
  fill_bytes(x.data(), 0, x.bytes(), this->stream_);
  put<T>({{kOuter * kAxis - 1, elements<T>(std::vector<double>{5})[0]}}, x, this->stream_);
  const DeviceBuffer<std::int32_t> out(static_cast<std::size_t>(kOuter));
  argmax::run(reduction::packed<T>(x.data(), {kOuter, kAxis, 1}), out.data(), nullptr,
              argmax::Variant::tiled, this->stream_);
  std::vector<std::int32_t> expected(static_cast<std::size_t>(kOuter), 0);
  expected.back() = kAxis - 1;
  EXPECT_TRUE(same_bits("zeros and one mark", out.to_host(this->stream_), expected));
}

TYPED_TEST(Argmax, AutomaticReportsWhatRan) {
  using T = TypeParam;
  const auto x = DeviceBuffer<T>::from_host(elements<T>(std::vector<double>(64, 1)), this->stream_);
  const DeviceBuffer<std::int32_t> out(8);
  for (const auto& [extents, kernel] :
       {std::pair{Extents{8, 8, 1}, "warp_rows"}, std::pair{Extents{1, 8, 8}, "column_tiles"}}) {
    static_assert(argmax::deterministic(argmax::Variant::automatic));
    LaunchRecorder recorder;
    const argmax::Variant ran = argmax::run(reduction::packed<T>(x.data(), extents), out.data(),
                                            nullptr, argmax::Variant::automatic, this->stream_);
    EXPECT_EQ(ran, argmax::Variant::tiled);
    ASSERT_EQ(recorder.launches().size(), 1u);
    EXPECT_NE(recorder.launches()[0].kernel_name.find(kernel), std::string::npos)
        << recorder.launches()[0].kernel_name;
  }
}

TYPED_TEST(Argmax, RefusesWrongArguments) {
  using T = TypeParam;
  const DeviceBuffer<T> data(64);
  const DeviceBuffer<std::int32_t> out(64);
  T* const p = data.data();
  const auto run = [&](View<const T, 3> x, std::int32_t* to, void* workspace) {
    argmax::run(x, to, workspace, argmax::Variant::automatic, this->stream_);
  };
  EXPECT_THROW(run({p, {-1, 8, 1}, {8, 1, 1}}, out.data(), p), Error);
  EXPECT_THROW(run({p, {8, 8, 1}, {7, 1, 1}}, out.data(), p), Error);
  EXPECT_THROW(run({p, {4, 0, 1}, {0, 1, 1}}, out.data(), p), Error);
  EXPECT_THROW(run(reduction::packed<T>(p, {1, std::int64_t{1} << 31, 1}), out.data(), p), Error);
  EXPECT_THROW(run(reduction::packed<T>(nullptr, {1, 8, 1}), out.data(), p), Error);
  EXPECT_THROW(run(reduction::packed<T>(p, {1, 8, 1}), nullptr, p), Error);
  EXPECT_THROW(run(reduction::packed<T>(p, {1, 5000, 4}), out.data(), nullptr), Error);
}

TYPED_TEST(Argmax, WorkIsOneRead) {
  const Work work = argmax::work(this->kDtype, {2, 15, 7});
  EXPECT_EQ(work.bytes, sizeof(TypeParam) * 210.0 + 4 * 14.0);
  EXPECT_EQ(work.flops, 210.0);
}

} // namespace
} // namespace kg::test
