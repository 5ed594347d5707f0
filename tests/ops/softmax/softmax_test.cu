// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What only softmax promises; what every operation does is in its card.
#include "softmax/softmax.h"

#include <limits>
#include <set>

#include "runtime/device.h"
#include "runtime/launch.h"
#include "tests/contract/own_test.h"
#include "tests/contract/samples.h"
#include "tests/oracle/fills.h"
#include "tests/support/device_types.h"
#include "tests/support/far_rows.h"
#include "tests/support/hygiene.h"
#include "tests/support/metamorphic.h"

namespace kg::card {
namespace {

Sample sample(Dtype dtype, std::int64_t rows, std::vector<double> x) {
  const std::int64_t cols = std::ssize(x) / rows;
  return {"normal",
          "rows" + std::to_string(rows) + "_cols" + std::to_string(cols),
          {{"x", values(dtype, std::move(x))}}};
}

std::vector<double> normals(Dtype dtype, std::int64_t count) {
  return test::normal(dtype, count, test::Tensor::a).values;
}

// More rows than a grid's y extent could count; without the blocks, whose emulation is slow.
KG_OWN_TEST(ManyRows) {
  const std::int64_t rows = device_properties().max_grid_yz + 4;
  const Sample many = sample(judge.dtype(), rows, normals(judge.dtype(), 3 * rows));
  judge.check(many, {}, {"naive", "warp"});
}

// Whole numbers moved by a whole number: every difference is exact, so not a bit may change.
KG_OWN_TEST(ShiftInvariance) {
  const auto beyond_shared =
      static_cast<std::int64_t>(device_properties().shared_bytes_per_block_optin / 4) + 7;
  struct Size {
    std::int64_t rows, cols;
  };
  for (const Size size : {Size{20, 500}, Size{3, 2500}, Size{1, beyond_shared}}) {
    const std::vector<double> x =
        test::integers(judge.dtype(), size.rows * size.cols, 20, test::Tensor::a).values;
    std::vector<double> moved = x;
    for (double& value : moved) value -= 100;
    judge.each_variant(sample(judge.dtype(), size.rows, x), [&](const Variant& variant) {
      EXPECT_EQ(judge.run(variant.name, sample(judge.dtype(), size.rows, moved)).bits("y"),
                judge.run(variant.name, sample(judge.dtype(), size.rows, x)).bits("y"))
          << variant.name;
    });
  }
}

// Rows are computed apart: they may change places, and what is in one reaches no other.
KG_OWN_TEST(RowsAreIndependent) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  struct Size {
    std::int64_t rows, cols;
  };
  for (const Size size : {Size{9, 300}, Size{5, 2500}}) {
    const std::vector<double> x = normals(judge.dtype(), size.rows * size.cols);
    const std::vector<std::int64_t> order = test::permutation(size.rows);
    judge.each_variant(sample(judge.dtype(), size.rows, x), [&](const Variant& variant) {
      const auto of = [&](const std::vector<double>& in) {
        return judge.run(variant.name, sample(judge.dtype(), size.rows, in)).bits("y");
      };
      const std::vector<std::uint64_t> y = of(x);
      EXPECT_EQ(of(test::permuted_rows(x, order)), test::permuted_rows(y, order))
          << variant.name << ": softmax(P x) = P softmax(x)";
      for (const double special :
           {std::numeric_limits<double>::quiet_NaN(), kInfinity, -kInfinity, 30.0}) {
        std::vector<double> changed = x;
        changed[static_cast<std::size_t>(3 * size.cols + size.cols - 1)] = special;
        const std::vector<std::uint64_t> other = of(changed);
        std::set<std::int64_t> rows;
        for (std::size_t i = 0; i < y.size(); ++i)
          if (other[i] != y[i]) rows.insert(static_cast<std::int64_t>(i) / size.cols);
        EXPECT_EQ(rows, std::set<std::int64_t>{3}) << variant.name << ", " << special;
      }
    });
  }
}

// Rows more than 2^31 elements apart.
KG_OWN_TEST(RowsFarApart) {
  dispatch(judge.dtype(), [&]<class T>() {
    const std::string reason = test::FarRows<T>::reason_to_skip(2);
    if (!reason.empty()) {
      GTEST_SKIP() << reason;
    }
    const std::int64_t pack = 16 / static_cast<std::int64_t>(sizeof(T));
    for (const std::int64_t cols : {40 * pack, 300 * pack}) {
      const std::vector<double> x = normals(judge.dtype(), 2 * cols);
      const test::FarRows<T> from = test::far_rows(test::elements<T>(x), judge.stream());
      const test::FarRows<T> to(cols);
      for (const softmax::Variant variant : softmax::kVariants) {
        if (!softmax::supports(variant, cols)) continue;
        to.put(test::poisoned<T>(2 * cols), judge.stream());
        softmax::run<T>(softmax::Kind::softmax, from.const_view(), to.view(), variant,
                        judge.stream());
        EXPECT_EQ(test::observe(to.get(judge.stream())).bits,
                  judge.run(name(variant), sample(judge.dtype(), 2, x)).bits("y"))
            << name(variant) << ": rows beyond 2^31 elements";
        EXPECT_NO_THROW(to.check_guards());
      }
    }
  });
}

// Shapes and strides that do not fit each other, which the contract's problems cannot have.
KG_OWN_TEST(RefusesStrides) {
  dispatch(judge.dtype(), [&]<class T>() {
    const DeviceBuffer<T> data(4096), other(4096);
    const auto run = [&](MatrixView<const T> x, MatrixView<T> y,
                         softmax::Variant variant = softmax::Variant::automatic) {
      softmax::run<T>(softmax::Kind::softmax, x, y, variant, judge.stream());
    };
    T* const p = data.data();
    T* const q = other.data();
    LaunchRecorder recorder;
    EXPECT_THROW(run({p, {4, 8}, {8, 1}}, {q, {4, 7}, {8, 1}}), Error);
    EXPECT_THROW(run({p, {4, 8}, {7, 1}}, {q, {4, 8}, {8, 1}}), Error);
    EXPECT_THROW(run({p, {4, 8}, {8, 1}}, {q, {4, 8}, {7, 1}}), Error);
    EXPECT_THROW(run({p, {4, 8}, {16, 2}}, {q, {4, 8}, {8, 1}}), Error);
    EXPECT_THROW(run({p, {1, 1025}, {1025, 1}}, {q, {1, 1025}, {1025, 1}}, softmax::Variant::warp),
                 Error);
    EXPECT_TRUE(recorder.launches().empty());
  });
}

} // namespace
} // namespace kg::card
