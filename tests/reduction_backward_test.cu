// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// reduction_backward against the oracle; no vendor has it. A result is right or wrong: a mean's
// share is rounded to f32 and then to T, which is the exact quotient rounded to T, because f32 has
// more than twice the digits of the 16-bit types and two to spare.
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "reduction_backward/reduction_backward.h"
#include "runtime/device.h"
#include "tests/oracle/oracle_reduction_backward.h"
#include "tests/reduction_fixture.h"
#include "tests/support/huge.h"
#include "tests/support/metamorphic.h"
#include "tests/support/repeats.h"

namespace kg::test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

using BackwardVariant = reduction_backward::Variant;
using reduction_backward::workspace_bytes;

// Elements before the first one.
struct Offsets {
  std::int64_t x = 0;
  std::int64_t dy = 0;
  std::int64_t dx = 0;
};

std::string_view name_of(Op op) {
  constexpr std::string_view kNames[] = {"sum", "mean", "max", "min"};
  return kNames[static_cast<std::size_t>(op)];
}

std::int64_t count_of(const Extents& extents) { return extents[0] * extents[1] * extents[2]; }

template <typename T>
class ReductionBackward : public testing::Test {
 protected:
  static constexpr Dtype kDtype = DtypeOf<T>::value;

  struct Input {
    Extents extents;
    std::vector<T> x;
    std::vector<T> dy;
  };

  void SetUp() override {
    this->RecordProperty("backend", std::string(name(backend)));
    for (const Op op : kOps)
      for (const BackwardVariant variant : reduction_backward::kVariants)
        require_evidence(id(op, variant), kExactOperation);
  }

  // Evidence is needed of each operation.
  static std::string label(Op op, BackwardVariant variant) {
    return std::string(name_of(op)) + "_" + std::string(reduction_backward::name(variant));
  }
  static VariantId id(Op op, BackwardVariant variant) {
    return {"reduction_backward", std::string(name(kDtype)), label(op, variant)};
  }
  static CaseContext context(Op op, BackwardVariant variant, std::string fill,
                             const Extents& extents) {
    return {CaseId("reduction_backward." + std::string(name(kDtype)) + "." +
                   std::string(name_of(op)) + "_o" + std::to_string(extents[0]) + "_a" +
                   std::to_string(extents[1]) + "_i" + std::to_string(extents[2])),
            label(op, variant),
            std::move(fill),
            {extents[0], extents[1], extents[2]},
            {}};
  }

  static Input make(const Extents& extents, const std::vector<double>& x,
                    const std::vector<double>& dy) {
    return {extents, elements<T>(x), elements<T>(dy)};
  }
  static std::vector<double> gradients(const Extents& extents) {
    return normal(kDtype, result_count(extents), Tensor::b).values;
  }
  static Input normals(const Extents& extents) {
    return make(extents, normal(kDtype, count_of(extents), Tensor::a).values, gradients(extents));
  }

  static std::vector<double> reference(Op op, const Input& in) {
    const std::vector<double> dy = observe(in.dy).values;
    if (op == Op::max || op == Op::min)
      return extremum_gradient_oracle(observe(in.x).values, dy, in.extents, op == Op::max);
    std::vector<double> dx = shared_gradient_oracle(
        dy, in.extents, op == Op::mean ? static_cast<double>(in.extents[1]) : 1);
    for (double& value : dx) value = round_to(kDtype, value);
    return dx;
  }

  // Ours, with everything checked but the values.
  std::vector<T> run(Op op, BackwardVariant variant, const Input& in, Offsets offsets = {}) {
    const std::int64_t size = count_of(in.extents);
    constexpr std::int64_t kBehind = 5;
    const Strided x_view = contiguous({size}, offsets.x);
    const Strided dx_view = contiguous({size}, offsets.dx);
    const std::vector<T> x = scatter(in.x, x_view);
    const std::vector<T> dy = scatter(in.dy, contiguous({result_count(in.extents)}, offsets.dy));
    const auto device_x = device_input(x, x_view, stream_);
    const auto device_dy = device_input(dy, offsets.dy, stream_);
    const DeviceBuffer<T> device_dx(dx_view.storage_size() + kBehind);
    const DeviceBuffer<unsigned char> workspace(workspace_bytes<T>(op, in.extents, variant));
    Hygiene hygiene(id(op, variant));
    hygiene.input("x", x, device_x, stream_);
    hygiene.input("dy", dy, device_dy, stream_);
    hygiene.workspace(workspace);
    LaunchRecorder recorder;
    const bool looks_at_x = op == Op::max || op == Op::min;
    const BackwardVariant ran =
        reduction_backward::run<T>(op, in.extents,
                                   {looks_at_x ? device_x.data() + offsets.x : nullptr,
                                    device_dy.data() + offsets.dy, device_dx.data() + offsets.dx},
                                   workspace.data(), variant, stream_);
    stream_.synchronize();
    EXPECT_EQ(ran, variant);
    EXPECT_EQ(recorder.launches().empty(), size == 0);
    if (size > 0) {
      const std::string kernel = recorder.launches().back().kernel_name;
      EXPECT_NE(kernel.find(
                    "reduction_backward::" + std::string(reduction_backward::name(variant)) + "<"),
                std::string::npos)
          << kernel << " ran";
    }
    return hygiene.output(device_dx, dx_view, stream_);
  }

  // Every operation and variant.
  void check(const std::string& fill, const Input& in, Offsets offsets = {}) {
    for (const Op op : kOps) {
      const std::vector<double> value = reference(op, in);
      const Expectation right =
          exactly(kDtype, {in.extents[0], in.extents[1], in.extents[2]}, value);
      for (const BackwardVariant variant : reduction_backward::kVariants)
        EXPECT_TRUE(verdict(compare(observe(run(op, variant, in, offsets)), right),
                            context(op, variant, fill, in.extents)));
    }
  }

  Stream stream_;
};

TYPED_TEST_SUITE(ReductionBackward, FloatTypes, DtypeNames);

TYPED_TEST(ReductionBackward, RandomAgainstOracle) {
  report_no_vendor("reduction_backward", this->kDtype);
  for (const Extents& extents : shapes()) {
    const auto in = this->normals(extents);
    this->check("normal", in);
    const std::vector<double> value = this->reference(Op::sum, in);
    const auto shared = exactly(this->kDtype, {extents[0], extents[1], extents[2]}, value);
    EXPECT_TRUE(
        not_vacuous(shared, result_count(extents) == 1 ? Degenerate::constant : Degenerate::no));
  }
}

// Few different values, so that the extrema of a result have ties in other threads and blocks.
TYPED_TEST(ReductionBackward, FirstOfEqualElements) {
  for (const Extents& extents : shapes())
    this->check("ties",
                this->make(extents, integers(this->kDtype, count_of(extents), 1, Tensor::a).values,
                           this->gradients(extents)));
}

TYPED_TEST(ReductionBackward, Sizes) {
  for (const std::int64_t n : {0, 1, 2, 3, 5, 7, 8, 9, 31, 33, 257, 1025})
    for (const Extents& extents :
         {Extents{n, 7, 1}, Extents{3, n, 1}, Extents{1, n, 3}, Extents{1, n, 8}, Extents{2, 5, n}})
      this->check("normal", this->normals(extents));
}

// More than the resident blocks write in one turn.
TYPED_TEST(ReductionBackward, BeyondOneGrid) {
  const std::int64_t resident = std::int64_t{device_properties().sm_count} * 4 * 256 * 2 * 16 /
                                static_cast<std::int64_t>(sizeof(TypeParam));
  const Extents extents{3, resident / 24 + 7, 8};
  const auto in = this->normals(extents);
  for (const Op op : {Op::mean, Op::min})
    EXPECT_TRUE(verdict(compare(observe(this->run(op, BackwardVariant::vectorized, in)),
                                exactly(this->kDtype, {extents[0], extents[1], extents[2]},
                                        this->reference(op, in))),
                        this->context(op, BackwardVariant::vectorized, "normal", extents)));
}

TYPED_TEST(ReductionBackward, Misaligned) {
  for (const Extents& extents : {Extents{5, 130, 1}, Extents{3, 16, 40}, Extents{2, 9, 21}})
    for (const Offsets& offsets :
         {Offsets{1, 0, 0}, Offsets{0, 1, 0}, Offsets{0, 0, 1}, Offsets{3, 4, 7}, Offsets{8, 8, 8}})
      this->check("normal", this->normals(extents), offsets);
}

// The first NaN is the extremum; zeros of both signs are equal; dy is handed on as it is.
TYPED_TEST(ReductionBackward, SpecialValues) {
  for (const Extents& extents : {Extents{3, 300, 1}, Extents{1, 2600, 1}, Extents{2, 90, 16}}) {
    const auto count = static_cast<std::size_t>(count_of(extents));
    for (const double special : {kNan, kInfinity, -kInfinity, -0.0}) {
      std::vector<double> x = observe(this->normals(extents).x).values;
      for (const std::size_t place : {count / 3, count / 2, count - 1}) x[place] = special;
      std::vector<double> dy = this->gradients(extents);
      dy.back() = special;
      this->check("special", this->make(extents, x, dy));
      this->check("special everywhere",
                  this->make(extents, std::vector<double>(count, special), dy));
    }
    std::vector<double> zeros(count, -0.0);
    for (std::size_t i = count / 2; i < count; ++i) zeros[i] = 0.0;
    this->check("zeros", this->make(extents, zeros, this->gradients(extents)));
  }
}

// The first NaN, whichever has the larger payload, or sign.
TYPED_TEST(ReductionBackward, AnyNan) {
  using T = TypeParam;
  auto in = this->normals({1, 2600, 1});
  std::vector<T> nans = {from_raw_bits<T>(poison_bits(this->kDtype))};
  for (const SpecialValue& special : special_values(this->kDtype))
    if (std::isnan(decode(this->kDtype, special.bits)))
      nans.push_back(from_raw_bits<T>(special.bits));
  for (const T first : nans)
    for (const T second : nans) {
      in.x[1300] = first;
      in.x[2000] = second;
      this->check("two NaNs", in);
    }
}

// The smallest numbers are no zeros, neither as elements nor as gradients.
TYPED_TEST(ReductionBackward, Subnormals) {
  const double least = min_subnormal(this->kDtype);
  for (const Extents& extents : {Extents{3, 300, 1}, Extents{1, 2600, 1}, Extents{2, 90, 16}}) {
    std::vector<double> x = integers(this->kDtype, count_of(extents), 100, Tensor::a).values;
    for (double& value : x) value *= least;
    std::vector<double> dy = this->gradients(extents);
    for (double& value : dy) value = std::copysign(3 * least, value);
    this->check("subnormal", this->make(extents, x, dy));
    for (double& value : x) value = value > 99 * least ? least : 0;
    this->check("subnormal and zero", this->make(extents, x, dy));
  }
}

TYPED_TEST(ReductionBackward, InPlace) {
  using T = TypeParam;
  for (const Extents& extents : {Extents{9, 70, 1}, Extents{2, 130, 24}})
    for (const Op op : {Op::max, Op::min})
      for (const BackwardVariant variant : reduction_backward::kVariants) {
        const auto in = this->normals(extents);
        const auto x = DeviceBuffer<T>::from_host(in.x, this->stream_);
        const auto dy = DeviceBuffer<T>::from_host(in.dy, this->stream_);
        const DeviceBuffer<unsigned char> workspace(workspace_bytes<T>(op, extents, variant));
        reduction_backward::run<T>(op, extents, {x.data(), dy.data(), x.data()}, workspace.data(),
                                   variant, this->stream_);
        EXPECT_TRUE(same_bits("in place", x.to_host(this->stream_), this->run(op, variant, in)));
        EXPECT_NO_THROW(x.check_guards());
      }
}

TYPED_TEST(ReductionBackward, SameBitsEveryTime) {
  for (const Extents& extents : {Extents{1, 9000, 1}, Extents{2, 130, 24}}) {
    const auto in =
        this->make(extents, integers(this->kDtype, count_of(extents), 2, Tensor::a).values,
                   this->gradients(extents));
    for (const Op op : kOps)
      for (const BackwardVariant variant : reduction_backward::kVariants)
        EXPECT_TRUE(same_bits_every_time(this->id(op, variant),
                                         [&] { return this->run(op, variant, in); }));
  }
}

// On a stream whose earlier work still writes dy, and x.
TYPED_TEST(ReductionBackward, WaitsForItsStream) {
  using T = TypeParam;
  const Extents extents{33, 200, 1};
  const auto in = this->normals(extents);
  for (const BackwardVariant variant : reduction_backward::kVariants) {
    const DeviceBuffer<T> dx(in.x.size());
    const DeviceBuffer<unsigned char> workspace(workspace_bytes<T>(Op::max, extents, variant));
    const auto dy = DeviceBuffer<T>::from_host(in.dy, this->stream_);
    const LateInput<T> late(in.x, this->stream_);
    reduction_backward::run<T>(Op::max, extents, {late.data(), dy.data(), dx.data()},
                               workspace.data(), variant, this->stream_);
    EXPECT_TRUE(same_bits("behind a slow kernel", dx.to_host(this->stream_),
                          this->run(Op::max, variant, in)));
  }
}

TYPED_TEST(ReductionBackward, BeyondThirtyOneBits) {
  using T = TypeParam;
  constexpr Extents kExtents{(std::int64_t{1} << 21) + 3, 1024, 1};
  constexpr std::int64_t kSize = kExtents[0] * kExtents[1];
  const std::string reason = too_huge_reason(sizeof(T) * kSize);
  if (!reason.empty()) GTEST_SKIP() << reason;
  const T one = elements<T>(std::vector<double>{1})[0];
  const DeviceBuffer<T> x(static_cast<std::size_t>(kSize)); // dx, too
  fill_bytes(x.data(), 0, x.bytes(), this->stream_);
  put<T>({{kSize - 1, one}}, x, this->stream_);
  const DeviceBuffer<T> dy(static_cast<std::size_t>(kExtents[0]));
  fill_bytes(dy.data(), 0, dy.bytes(), this->stream_);
  put<T>({{kExtents[0] - 1, one}}, dy, this->stream_);
  const DeviceBuffer<unsigned char> workspace(
      workspace_bytes<T>(Op::max, kExtents, BackwardVariant::vectorized));
  reduction_backward::run<T>(Op::max, kExtents, {x.data(), dy.data(), x.data()}, workspace.data(),
                             BackwardVariant::vectorized, this->stream_);
  EXPECT_TRUE(holds(x, from_raw_bits<T>(0), Marks<T>{{kSize - 1, one}}, this->stream_));
}

TYPED_TEST(ReductionBackward, AutomaticReportsWhatRan) {
  using T = TypeParam;
  const auto in = this->normals({4, 8, 1});
  const auto dy = DeviceBuffer<T>::from_host(in.dy, this->stream_);
  const DeviceBuffer<T> dx(in.x.size());
  LaunchRecorder recorder;
  EXPECT_EQ(reduction_backward::run<T>(Op::sum, in.extents, {nullptr, dy.data(), dx.data()},
                                       nullptr, BackwardVariant::automatic, this->stream_),
            BackwardVariant::vectorized);
  ASSERT_EQ(recorder.launches().size(), 1u);
  EXPECT_NE(recorder.launches()[0].kernel_name.find("vectorized"), std::string::npos);
}

TYPED_TEST(ReductionBackward, RefusesWrongArguments) {
  using T = TypeParam;
  const DeviceBuffer<T> data(64);
  const DeviceBuffer<T> gradient(64);
  T* const p = data.data();
  const T* const dy = gradient.data();
  const auto run = [&](Op op, const Extents& extents, const T* x, const T* from, T* dx,
                       void* workspace) {
    reduction_backward::run<T>(op, extents, {x, from, dx}, workspace, BackwardVariant::automatic,
                               this->stream_);
  };
  LaunchRecorder recorder;
  EXPECT_THROW(run(Op::sum, {-1, 8, 1}, p, dy, p, nullptr), Error);
  EXPECT_THROW(run(Op::sum, {4, 8, 1}, nullptr, nullptr, p, nullptr), Error);
  EXPECT_THROW(run(Op::sum, {4, 8, 1}, nullptr, dy, nullptr, nullptr), Error);
  EXPECT_THROW(run(Op::sum, {4, 8, 1}, nullptr, p + 16, p, nullptr), Error);
  EXPECT_THROW(run(Op::max, {4, 8, 1}, nullptr, dy, p, p), Error);
  EXPECT_THROW(run(Op::max, {4, 8, 1}, p + 1, dy, p, p), Error);
  EXPECT_THROW(run(Op::max, {4, 8, 1}, p, dy, p, nullptr), Error);
  EXPECT_TRUE(recorder.launches().empty());
}

TYPED_TEST(ReductionBackward, WorkReadsXForExtrema) {
  constexpr double kWidth = sizeof(TypeParam);
  EXPECT_EQ(reduction_backward::work(Op::mean, this->kDtype, {2, 15, 7}).bytes, kWidth * 224);
  const Work extremum = reduction_backward::work(Op::min, this->kDtype, {2, 15, 7});
  EXPECT_EQ(extremum.bytes, kWidth * 434);
  EXPECT_EQ(extremum.flops, 210);
}

} // namespace
} // namespace kg::test
