// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// How bias_gelu_backward_test.cu runs and judges one set of matrices.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/buffer.h"
#include "runtime/launch.h"
#include "tests/bias_gelu_forms.h"
#include "tests/oracle/compare.h"
#include "tests/oracle/fills.h"
#include "tests/oracle/oracle_bias_gelu_backward.h"
#include "tests/oracle/strided.h"
#include "tests/support/case.h"
#include "tests/support/device_types.h"
#include "tests/support/hygiene.h"
#include "tests/support/vacuity.h"

#include "bias_gelu_backward/bias_gelu_backward.h"

namespace kg::test {

using bias_gelu_backward::kVariants;
using bias_gelu_backward::Variant;
using bias_gelu_backward::workspace_bytes;

// Elements between the start of each array's storage, which is aligned to 256 bytes, and the array.
struct Offsets {
  std::int64_t x = 0;
  std::int64_t bias = 0;
  std::int64_t dy = 0;
  std::int64_t dx = 0;
  std::int64_t dbias = 0;
};

// Matrices and a bias of as many elements as they have columns.
template <typename T>
struct Inputs {
  std::vector<T> x, bias, dy;

  std::int64_t size() const { return static_cast<std::int64_t>(x.size()); }
  std::int64_t cols() const { return static_cast<std::int64_t>(bias.size()); }
  std::int64_t rows() const { return cols() == 0 ? 0 : size() / cols(); }
};

template <typename T>
struct Results {
  std::vector<T> dx, dbias;
};

template <typename T>
class BiasGeluBackward : public testing::Test {
 protected:
  static constexpr Dtype kDtype = DtypeOf<T>::value;
  static constexpr std::int64_t kPack = 16 / static_cast<std::int64_t>(sizeof(T));

  void SetUp() override {
    this->RecordProperty("backend", std::string(name(backend)));
    require_evidence("bias_gelu_backward", kDtype, kVariants, kRoundedOperation);
  }

  static VariantId id(Variant variant) {
    return {"bias_gelu_backward", std::string(name(kDtype)),
            std::string(bias_gelu_backward::name(variant))};
  }
  static CaseContext context(Form form, Variant variant, std::string fill, const Inputs<T>& in) {
    return {CaseId("bias_gelu_backward." + std::string(name(kDtype)) + "." +
                   parameters(form, in.rows(), in.cols())),
            std::string(bias_gelu_backward::name(variant)),
            std::move(fill),
            {in.rows(), in.cols()},
            {}};
  }

  // The kernel that must run: packs where they fit all arrays and rows.
  static std::string kernel_of(Variant variant, std::int64_t cols, Offsets at) {
    if (variant == Variant::naive) return "bias_gelu_backward::naive";
    const bool fits = cols % kPack == 0 && at.x % kPack == 0 && at.bias % kPack == 0 &&
                      at.dy % kPack == 0 && at.dx % kPack == 0;
    return fits ? "bias_gelu_backward::vectorized" : "bias_gelu_backward::misaligned";
  }

  // Ours, with everything checked but the values.
  Results<T> run(Form form, Variant variant, const Inputs<T>& in, Offsets at = {}) {
    const std::int64_t n = in.size();
    const std::int64_t cols = in.cols();
    constexpr std::int64_t kBehind = 5;
    const std::vector<T> stored_x = scatter(in.x, contiguous({n}, at.x));
    const std::vector<T> stored_bias = scatter(in.bias, contiguous({cols}, at.bias));
    const std::vector<T> stored_dy = scatter(in.dy, contiguous({n}, at.dy));
    const auto x = device_input(stored_x, at.x, stream_);
    const auto bias = device_input(stored_bias, at.bias, stream_);
    const auto dy = device_input(stored_dy, at.dy, stream_);
    const DeviceBuffer<T> dx(at.dx + n + kBehind);
    const DeviceBuffer<T> dbias(at.dbias + cols + kBehind);
    const DeviceBuffer<unsigned char> workspace(workspace_bytes<T>(variant, in.rows(), cols));

    Hygiene hygiene(id(variant));
    hygiene.input("x", stored_x, x, stream_);
    hygiene.input("bias", stored_bias, bias, stream_);
    hygiene.input("dy", stored_dy, dy, stream_);
    hygiene.workspace(workspace);
    LaunchRecorder recorder;
    const Variant ran =
        bias_gelu_backward::run<T>(form,
                                   {x.data() + at.x, bias.data() + at.bias, dy.data() + at.dy,
                                    dx.data() + at.dx, dbias.data() + at.dbias},
                                   workspace.data(), in.rows(), cols, variant, stream_);
    stream_.synchronize();
    EXPECT_EQ(ran, variant);
    EXPECT_EQ(recorder.launches().size(), cols == 0 ? 0u : workspace.size() > 0 ? 2u : 1u);
    if (cols > 0) {
      const std::string kernel = recorder.launches().front().kernel_name;
      EXPECT_NE(kernel.find(kernel_of(variant, cols, at)), std::string::npos) << kernel;
    }
    return {hygiene.output(dx, contiguous({n}, at.dx), stream_),
            hygiene.output(dbias, contiguous({cols}, at.dbias), stream_)};
  }

  struct Reference {
    std::vector<std::int64_t> shape;
    BiasGeluGradients value, tolerance, library_tolerance;

    Expectation dx() const { return {kDtype, shape, value.dx, tolerance.dx}; }
    Expectation dbias() const { return {kDtype, {shape[1]}, value.dbias, tolerance.dbias}; }
  };

  static Reference reference(Form form, const Inputs<T>& in) {
    const UnaryOp op = oracle_op(form);
    const std::vector<double> dy = observe(in.dy).values;
    const std::vector<double> sums = bias_sums(observe(in.x).values, observe(in.bias).values);
    const auto gradients = bias_gelu_gradients_oracle(op, sums, dy, in.cols());
    return {{in.rows(), in.cols()},
            gradients,
            bias_gelu_backward_tolerances(op, kDtype, sums, dy, gradients),
            library_bias_gelu_backward_tolerances(op, kDtype, sums, dy, gradients)};
  }

  void compare_both(Form form, Variant variant, const std::string& fill, const Inputs<T>& in,
                    const Results<T>& result, const Reference& right) {
    EXPECT_TRUE(verdict(compare(observe(result.dx), right.dx()),
                        context(form, variant, fill + ", dx", in)));
    EXPECT_TRUE(verdict(compare(observe(result.dbias), right.dbias()),
                        context(form, variant, fill + ", dbias", in)));
  }

  // Every variant on these values, against the oracle.
  void check(Form form, const std::string& fill, const Inputs<T>& in, Offsets at = {}) {
    const Reference right = reference(form, in);
    EXPECT_TRUE(not_vacuous(right.dx(), degenerate_of(in.size()))) << fill;
    if (in.rows() > 0) {
      EXPECT_TRUE(not_vacuous(right.dbias(), degenerate_of(in.cols()))) << fill;
    }
    for (const Variant variant : kVariants)
      compare_both(form, variant, fill, in, run(form, variant, in, at), right);
  }

  static std::vector<T> normals(std::int64_t n, Tensor tensor) {
    return elements<T>(normal(kDtype, n, tensor).values);
  }
  static Inputs<T> normals(std::int64_t rows, std::int64_t cols) {
    return {normals(rows * cols, Tensor::a), normals(cols, Tensor::b),
            normals(rows * cols, Tensor::c)};
  }

  Stream stream_;
};

} // namespace kg::test
