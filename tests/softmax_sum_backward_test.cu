// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// softmax_sum_backward against the oracle and every vendor's chain; bounds and their derivation in
// tests/oracle/oracle_softmax_sum_backward.h.
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/device.h"
#include "tests/oracle/vendor_comparison.h"
#include "tests/softmax_sum_backward_fixture.h"
#include "tests/support/huge.h"
#include "tests/support/metamorphic.h"
#include "tests/support/repeats.h"
#include "vendor/softmax_sum_backward/softmax_sum_backward.h"

namespace kg::test {
namespace {

TYPED_TEST_SUITE(SoftmaxSumBackward, FloatTypes, DtypeNames);

constexpr std::int64_t kTerms = 7; // not a multiple of the terms that a block takes
constexpr std::int64_t kOdd = 1003;
constexpr std::int64_t kEven = 2 * 2048 + 136; // two tiles of the 16-bit types and a part
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Weights of powers of two, or 0, and integers: all sums are exact, and f32 holds them.
TYPED_TEST(SoftmaxSumBackward, ExactFill) {
  using T = TypeParam;
  const std::vector<double> alpha = {-kInfinity, 3, -kInfinity, 3, 3, -kInfinity, 3}; // 1/4 each
  for (const std::int64_t n : {kOdd, kEven}) {
    const Inputs<T> in{elements<T>(integers(this->kDtype, kTerms * n, 7, Tensor::a).values),
                       elements<T>(alpha),
                       elements<T>(integers(this->kDtype, n, 7, Tensor::c).values)};
    SoftmaxSumGradients right = this->oracle(in);
    for (double& value : right.dx) value = round_to(this->kDtype, value);
    for (double& value : right.dalpha) value = round_to(this->kDtype, value);
    const Expectation dx{this->kDtype, {kTerms, n}, right.dx, {}}; // zeros of either sign
    const Expectation dalpha{this->kDtype, {kTerms}, right.dalpha, {}};
    EXPECT_TRUE(not_vacuous(dx));
    EXPECT_TRUE(not_vacuous(dalpha));
    for (const Variant variant : kVariants) {
      const Results<T> result = this->run(variant, in);
      const auto context = this->context(variant, "integers", in);
      EXPECT_TRUE(verdict(compare(observe(result.dx), dx), context));
      EXPECT_TRUE(verdict(compare(observe(result.dalpha), dalpha), context));
    }
  }
}

TYPED_TEST(SoftmaxSumBackward, RandomAgainstOracle) {
  for (const std::int64_t n : {kOdd, kEven}) this->check("normal", this->normals(kTerms, n));
}

TYPED_TEST(SoftmaxSumBackward, RandomAgainstVendors) {
  using T = TypeParam;
  if constexpr (!std::is_same_v<T, float>) {
    report_no_vendor("softmax_sum_backward", this->kDtype);
  } else {
    const Inputs<T> in = this->normals(kTerms, kOdd);
    const SoftmaxSumGradients right = this->oracle(in);
    const Expectation right_dx{this->kDtype, {kTerms, kOdd}, right.dx, right.dx_tolerance};
    const Expectation right_dalpha{this->kDtype, {kTerms}, right.dalpha, right.dalpha_tolerance};
    const auto x = DeviceBuffer<T>::from_host(in.x, this->stream_);
    const auto alpha = DeviceBuffer<T>::from_host(in.alpha, this->stream_);
    const auto dy = DeviceBuffer<T>::from_host(in.dy, this->stream_);
    for (const Variant variant : kVariants) {
      const Results<T> ours = this->run(variant, in); // before the vendor
      for (const std::string_view vendor : vendor::softmax_sum_backward_variants()) {
        const DeviceBuffer<T> dx(in.x.size()), dalpha(in.alpha.size());
        vendor::softmax_sum_backward(vendor,
                                     {x.data(), alpha.data(), dy.data(), dx.data(), dalpha.data()},
                                     kTerms, kOdd, this->stream_);
        const auto context = this->context(variant, "normal beside " + std::string(vendor), in);
        EXPECT_TRUE(verdict(
            compare_with_vendor(observe(ours.dx), observe(dx.to_host(this->stream_)), right_dx),
            context));
        EXPECT_TRUE(
            verdict(compare_with_vendor(observe(ours.dalpha),
                                        observe(dalpha.to_host(this->stream_)), right_dalpha),
                    context));
      }
    }
  }
}

// What is not finite in dy reaches its elements of dx and all of dalpha; in x dalpha alone. Weights
// of 0 and NaN.
TYPED_TEST(SoftmaxSumBackward, SpecialValues) {
  using T = TypeParam;
  const auto normals = this->normals(5, 88);
  for (const double special : {kNan, kInfinity, -kInfinity}) {
    const T value = elements<T>(std::vector<double>{special})[0];
    auto in = normals;
    in.x[100] = value;
    this->check("special x", in);
    in = normals;
    in.dy[50] = value;
    this->check("special dy", in);
  }
  auto in = normals;
  in.alpha[2] = elements<T>(std::vector<double>{-kInfinity})[0];
  in.x[200] = elements<T>(std::vector<double>{3})[0];
  for (const Variant variant : kVariants)
    this->compare_both(variant, "a weight of 0", in, this->run(variant, in), this->oracle(in));
  in.alpha[2] = elements<T>(std::vector<double>{kNan})[0];
  for (const Variant variant : kVariants)
    this->compare_both(variant, "weights of NaN", in, this->run(variant, in), this->oracle(in));
}

// Every pattern of a 16-bit type, and as many of f32 spread over all kinds, as dy.
TYPED_TEST(SoftmaxSumBackward, AllPatterns) {
  using T = TypeParam;
  constexpr std::int64_t kCount = 1 << 16;
  const auto bits = sizeof(T) == 2 ? all_bits(this->kDtype) : unique_bits(this->kDtype, kCount);
  auto in = this->normals(2, kCount);
  in.dy = elements_of_bits<T>(bits);
  const auto right = this->oracle(in);
  const Expectation dx{this->kDtype, {2, kCount}, right.dx, right.dx_tolerance};
  for (const Variant variant : kVariants)
    EXPECT_TRUE(verdict(compare(observe(this->run(variant, in).dx), dx),
                        this->context(variant, "all_bits", in)));
}

// Around a group of terms, a pack, a block and a tile.
TYPED_TEST(SoftmaxSumBackward, Sizes) {
  const std::int64_t tile = this->kTile;
  for (const std::int64_t terms : {1, 3, 4, 5, 64})
    for (const std::int64_t n : {0, 1, 3, 6, 8, 12, 33})
      this->check("normal", this->normals(terms, n));
  for (const std::int64_t n : {std::int64_t{255}, std::int64_t{264}, tile - 1, tile, tile + 8})
    this->check("normal", this->normals(2, n));
}

TYPED_TEST(SoftmaxSumBackward, BeyondOneGrid) {
  const std::int64_t n = std::int64_t{device_properties().sm_count} * 4 * this->kTile + 1000;
  this->check("normal", this->normals(1, n));
}

// Indices beyond 32 bits: the second of two terms, whose weight is 1, ends there.
TYPED_TEST(SoftmaxSumBackward, MoreThan2To31Elements) {
  using T = TypeParam;
  constexpr std::int64_t kN = (std::int64_t{1} << 30) + 4096;
  const std::string reason = too_huge_reason(3 * kN * sizeof(T));
  if (!reason.empty()) GTEST_SKIP() << reason;
  const auto value = [](double x) { return elements<T>(std::vector<double>{x})[0]; };
  const auto alpha =
      DeviceBuffer<T>::from_host(elements<T>(std::vector<double>{-kInfinity, 0}), this->stream_);
  const DeviceBuffer<T> dy(kN), dalpha(2);
  fill_bytes(dy.data(), 0, dy.bytes(), this->stream_);
  Marks<T> gradients, after;
  double next = 3;
  for (const std::int64_t index : {std::int64_t{0}, (std::int64_t{1} << 30) - 4096, kN - 1}) {
    gradients[index] = value(next);
    after[kN + index] = value(next++);
  }
  put(gradients, dy, this->stream_);
  for (const Variant variant : kVariants) {
    const DeviceBuffer<T> x(2 * kN); // dx, too
    fill_bytes(x.data(), 0, x.bytes(), this->stream_);
    const DeviceBuffer<unsigned char> workspace(workspace_bytes<T>(variant, 2, kN));
    softmax_sum_backward::run<T>({x.data(), alpha.data(), dy.data(), x.data(), dalpha.data()},
                                 workspace.data(), 2, kN, variant, this->stream_);
    EXPECT_TRUE(holds(x, value(0), after, this->stream_)) << softmax_sum_backward::name(variant);
    EXPECT_NO_THROW(x.check_guards());
  }
}

TYPED_TEST(SoftmaxSumBackward, Misaligned) {
  for (const std::int64_t n : {5, 40}) {
    const auto in = this->normals(3, n);
    for (const std::int64_t k : {1, 4}) {
      this->check("normal", in, {k, k, k, k, k});
      this->check("normal", in, {k, 0, 0, 0, 0});
      this->check("normal", in, {0, k, 0, 0, 0});
      this->check("normal", in, {0, 0, k, 0, 0});
      this->check("normal", in, {0, 0, 0, k, 0});
      this->check("normal", in, {0, 0, 0, 0, k});
    }
  }
}

// dx = x.
TYPED_TEST(SoftmaxSumBackward, InPlace) {
  using T = TypeParam;
  for (const std::int64_t n : {kOdd, kEven}) {
    const auto in = this->normals(kTerms, n);
    const auto right = this->oracle(in);
    const auto alpha = DeviceBuffer<T>::from_host(in.alpha, this->stream_);
    const auto dy = DeviceBuffer<T>::from_host(in.dy, this->stream_);
    for (const Variant variant : kVariants) {
      const auto x = DeviceBuffer<T>::from_host(in.x, this->stream_);
      const DeviceBuffer<T> dalpha(in.alpha.size());
      const DeviceBuffer<unsigned char> workspace(workspace_bytes<T>(variant, kTerms, n));
      softmax_sum_backward::run<T>({x.data(), alpha.data(), dy.data(), x.data(), dalpha.data()},
                                   workspace.data(), kTerms, n, variant, this->stream_);
      this->compare_both(variant, "normal, dx = x", in,
                         {x.to_host(this->stream_), dalpha.to_host(this->stream_)}, right);
    }
  }
}

TYPED_TEST(SoftmaxSumBackward, SameBitsEveryTime) {
  using T = TypeParam;
  for (const std::int64_t n : {kOdd, kEven}) {
    const auto in = this->normals(kTerms, n);
    for (const Variant variant : kVariants) {
      static_assert(softmax_sum_backward::deterministic(Variant::automatic));
      EXPECT_TRUE(same_bits_every_time(this->id(variant), [&] {
        const Results<T> result = this->run(variant, in);
        std::vector<T> both = result.dx;
        both.insert(both.end(), result.dalpha.begin(), result.dalpha.end());
        return both;
      }));
    }
  }
}

// On a stream whose earlier work still writes dy.
TYPED_TEST(SoftmaxSumBackward, WaitsForItsStream) {
  using T = TypeParam;
  const auto in = this->normals(kTerms, kEven);
  const auto x = DeviceBuffer<T>::from_host(in.x, this->stream_);
  const auto alpha = DeviceBuffer<T>::from_host(in.alpha, this->stream_);
  for (const Variant variant : kVariants) {
    const DeviceBuffer<T> dx(in.x.size()), dalpha(in.alpha.size());
    const DeviceBuffer<unsigned char> workspace(workspace_bytes<T>(variant, kTerms, kEven));
    const LateInput<T> late(in.dy, this->stream_);
    softmax_sum_backward::run<T>({x.data(), alpha.data(), late.data(), dx.data(), dalpha.data()},
                                 workspace.data(), kTerms, kEven, variant, this->stream_);
    const Results<T> right = this->run(variant, in);
    EXPECT_TRUE(same_bits("behind a slow kernel", dx.to_host(this->stream_), right.dx));
    EXPECT_TRUE(same_bits("behind a slow kernel", dalpha.to_host(this->stream_), right.dalpha));
  }
}

TYPED_TEST(SoftmaxSumBackward, AutomaticReportsWhatRan) {
  using T = TypeParam;
  const auto x = DeviceBuffer<T>::from_host(std::vector<T>(64), this->stream_);
  const auto alpha = DeviceBuffer<T>::from_host(std::vector<T>(2), this->stream_);
  const auto dy = DeviceBuffer<T>::from_host(std::vector<T>(32), this->stream_);
  const DeviceBuffer<T> dalpha(2);
  const DeviceBuffer<unsigned char> workspace(workspace_bytes<T>(Variant::automatic, 2, 32));
  LaunchRecorder recorder;
  const Variant ran =
      softmax_sum_backward::run<T>({x.data(), alpha.data(), dy.data(), x.data(), dalpha.data()},
                                   workspace.data(), 2, 32, Variant::automatic, this->stream_);
  EXPECT_EQ(ran, Variant::vectorized);
  ASSERT_EQ(recorder.launches().size(), 2u);
  EXPECT_NE(recorder.launches()[0].kernel_name.find("vectorized"), std::string::npos);
}

TYPED_TEST(SoftmaxSumBackward, RefusesWrongArguments) {
  using T = TypeParam;
  const DeviceBuffer<T> memory(128), others(64);
  T* const p = memory.data();
  T* const alpha = others.data();
  T* const dalpha = alpha + 4;
  T* const dy = alpha + 16;
  LaunchRecorder recorder;
  const DeviceBuffer<unsigned char> workspace(4096);
  for (const Variant variant : kVariants) {
    const auto run = [&](const softmax_sum_backward::Arrays<T>& arrays, std::int64_t terms,
                         std::int64_t n, void* sums) {
      softmax_sum_backward::run<T>(arrays, sums, terms, n, variant, this->stream_);
    };
    void* const sums = workspace.data();
    EXPECT_THROW(run({p, alpha, dy, p, dalpha}, 0, 8, sums), Error);
    EXPECT_THROW(run({p, alpha, dy, p, dalpha}, 65, 1, sums), Error);
    EXPECT_THROW(run({p, alpha, dy, p, dalpha}, 2, -1, sums), Error);
    EXPECT_THROW(run({nullptr, alpha, dy, p, dalpha}, 2, 8, sums), Error);
    EXPECT_THROW(run({p, nullptr, dy, p, dalpha}, 2, 8, sums), Error);
    EXPECT_THROW(run({p, alpha, nullptr, p, dalpha}, 2, 8, sums), Error);
    EXPECT_THROW(run({p, alpha, dy, nullptr, dalpha}, 2, 8, sums), Error);
    EXPECT_THROW(run({p, alpha, dy, p, nullptr}, 2, 8, sums), Error);
    EXPECT_THROW(run({p, alpha, dy, p, dalpha}, 2, 8, nullptr), Error);
    EXPECT_THROW(run({p, alpha, dy, p, dalpha}, 2, 8, workspace.data() + 4), Error);
    EXPECT_THROW(run({p, alpha, dy, p + 8, dalpha}, 2, 8, sums), Error) << "in place in part";
    EXPECT_THROW(run({p, alpha, p + 8, p, dalpha}, 2, 8, sums), Error) << "dy within dx";
    EXPECT_THROW(run({p, p + 8, dy, p, dalpha}, 2, 8, sums), Error) << "alpha within dx";
    EXPECT_THROW(run({p, alpha, dy, p, alpha}, 2, 8, sums), Error) << "dalpha is alpha";
    EXPECT_THROW(run({p, alpha, dy, p, p + 14}, 2, 8, sums), Error) << "dalpha within dx";
    EXPECT_THROW(run({p, alpha, dy, p + 32, p + 14}, 2, 8, sums), Error) << "dalpha within x";
    EXPECT_THROW(run({p, alpha, dy, p, dy + 2}, 2, 8, sums), Error) << "dalpha within dy";
  }
  EXPECT_TRUE(recorder.launches().empty());
}

TYPED_TEST(SoftmaxSumBackward, WorkReadsXAndWritesDx) {
  const Work work = softmax_sum_backward::work(this->kDtype, 8, 1000);
  EXPECT_EQ(work.bytes, 17016.0 * sizeof(TypeParam));
  EXPECT_EQ(work.flops, 24000.0);
}

} // namespace
} // namespace kg::test
