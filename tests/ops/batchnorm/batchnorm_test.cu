// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests specific to batchnorm; its card configures those of every operation.
#include "ops/batchnorm/batchnorm.h"

#include <cmath>

#include "runtime/launch.h"
#include "tests/contract/own_test.h"
#include "tests/ops/batchnorm/huge.h"
#include "tests/ops/batchnorm/samples.h"

namespace kg::card {
namespace {

using batchnorm::kVariants;
using images::Images;

KG_OWN_TEST(AutomaticIsVectorized) {
  using batchnorm::Variant;
  const Images p{2, 3, 8};
  EXPECT_EQ(batchnorm::workspace_bytes(Variant::automatic, judge.dtype(), p),
            batchnorm::workspace_bytes(Variant::vectorized, judge.dtype(), p));
  EXPECT_EQ(batchnorm::chain(Variant::automatic, judge.dtype(), p),
            batchnorm::chain(Variant::vectorized, judge.dtype(), p));
}

// In training an infinity makes its channel NaN and every value derived from its variance not
// finite, and changes no bit of another channel.
KG_OWN_TEST(InfinitiesStayInTheirChannels) {
  for (const Images& p : images::in_layouts({{3, 5, 49}, {1, 5, 4100}, {30, 5, 1}, {33, 8, 49}},
                                            {{5, 24, 9}, {40, 5, 7}, {1, 8, 1030}}))
    for (const double infinity : {kInfinity, -kInfinity}) {
      const auto sample = [&](double special) {
        return batchnorm_samples::sample(
            judge.dtype(), "infinities", "train", p,
            images::with_special(judge.dtype(), p, test::Tensor::a, special));
      };
      judge.each_variant(sample(infinity), [&](const Variant& variant) {
        const Outcome usual = judge.run(variant.name, sample(1));
        for (const auto& [name, output] : judge.run(variant.name, sample(infinity)).outputs)
          for (std::size_t i = 0; i < output.bits.size(); ++i) {
            const auto place = static_cast<std::int64_t>(i);
            const std::int64_t c = name == "y" ? test::channel_of(p, place) : place;
            const double value = output.values[i];
            if (c != 1 && c != 2 && c != 4)
              ASSERT_EQ(output.bits[i], usual.bits(name)[i]) << name << " of channel " << c;
            else if (name == "y")
              ASSERT_TRUE(std::isnan(value)) << variant.name << ": y of channel " << c;
            else
              ASSERT_FALSE(std::isfinite(value)) << variant.name << ": " << name << " of " << c;
          }
      });
    }
}

// Indices beyond 32 bits, in place. All elements are 0 except three channels of +2 and -2, which
// epsilon 12 normalizes to one half.
KG_OWN_TEST(MoreThan2To31Elements) {
  dispatch(judge.dtype(), [&]<class T>() {
    for (const Images& p : images::huge()) {
      const auto count = static_cast<std::size_t>(p.elements());
      // The statistics need all blocks, so a window would be wrong.
      KG_SKIP_IF_TOO_HUGE(count * sizeof(T));
      const DeviceBuffer<float> mean(static_cast<std::size_t>(p.channels));
      const DeviceBuffer<float> rstd(static_cast<std::size_t>(p.channels));
      for (const batchnorm::Variant variant : kVariants) {
        const DeviceBuffer<T> x(count);
        fill_bytes(x.data(), 0, x.bytes(), judge.stream());
        test::put(images::marks<T>(p, 2), x, judge.stream());
        const DeviceBuffer<unsigned char> workspace(
            batchnorm::workspace_bytes(variant, judge.dtype(), p));
        batchnorm::run_training<T>(p, x.data(), nullptr, nullptr, 12, {}, x.data(), mean.data(),
                                   rstd.data(), workspace.data(), variant, judge.stream());
        EXPECT_TRUE(test::holds(x, images::element<T>(0), images::marks<T>(p, 0.5), judge.stream()))
            << name(variant) << " " << test::text(p);
        EXPECT_NO_THROW(x.check_guards());
      }
    }
  });
}

// y within x, one running statistic without the other, and a missing or misaligned workspace.
KG_OWN_TEST(RefusesWrongArguments) {
  dispatch(judge.dtype(), [&]<class T>() {
    const DeviceBuffer<T> data(96);
    const DeviceBuffer<float> statistics(16), workspace(64);
    T* const x = data.data();
    float *const s = statistics.data(), *const w = workspace.data();
    LaunchRecorder recorder;
    const auto refused = [&](T* y, batchnorm::Running running, void* work) {
      EXPECT_THROW(batchnorm::run_training<T>({2, 3, 8}, x, nullptr, nullptr, 1, running, y, s, s,
                                              work, batchnorm::Variant::vectorized, judge.stream()),
                   Error);
    };
    refused(x + 1, {}, w);
    refused(x, {s, nullptr}, w);
    refused(x, {nullptr, s}, w);
    refused(x, {}, nullptr);
    refused(x, {}, w + 1);
    EXPECT_THROW(batchnorm::run_inference<T>({2, 3, 8}, x, nullptr, nullptr, s, s, 1, x + 1,
                                             batchnorm::Variant::naive, judge.stream()),
                 Error);
    EXPECT_TRUE(recorder.launches().empty());
  });
}

} // namespace
} // namespace kg::card
