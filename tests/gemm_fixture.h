// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// How gemm_test.cu runs and judges one matrix product.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/backend.h"
#include "runtime/buffer.h"
#include "tests/gemm_problems.h"
#include "tests/oracle/slice_hint.h"
#include "tests/support/case.h"
#include "tests/support/hygiene.h"
#include "tests/support/ledger.h"
#include "tests/support/vendor_runs.h"
#include "vendor/gemm/gemm.h"

#include "gemm/gemm.h"

namespace kg::test::gemm_case {

// Into so many parts split_k cuts a k that is long enough.
inline constexpr std::int64_t kTestedParts = 3;

// What there is for T on this device.
template <class T>
std::vector<Variant> variants() {
  std::vector<Variant> all;
  for (const Variant variant : gemm::kVariants)
    if (gemm::supports<T>(variant, math_of<T>(variant))) all.push_back(variant);
  return all;
}

template <class T>
VariantId variant_id(std::string_view variant) {
  return {"gemm", std::string(name(dtype_of<T>)), std::string(variant)};
}

template <class T>
CaseContext context(const Setup& s, const Data& data, std::string_view variant) {
  std::string epilogue;
  if (s.epilogue != gemm::Epilogue::none) epilogue = "_" + std::string(gemm::name(s.epilogue));
  if (s.bias_gradient != gemm::BiasGradient::none)
    epilogue += "_" + std::string(gemm::name(s.bias_gradient));
  const std::string batch = s.batch.count == 1 ? "" : "b" + std::to_string(s.batch.count) + "_";
  return {CaseId("gemm." + std::string(name(dtype_of<T>)) + "." + batch + "m" +
                 std::to_string(s.m) + "_n" + std::to_string(s.n) + "_k" + std::to_string(s.k) +
                 "_" + std::string(gemm::transposition_name(s.transpose_a, s.transpose_b)) +
                 epilogue),
          std::string(variant), data.fill, s.shape(), s.c().strides};
}

// The matrices of a case on the device. C holds poison in its gaps, and everywhere where beta = 0,
// as does a z that is written, and dbias.
template <class T>
class Matrices {
 public:
  Matrices(const Setup& s, const Data& data, Stream& stream)
      : setup_(s), a_(scatter(elements<T>(data.a), s.a())), b_(scatter(elements<T>(data.b), s.b())),
        c_(s.beta == 0 ? poisoned<T>(s.c().storage_size()) : scatter(elements<T>(data.c), s.c())),
        bias_(poisoned<T>(s.offset)),
        z_(s.reads_z() ? scatter(elements<T>(data.z), s.z())
                       : poisoned<T>(s.keeps_z ? s.z().storage_size() : 0)),
        device_a_(device_input(a_, s.a(), stream)), device_b_(device_input(b_, s.b(), stream)),
        device_c_(s.beta == 0 ? DeviceBuffer<T>(c_.size()) : device_input(c_, s.c(), stream)),
        device_z_(s.reads_z() ? device_input(z_, s.z(), stream) : DeviceBuffer<T>(z_.size())),
        device_dbias_(DeviceBuffer<T>(sums_up() ? s.dbias().storage_size() : 0)) {
    for (const T value : elements<T>(data.bias)) bias_.push_back(value);
    device_bias_ = device_input(bias_, s.offset, stream);
  }

  // With the workspace that the variant and dbias need.
  gemm::BasicProblem<T> problem(Variant variant) {
    gemm::BasicProblem<T> p = plain_problem(variant);
    if (variant == Variant::split_k) p.parts = kTestedParts;
    if (variant != Variant::split_k && !sums_up()) return p;
    workspace_ = DeviceBuffer<std::byte>(gemm::workspace_bytes(p, variant));
    p.workspace = workspace_.data();
    return p;
  }

  // The same problem for a library, with the permissions that `variant` needs.
  vendor::Gemm vendor_problem(Variant variant) const {
    const gemm::BasicProblem<T> p = plain_problem(variant);
    return {dtype_of<T>,
            p.transpose_a == Transpose::yes,
            p.transpose_b == Transpose::yes,
            p.m,
            p.n,
            p.k,
            p.alpha,
            p.a,
            p.lda,
            p.b,
            p.ldb,
            p.beta,
            p.c,
            p.ldc,
            rounds_inputs<T>(variant),
            static_cast<vendor::GemmEpilogue>(p.epilogue),
            p.bias,
            p.batch,
            p.stride_a,
            p.stride_b,
            p.stride_c,
            p.z,
            p.ldz,
            static_cast<vendor::GemmBiasGradient>(p.bias_gradient),
            p.dbias};
  }

  // What `variant`, which ran, left in C, once everything that it must not touch has been checked.
  std::vector<T> result(std::string_view variant, Stream& stream) const {
    Hygiene hygiene(variant_id<T>(variant));
    hygiene.input("a", a_, device_a_, stream);
    hygiene.input("b", b_, device_b_, stream);
    if (gemm::adds_bias(setup_.epilogue)) hygiene.input("bias", bias_, device_bias_, stream);
    if (setup_.reads_z()) hygiene.input("z", z_, device_z_, stream);
    hygiene.workspace(workspace_);
    return hygiene.output(device_c_, setup_.c(), stream);
  }

  // The same of z.
  std::vector<T> z(std::string_view variant, Stream& stream) const {
    Hygiene hygiene(variant_id<T>(variant));
    hygiene.input("bias", bias_, device_bias_, stream);
    return hygiene.output(device_z_, setup_.z(), stream);
  }

  // The same of dbias.
  std::vector<T> dbias(std::string_view variant, Stream& stream) const {
    Hygiene hygiene(variant_id<T>(variant));
    hygiene.input("a", a_, device_a_, stream);
    return hygiene.output(device_dbias_, setup_.dbias(), stream);
  }

 private:
  gemm::BasicProblem<T> plain_problem(Variant variant) const {
    const Setup& s = setup_;
    return {s.transpose_a,
            s.transpose_b,
            s.m,
            s.n,
            s.k,
            s.alpha,
            device_a_.data() + s.offset,
            leading(s.a()),
            device_b_.data() + s.offset,
            leading(s.b()),
            s.beta,
            device_c_.data() + s.offset,
            leading(s.c()),
            math_of<T>(variant),
            s.epilogue,
            gemm::adds_bias(s.epilogue) ? device_bias_.data() + s.offset : nullptr,
            s.keeps_z || s.reads_z() ? device_z_.data() + s.offset : nullptr,
            leading(s.z()),
            s.batch.count,
            batch_stride(s.a()),
            batch_stride(s.b()),
            batch_stride(s.c()),
            batch_stride(s.z()),
            nullptr,
            0,
            s.bias_gradient,
            sums_up() ? device_dbias_.data() + s.offset : nullptr};
  }

  bool sums_up() const { return setup_.bias_gradient != gemm::BiasGradient::none; }

  Setup setup_;
  std::vector<T> a_, b_, c_, bias_, z_;
  DeviceBuffer<T> device_a_, device_b_, device_c_, device_z_, device_dbias_, device_bias_;
  DeviceBuffer<std::byte> workspace_;
};

// C, and z and dbias where they are written, as a run leaves them.
template <class T>
struct Outputs {
  std::vector<T> c, z, dbias;
};
template <class T>
Outputs<T> run_all(const Setup& s, const Data& data, Variant variant) {
  Stream stream;
  Matrices<T> matrices(s, data, stream);
  EXPECT_EQ(gemm::run(matrices.problem(variant), variant, stream), variant);
  Outputs<T> outputs{matrices.result(gemm::name(variant), stream), {}, {}};
  if (s.keeps_z) outputs.z = matrices.z(gemm::name(variant), stream);
  if (s.bias_gradient != gemm::BiasGradient::none)
    outputs.dbias = matrices.dbias(gemm::name(variant), stream);
  return outputs;
}

template <class T>
std::vector<T> run(const Setup& s, const Data& data, Variant variant) {
  return run_all<T>(s, data, variant).c;
}

// The library's results, by the arithmetic that `variant` may use; nothing where it has none for
// this product.
template <class T>
std::optional<Outputs<T>> library_outputs(std::string_view library, const Setup& s,
                                          const Data& data, Variant variant) {
  Stream stream;
  const Matrices<T> matrices(s, data, stream);
  if (!vendor_runs([&] {
        vendor::gemm(library, matrices.vendor_problem(variant), vendor::Math::pedantic, stream);
      })) {
    report_no_vendor("gemm", dtype_of<T>, library);
    return std::nullopt;
  }
  Outputs<T> outputs{matrices.result(library, stream), {}, {}};
  if (s.bias_gradient != gemm::BiasGradient::none) outputs.dbias = matrices.dbias(library, stream);
  return outputs;
}
template <class T>
std::optional<Observed> library_result(std::string_view library, const Setup& s, const Data& data,
                                       Variant variant) {
  const auto outputs = library_outputs<T>(library, s, data, variant);
  if (!outputs) return std::nullopt;
  return observe(outputs->c);
}

// What of k the wrong elements lack.
inline std::string hint(const Setup& s, const Data& data, const Comparison& comparison) {
  std::vector<WrongSum> wrong;
  for (const Mismatch& mismatch : comparison.first) {
    WrongSum& sum = wrong.emplace_back();
    const std::int64_t product = mismatch.index / (s.m * s.n);
    const std::int64_t row = mismatch.index / s.n % s.m;
    const std::int64_t column = mismatch.index % s.n;
    const std::int64_t row_of_a = product % s.count_a() * s.m + row;
    const std::int64_t row_of_b = product % s.count_b() * s.k;
    for (std::int64_t l = 0; l < s.k; ++l)
      sum.terms.push_back(s.alpha * data.a[static_cast<std::size_t>(row_of_a * s.k + l)] *
                          data.b[static_cast<std::size_t>((row_of_b + l) * s.n + column)]);
    sum.expected = mismatch.expected;
    sum.actual = mismatch.actual;
    sum.tolerance = mismatch.tolerance;
  }
  const std::string slice = slice_hint(wrong);
  return slice.empty() ? "" : "of k, " + slice;
}

template <class T>
void expect_exact(const Setup& s, const Data& data, Variant variant) {
  const Observed actual = observe(run<T>(s, data, variant));
  const std::vector<double> expected = rounded<T>(oracle(s, data).value);
  const Comparison comparison = compare(actual, exactly(dtype_of<T>, s.shape(), expected));
  EXPECT_TRUE(verdict(comparison, context<T>(s, data, gemm::name(variant))))
      << hint(s, data, comparison);
}

} // namespace kg::test::gemm_case

namespace kg::test {

// The type parameter names the dtype in the test's name, by which CTest selects.
template <typename T>
class Gemm : public testing::Test {
 protected:
  void SetUp() override {
    this->RecordProperty("backend", std::string(name(backend)));
    require_evidence("gemm", DtypeOf<T>::value, gemm_case::variants<T>(), kRoundedOperation);
  }
};
TYPED_TEST_SUITE(Gemm, FloatTypes, DtypeNames);

} // namespace kg::test
