// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests for gemm_test.cu that gemm's epilogues and gradients suffice for linear layers: forward and
// backward passes of two layers, with no other operation.
#pragma once

#include <cstdint>
#include <vector>

#include "ops/gemm/gemm.h"
#include "tests/contract/own_test.h"
#include "tests/ops/gemm/products.h"
#include "tests/oracle/fills.h"
#include "tests/oracle/oracle_gemm_epilogue.h"
#include "tests/support/device_types.h"
#include "tests/support/metamorphic.h"

namespace kg::card {
namespace {

using gemm::BiasGradient;
using gemm::Epilogue;
using gemm::Transpose;

// A layer, with both storage orders of its weights, and the next layer, forward and backward. Each
// call reads the results of earlier calls. Numbers are small enough for all intermediate results to
// be exact in any type.
KG_OWN_TEST(LinearLayerForwardAndBackward) {
  dispatch(judge.dtype(), [&]<class T>() {
    using Numbers = std::vector<double>;
    const HopperDevice device;
    constexpr std::int64_t kRows = 37, kIn = 24, kHidden = 40, kOut = 20;
    const auto values = [&](std::int64_t rows, std::int64_t columns, std::uint64_t number) {
      return test::integers(judge.dtype(), rows * columns, 1, test::Tensor::a,
                            test::seed() + number)
          .values;
    };
    const Numbers x = values(kRows, kIn, 0), w1 = values(kIn, kHidden, 1),
                  b1 = values(1, kHidden, 2);
    const Numbers w2 = values(kHidden, kOut, 3), dy2 = values(kRows, kOut, 4);
    const auto times = [&](const Numbers& a, const Numbers& b, std::int64_t m, std::int64_t k,
                           std::int64_t n) {
      return test::gemm_oracle(
                 {test::contiguous({m, k}), test::contiguous({k, n}), test::contiguous({m, n})}, a,
                 b, {})
          .value;
    };
    const Numbers z1 = test::bias_sums(times(x, w1, kRows, kIn, kHidden), b1);
    const Numbers y1 = test::unary_oracle(activation::Function::relu, z1);
    const Numbers dy1 = times(dy2, test::transpose_oracle(w2, kHidden, kOut), kRows, kOut, kHidden);
    const Numbers dz1 = test::unary_backward_oracle(activation::Function::relu, z1, dy1);
    const Numbers dx = times(dz1, test::transpose_oracle(w1, kIn, kHidden), kRows, kHidden, kIn);
    const Numbers dw1 = times(test::transpose_oracle(x, kRows, kIn), dz1, kIn, kRows, kHidden);
    const Numbers dw2 =
        times(test::transpose_oracle(y1, kRows, kHidden), dy2, kHidden, kRows, kOut);

    for (const gemm::Variant variant : tested_variants(judge.dtype()))
      for (const bool by_outputs : {false, true})
        for (const bool keeps_z : {false, true}) { // otherwise y1 marks where z1 was positive
          Stream stream;
          const auto upload = [&](const Numbers& v) {
            return DeviceBuffer<T>::from_host(test::elements<T>(v), stream);
          };
          const auto weights = [&](const Numbers& w, std::int64_t in, std::int64_t out) {
            return by_outputs ? test::transpose_oracle(w, in, out) : w;
          };
          const auto room = [&](std::int64_t count) {
            return DeviceBuffer<T>(static_cast<std::size_t>(count));
          };
          const auto in = upload(x), bias = upload(b1), gradient = upload(dy2);
          const auto first = upload(weights(w1, kIn, kHidden));
          const auto second = upload(weights(w2, kHidden, kOut));
          const auto y = room(kRows * kHidden), z = room(kRows * kHidden),
                     dz = room(kRows * kHidden);
          const auto db1 = room(kHidden), db2 = room(kOut), din = room(kRows * kIn);
          const auto dfirst = room(kIn * kHidden), dsecond = room(kHidden * kOut);
          const auto call = [&](gemm::BasicProblem<T> p) {
            const bool ta = p.transpose_a == Transpose::yes, tb = p.transpose_b == Transpose::yes;
            p.lda = ta ? p.m : p.k;
            p.ldb = tb ? p.k : p.n;
            p.ldc = p.ldz = p.n;
            p.math = math_of(judge.dtype(), variant);
            const DeviceBuffer<std::byte> workspace(gemm::workspace_bytes(p, variant));
            p.workspace = workspace.data();
            gemm::run(p, variant, stream);
            stream.synchronize();
          };
          const Transpose forward = by_outputs ? Transpose::yes : Transpose::no;
          const Transpose backward = by_outputs ? Transpose::no : Transpose::yes;
          call({.transpose_b = forward,
                .m = kRows,
                .n = kHidden,
                .k = kIn,
                .a = in.data(),
                .b = first.data(),
                .c = y.data(),
                .epilogue = Epilogue::bias_relu,
                .bias = bias.data(),
                .z = keeps_z ? z.data() : nullptr});
          call({.transpose_b = backward,
                .m = kRows,
                .n = kHidden,
                .k = kOut,
                .a = gradient.data(),
                .b = second.data(),
                .c = dz.data(),
                .epilogue = Epilogue::drelu,
                .z = keeps_z ? z.data() : y.data(),
                .bias_gradient = BiasGradient::of_c,
                .dbias = db1.data()});
          call({.transpose_b = backward,
                .m = kRows,
                .n = kIn,
                .k = kHidden,
                .a = dz.data(),
                .b = first.data(),
                .c = din.data()});
          // dW = X^T dZ or, stored by outputs, dZ^T X.
          const auto of_weights = [&](const DeviceBuffer<T>& from, std::int64_t inputs,
                                      const DeviceBuffer<T>& of, std::int64_t outputs,
                                      const DeviceBuffer<T>& to, BiasGradient bias_gradient,
                                      T* dbias) {
            call({.transpose_a = Transpose::yes,
                  .m = by_outputs ? outputs : inputs,
                  .n = by_outputs ? inputs : outputs,
                  .k = kRows,
                  .a = by_outputs ? of.data() : from.data(),
                  .b = by_outputs ? from.data() : of.data(),
                  .c = to.data(),
                  .bias_gradient = bias_gradient,
                  .dbias = dbias});
          };
          of_weights(in, kIn, dz, kHidden, dfirst, BiasGradient::none, nullptr);
          of_weights(y, kHidden, gradient, kOut, dsecond,
                     by_outputs ? BiasGradient::of_a : BiasGradient::of_b, db2.data());

          const auto expect = [&](const char* what, const DeviceBuffer<T>& actual,
                                  const Numbers& expected) {
            EXPECT_TRUE(test::same_bits(what, actual.to_host(stream), test::elements<T>(expected)))
                << gemm::name(variant) << (by_outputs ? " by outputs" : "")
                << (keeps_z ? "" : ", z not kept");
          };
          expect("y", y, y1);
          expect("dz", dz, dz1);
          expect("dx", din, dx);
          expect("db", db1, test::column_sums(dz1, kHidden));
          expect("db of the last layer", db2, test::column_sums(dy2, kOut));
          expect("dw", dfirst, weights(dw1, kIn, kHidden));
          expect("dw of the last layer", dsecond, weights(dw2, kHidden, kOut));
        }
  });
}

} // namespace
} // namespace kg::card
