// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests specific to batchnorm_backward; its card configures those of every operation.
#include "ops/batchnorm_backward/batchnorm_backward.h"

#include "runtime/launch.h"
#include "tests/contract/own_test.h"
#include "tests/ops/batchnorm/huge.h"

namespace kg::card {
namespace {

using batchnorm::Variant;
using batchnorm_backward::workspace_bytes;
using images::Images;

KG_OWN_TEST(AutomaticIsVectorized) {
  const Images p{2, 3, 8};
  EXPECT_EQ(workspace_bytes(Variant::automatic, judge.dtype(), p),
            workspace_bytes(Variant::vectorized, judge.dtype(), p));
  EXPECT_EQ(batchnorm_backward::chain(Variant::automatic, judge.dtype(), p),
            batchnorm_backward::chain(Variant::vectorized, judge.dtype(), p));
}

// Indices beyond 32 bits, dx in place of dy. dy is 0 except for three channels of +2 and -2, where
// x is 0. Their sums are 0, so dx is rstd dy.
KG_OWN_TEST(MoreThan2To31Elements) {
  dispatch(judge.dtype(), [&]<class T>() {
    Stream& stream = judge.stream();
    for (const Images& p : images::huge()) {
      const auto count = static_cast<std::size_t>(p.elements());
      // A channel's sums need all blocks, so a window would be wrong.
      KG_SKIP_IF_TOO_HUGE(2 * count * sizeof(T));
      const auto channels = static_cast<std::size_t>(p.channels);
      const auto mean = DeviceBuffer<float>::from_host(std::vector<float>(channels), stream);
      const auto rstd = DeviceBuffer<float>::from_host(std::vector<float>(channels, 0.5F), stream);
      const DeviceBuffer<float> dgamma(channels), dbeta(channels);
      const DeviceBuffer<T> x(count);
      fill_bytes(x.data(), 0, x.bytes(), stream);
      for (const Variant variant : batchnorm::kVariants) {
        const DeviceBuffer<T> dy(count);
        fill_bytes(dy.data(), 0, dy.bytes(), stream);
        test::put(images::marks<T>(p, 2), dy, stream);
        const DeviceBuffer<unsigned char> workspace(workspace_bytes(variant, judge.dtype(), p));
        batchnorm_backward::run<T>(p, dy.data(), x.data(), nullptr, mean.data(), rstd.data(),
                                   dy.data(), dgamma.data(), dbeta.data(), workspace.data(),
                                   variant, stream);
        EXPECT_TRUE(test::holds(dy, images::element<T>(0), images::marks<T>(p, 1), stream))
            << name(variant) << " " << test::text(p);
        EXPECT_NO_THROW(dy.check_guards());
      }
    }
  });
}

// dx within x or dy, a missing or misaligned workspace, and no memory for empty sums.
KG_OWN_TEST(RefusesWrongArguments) {
  dispatch(judge.dtype(), [&]<class T>() {
    const DeviceBuffer<T> data(192);
    const DeviceBuffer<float> statistics(16), workspace(64);
    T *const p = data.data(), *const q = p + 96;
    float *const s = statistics.data(), *const w = workspace.data();
    LaunchRecorder recorder;
    const auto refused = [&](const Images& images, const T* dy, const T* x, T* dx, float* dgamma,
                             void* work) {
      EXPECT_THROW(batchnorm_backward::run<T>(images, dy, x, nullptr, s, s, dx, dgamma, s, work,
                                              Variant::vectorized, judge.stream()),
                   Error);
    };
    const Images good{2, 3, 8};
    refused(good, p, q, p + 1, s, w);
    refused(good, q, p, p + 1, s, w);
    refused(good, p, q, p, s, nullptr);
    refused(good, p, q, p, s, w + 1);
    refused({0, 3, 8}, p, q, p, nullptr, w);
    EXPECT_TRUE(recorder.launches().empty());
  });
}

} // namespace
} // namespace kg::card
