// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// How softmax_sum_backward_test.cu runs and judges one set of tensors.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/buffer.h"
#include "runtime/launch.h"
#include "tests/oracle/compare.h"
#include "tests/oracle/fills.h"
#include "tests/oracle/oracle_softmax_sum_backward.h"
#include "tests/oracle/strided.h"
#include "tests/support/case.h"
#include "tests/support/device_types.h"
#include "tests/support/hygiene.h"
#include "tests/support/vacuity.h"

#include "softmax_sum_backward/softmax_sum_backward.h"

namespace kg::test {

using softmax_sum_backward::kVariants;
using softmax_sum_backward::Variant;
using softmax_sum_backward::workspace_bytes;

// Elements between the start of each array's storage, which is aligned to 256 bytes, and the array.
struct Offsets {
  std::int64_t x = 0;
  std::int64_t alpha = 0;
  std::int64_t dy = 0;
  std::int64_t dx = 0;
  std::int64_t dalpha = 0;
};

// alpha.size() tensors as long as dy, one behind the other.
template <typename T>
struct Inputs {
  std::vector<T> x, alpha, dy;

  std::int64_t terms() const { return static_cast<std::int64_t>(alpha.size()); }
  std::int64_t n() const { return static_cast<std::int64_t>(dy.size()); }
};

template <typename T>
struct Results {
  std::vector<T> dx, dalpha;
};

template <typename T>
class SoftmaxSumBackward : public testing::Test {
 protected:
  static constexpr Dtype kDtype = DtypeOf<T>::value;
  static constexpr std::int64_t kPack = 16 / static_cast<std::int64_t>(sizeof(T));
  static constexpr std::int64_t kTile = 256 * kPack; // that a block takes at once

  void SetUp() override {
    this->RecordProperty("backend", std::string(name(backend)));
    require_evidence("softmax_sum_backward", kDtype, kVariants, kRoundedOperation);
  }

  static VariantId id(Variant variant) {
    return {"softmax_sum_backward", std::string(name(kDtype)),
            std::string(softmax_sum_backward::name(variant))};
  }
  static CaseContext context(Variant variant, std::string fill, const Inputs<T>& in) {
    return {CaseId("softmax_sum_backward." + std::string(name(kDtype)) + ".k" +
                   std::to_string(in.terms()) + "_n" + std::to_string(in.n())),
            std::string(softmax_sum_backward::name(variant)),
            std::move(fill),
            {in.terms(), in.n()},
            {}};
  }

  // The kernel that must run: packs where they fit all tensors.
  static std::string kernel_of(Variant variant, std::int64_t n, Offsets at) {
    if (variant == Variant::naive) return "softmax_sum_backward::naive_sums";
    const bool fits =
        n % kPack == 0 && at.x % kPack == 0 && at.dy % kPack == 0 && at.dx % kPack == 0;
    return fits ? "softmax_sum_backward::vectorized" : "softmax_sum_backward::misaligned";
  }

  // Ours, with everything checked but the values.
  Results<T> run(Variant variant, const Inputs<T>& in, Offsets at = {}) {
    constexpr std::int64_t kBehind = 5;
    const std::int64_t n = in.n();
    const std::int64_t terms = in.terms();
    const std::vector<T> stored_x = scatter(in.x, contiguous({terms * n}, at.x));
    const std::vector<T> stored_alpha = scatter(in.alpha, contiguous({terms}, at.alpha));
    const std::vector<T> stored_dy = scatter(in.dy, contiguous({n}, at.dy));
    const auto x = device_input(stored_x, at.x, stream_);
    const auto alpha = device_input(stored_alpha, at.alpha, stream_);
    const auto dy = device_input(stored_dy, at.dy, stream_);
    const DeviceBuffer<T> dx(at.dx + terms * n + kBehind);
    const DeviceBuffer<T> dalpha(at.dalpha + terms + kBehind);
    const DeviceBuffer<unsigned char> workspace(workspace_bytes<T>(variant, terms, n));

    Hygiene hygiene(id(variant));
    hygiene.input("x", stored_x, x, stream_);
    hygiene.input("alpha", stored_alpha, alpha, stream_);
    hygiene.input("dy", stored_dy, dy, stream_);
    hygiene.workspace(workspace);
    LaunchRecorder recorder;
    const Variant ran =
        softmax_sum_backward::run<T>({x.data() + at.x, alpha.data() + at.alpha, dy.data() + at.dy,
                                      dx.data() + at.dx, dalpha.data() + at.dalpha},
                                     workspace.data(), terms, n, variant, stream_);
    stream_.synchronize();
    EXPECT_EQ(ran, variant);
    EXPECT_EQ(recorder.launches().size(), n == 0 ? 1u : variant == Variant::naive ? 3u : 2u);
    if (n > 0) {
      const std::string kernel = recorder.launches().front().kernel_name;
      EXPECT_NE(kernel.find(kernel_of(variant, n, at)), std::string::npos) << kernel;
    }
    return {hygiene.output(dx, contiguous({terms * n}, at.dx), stream_),
            hygiene.output(dalpha, contiguous({terms}, at.dalpha), stream_)};
  }

  static SoftmaxSumGradients oracle(const Inputs<T>& in) {
    return softmax_sum_gradients_oracle(kDtype, observe(in.x).values, observe(in.alpha).values,
                                        observe(in.dy).values);
  }

  void compare_both(Variant variant, const std::string& fill, const Inputs<T>& in,
                    const Results<T>& result, const SoftmaxSumGradients& right) {
    const Expectation dx{kDtype, {in.terms(), in.n()}, right.dx, right.dx_tolerance};
    const Expectation dalpha{kDtype, {in.terms()}, right.dalpha, right.dalpha_tolerance};
    EXPECT_TRUE(verdict(compare(observe(result.dx), dx), context(variant, fill + ", dx", in)));
    EXPECT_TRUE(
        verdict(compare(observe(result.dalpha), dalpha), context(variant, fill + ", dalpha", in)));
  }

  // Every variant on these values, against the oracle.
  void check(const std::string& fill, const Inputs<T>& in, Offsets at = {}) {
    const SoftmaxSumGradients right = oracle(in);
    if (in.n() > 1) {
      const Expectation dx{kDtype, {in.terms(), in.n()}, right.dx, right.dx_tolerance};
      EXPECT_TRUE(not_vacuous(dx)) << fill;
    }
    for (const Variant variant : kVariants)
      compare_both(variant, fill, in, run(variant, in, at), right);
  }

  static Inputs<T> normals(std::int64_t terms, std::int64_t n) {
    return {elements<T>(normal(kDtype, terms * n, Tensor::a).values),
            elements<T>(normal(kDtype, terms, Tensor::b).values),
            elements<T>(normal(kDtype, n, Tensor::c).values)};
  }

  Stream stream_;
};

} // namespace kg::test
