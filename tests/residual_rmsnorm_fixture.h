// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// How residual_rmsnorm_test.cu runs and judges one sum of matrices: z exactly, y and rstd as those
// of rmsnorm are, of the right z.
#pragma once

#include <string>
#include <vector>

#include "tests/normalization_fixture.h"

#include "residual_rmsnorm/residual_rmsnorm.h"

namespace kg::test {

// Elements from row to row beyond `cols`, and before the first one.
struct Place {
  std::int64_t gap = 0;
  std::int64_t offset = 0;
};
struct Places {
  Place x, residual, z, y;
  std::int64_t gamma_offset = 0;
};

struct ResidualRmsNorm : RmsReference {
  static constexpr const char* kName = "residual_rmsnorm";
};

template <typename Case>
class ResidualForward : public NormForward<Case> {
 protected:
  using Base = NormForward<Case>;
  using T = typename Base::T;
  static constexpr Dtype kDtype = Base::kDtype;
  static constexpr std::int64_t kPack = Base::kPack;

  // gamma may be empty: null.
  struct Input {
    Size size;
    std::vector<T> x;
    std::vector<T> residual;
    std::vector<T> gamma;
    float epsilon = 1e-5f;
    bool wants_rstd = true;
  };
  struct Result {
    std::vector<T> z;
    std::vector<T> y;
    std::vector<float> rstd;
  };

  static std::vector<double> numbers(Size size, Tensor tensor) {
    return normal(kDtype, size.rows * size.cols, tensor).values;
  }
  static Input make(Size size, const std::vector<double>& x, const std::vector<double>& residual,
                    float epsilon = 1e-5f) {
    return {size, Base::stored(x), Base::stored(residual),
            Base::stored(normal(kDtype, size.cols, Tensor::b).values), epsilon};
  }
  static Input normals(Size size) {
    return make(size, numbers(size, Tensor::a), numbers(size, Tensor::c));
  }

  // z. A sum in f64 that is rounded to T is the exact sum rounded to f32 and then to T: each of the
  // formats has more than twice the digits of the next, and two to spare.
  static std::vector<double> sums(const Input& in) {
    std::vector<double> z;
    for (std::size_t i = 0; i < in.x.size(); ++i)
      z.push_back(round_to(kDtype, to_double(in.x[i]) + to_double(in.residual[i])));
    return z;
  }

  // The kernel that must run, packs of 16 bytes where all that it reads and writes is aligned.
  static bool is_kernel(const std::string& kernel, Variant variant, Size size, const Places& at) {
    const auto has = [&](const std::string& part) {
      return kernel.find("residual_rmsnorm::" + part + "<") != std::string::npos;
    };
    if (variant == Variant::naive) return has("naive");
    bool packs = at.gamma_offset % kPack == 0;
    for (const Place& place : {at.x, at.residual, at.z, at.y})
      packs = packs && place.offset % kPack == 0 &&
              ((size.cols + place.gap) % kPack == 0 || size.rows == 1);
    const std::string count = ", " + std::to_string(packs ? kPack : 1);
    if (variant == Variant::warp)
      return has("warp_per_row") && kernel.find(count + ", ") != std::string::npos;
    return has(packs && size.cols <= normalization::kBlockMaxCols ? "block_in_registers"
                                                                  : "block_rereading") &&
           kernel.ends_with(count + ">");
  }

  // Ours, with everything checked but the values.
  Result run(Variant variant, const Input& in, const Places& at = {}) {
    const auto [rows, cols] = in.size;
    const auto view_of = [&in](const Place& place) {
      Strided view = matrix(in.size.rows, in.size.cols, in.size.cols + place.gap);
      view.offset = place.offset;
      return view;
    };
    constexpr std::int64_t kBehind = 5;
    const Strided z_view = view_of(at.z);
    const Strided y_view = view_of(at.y);
    const std::vector<T> x = scatter(in.x, view_of(at.x));
    const std::vector<T> residual = scatter(in.residual, view_of(at.residual));
    std::vector<T> gamma = poisoned<T>(at.gamma_offset);
    gamma.insert(gamma.end(), in.gamma.begin(), in.gamma.end());
    Stream& stream = this->stream_;
    const auto device_x = device_input(x, view_of(at.x), stream);
    const auto device_residual = device_input(residual, view_of(at.residual), stream);
    const auto device_gamma = device_input(gamma, at.gamma_offset, stream);
    const DeviceBuffer<T> device_z(z_view.storage_size() + kBehind);
    const DeviceBuffer<T> device_y(y_view.storage_size() + kBehind);
    const DeviceBuffer<float> rstd(static_cast<std::size_t>(in.wants_rstd ? rows : 0));

    Hygiene hygiene(Base::id(variant));
    hygiene.input("x", x, device_x, stream);
    hygiene.input("residual", residual, device_residual, stream);
    hygiene.input("gamma", gamma, device_gamma, stream);
    hygiene.workspace(rstd);
    LaunchRecorder recorder;
    const Variant ran = residual_rmsnorm::run<T>(
        {kg::matrix<const T>(device_x.data() + at.x.offset, rows, cols, cols + at.x.gap),
         kg::matrix<const T>(device_residual.data() + at.residual.offset, rows, cols,
                             cols + at.residual.gap),
         kg::matrix<T>(device_z.data() + at.z.offset, rows, cols, cols + at.z.gap),
         kg::matrix<T>(device_y.data() + at.y.offset, rows, cols, cols + at.y.gap)},
        in.gamma.empty() ? nullptr : device_gamma.data() + at.gamma_offset, in.epsilon,
        in.wants_rstd ? rstd.data() : nullptr, variant, stream);
    stream.synchronize();
    EXPECT_EQ(ran, variant);
    EXPECT_EQ(recorder.launches().size(), in.x.empty() ? 0u : 1u);
    for (const LaunchRecord& launch : recorder.launches())
      EXPECT_TRUE(is_kernel(launch.kernel_name, variant, in.size, at))
          << launch.kernel_name << " ran";
    return {hygiene.output(device_z, z_view, stream), hygiene.output(device_y, y_view, stream),
            rstd.to_host(stream)};
  }

  // Every variant that supports it on this matrix, against the oracle.
  void check(const std::string& fill, const Input& in, const Places& at = {},
             Degenerate degenerate = Degenerate::no) {
    const std::vector<double> z = sums(in);
    const typename Base::Input norm{in.size,    Base::stored(z), in.gamma,     {},
                                    in.epsilon, false,           in.wants_rstd};
    const auto right = Base::reference(norm);
    const std::vector<std::int64_t> shape = {in.size.rows, in.size.cols};
    for (const Variant variant : kVariants) {
      if (!supports(variant, in.size.cols)) continue;
      const auto tolerance =
          Base::tolerances(right.oracle, normalization::chain(variant, in.size.cols));
      const Expectation expected{kDtype, shape, right.oracle.value, tolerance};
      EXPECT_TRUE(not_vacuous(expected, degenerate))
          << fill << ", " << in.size.rows << " x " << in.size.cols;
      const Result ours = run(variant, in, at);
      EXPECT_TRUE(verdict(compare(observe(ours.z), exactly(kDtype, shape, z)),
                          Base::context(variant, "z of " + fill, in.size, {.y_gap = at.z.gap})));
      EXPECT_TRUE(verdict(compare(observe(ours.y), expected),
                          Base::context(variant, fill, in.size, {.y_gap = at.y.gap})));
      Base::check_statistics({ours.y, {}, ours.rstd}, right, variant, norm);
    }
  }

  // Every variant gives exactly this.
  void check_exact(const std::string& fill, const Input& in, const std::vector<double>& z,
                   const std::vector<double>& y, Degenerate degenerate = Degenerate::no) {
    const std::vector<std::int64_t> shape = {in.size.rows, in.size.cols};
    const Expectation sum = exactly(kDtype, shape, z);
    const Expectation norm = exactly(kDtype, shape, y);
    EXPECT_TRUE(not_vacuous(norm, degenerate)) << fill << ", " << in.size.cols << " columns";
    for (const Variant variant : kVariants) {
      if (!supports(variant, in.size.cols)) continue;
      const Result ours = run(variant, in);
      EXPECT_TRUE(
          verdict(compare(observe(ours.z), sum), Base::context(variant, "z of " + fill, in.size)));
      EXPECT_TRUE(verdict(compare(observe(ours.y), norm), Base::context(variant, fill, in.size)));
    }
  }
};

} // namespace kg::test
