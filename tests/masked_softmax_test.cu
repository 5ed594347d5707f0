// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// masked_softmax against the oracle and the vendors' chain of two calls. The bounds are softmax's:
// scaling, subtraction and their one rounding are those of x - m there.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/masked_softmax_fixture.h"
#include "tests/support/far_rows.h"
#include "tests/support/metamorphic.h"
#include "tests/support/repeats.h"

namespace kg::test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TYPED_TEST_SUITE(MaskedSoftmax, FloatTypes, DtypeNames);

// The upper right corner of a triangle of 32 queries or more holds a tile of 16 x 16 zeros.
Degenerate hidden_tiles(std::int64_t queries) {
  return queries >= 32 ? Degenerate::sparse : Degenerate::no;
}

// Rows of equal numbers of which 2^j are kept give exactly 2^-j there. A causal mask cannot keep so
// many; with one query per sequence it keeps all, and the logits say which count.
TYPED_TEST(MaskedSoftmax, ExactPlateaus) {
  for (const Size size : {Size{40, 64}, Size{24, 1000}, Size{14, 4099}}) {
    const SoftmaxFill fill = softmax_plateaus(this->kDtype, size.rows, size.cols);
    TestMask mask;
    for (const double value : fill.expected) mask.keep.push_back(value == 0 ? 0 : 1);
    const auto ones = elements<TypeParam>(std::vector<double>(fill.expected.size(), 8));
    const auto plateaus = elements<TypeParam>(fill.input.values);
    const Expectation right = exactly(this->kDtype, {size.rows, size.cols}, fill.expected);
    EXPECT_TRUE(not_vacuous(right));
    const TestMask open = causal(size, 1);
    for (const Variant variant : kVariants) {
      if (!masked_softmax::supports(variant, size.cols)) continue;
      EXPECT_TRUE(verdict(compare(observe(this->run(mask, variant, ones, size)), right),
                          this->context(mask, variant, "ones", size)));
      EXPECT_TRUE(verdict(compare(observe(this->run(open, variant, plateaus, size)), right),
                          this->context(open, variant, fill.input.name, size)));
    }
  }
}

TYPED_TEST(MaskedSoftmax, RandomAgainstOracle) {
  for (const Size size : {Size{65, 96}, Size{33, 1000}, Size{9, 1536}, Size{3, 8200}}) {
    this->check("normal", random_mask(size), this->logits(size), size);
    this->check("normal", causal(size, size.rows), this->logits(size), size, {},
                hidden_tiles(size.rows));
  }
}

// Scales that are no powers of two, as those of 80 elements per head are, and logits that are far
// apart: a factor that is rounded once more, to whatever type, shows where a difference is large.
TYPED_TEST(MaskedSoftmax, Scales) {
  const auto square_root = [](float x) { return 1 / std::sqrt(x); };
  const double spread = this->kDtype == Dtype::f16 ? 2 : 20; // f16 has no digits for e^-20
  for (const float scale : {square_root(80), square_root(40), 0.3f, 1.7f}) {
    this->scale_ = scale;
    for (const Size size : {Size{33, 96}, Size{12, 1000}, Size{5, 1536}}) {
      std::vector<double> x = normal(this->kDtype, size.rows * size.cols, Tensor::a).values;
      for (double& value : x)
        value = round_to(this->kDtype, std::clamp(value * spread, -70.0, 40.0) / scale);
      this->check("far apart", random_mask(size), x, size);
      this->check("far apart", causal(size, size.rows), x, size, {}, hidden_tiles(size.rows));
    }
  }
}

// Under masks that keep something of every row: of others the vendors make NaN.
TYPED_TEST(MaskedSoftmax, RandomAgainstVendors) {
  for (const Size size : {Size{66, 96}, Size{8, 1000}, Size{4, 1536}}) {
    this->check_vendors(random_mask(size), size);
    this->check_vendors(causal(size, size.rows / 2), size);
  }
}

// Square and oblong masks, several sequences; where there are more queries than keys the first
// rows see nothing and are 0.
TYPED_TEST(MaskedSoftmax, CausalSequences) {
  for (const Size size : {Size{48, 24}, Size{66, 33}, Size{60, 130}})
    for (const std::int64_t queries : {size.rows, size.rows / 2, size.rows / 3, std::int64_t{1}})
      this->check("normal", causal(size, queries), this->logits(size), size, {},
                  hidden_tiles(queries));
}

// Rows of which nothing is kept, or a single element in each place that a thread or pack could
// lose.
TYPED_TEST(MaskedSoftmax, FullyMaskedRowsAreZero) {
  for (const std::int64_t cols : {20, 67, 1024, 2051}) {
    const Size size{16, cols};
    TestMask mask{std::vector<std::uint8_t>(static_cast<std::size_t>(size.rows * cols), 1)};
    for (const std::int64_t row : {1, 2, 3, 4, 7})
      std::fill_n(mask.keep.begin() + row * cols, cols, std::uint8_t{0});
    const auto at = [&](std::int64_t row, std::int64_t col) {
      return static_cast<std::size_t>(row * cols + col);
    };
    mask.keep[at(2, 0)] = mask.keep[at(3, cols - 1)] = mask.keep[at(4, cols / 2)] = 1;
    std::vector<double> x = this->logits(size);
    this->check("masked", mask, x, size);
    std::fill_n(x.begin() + 6 * cols, cols, -kInfinity); // counts as masked
    this->check("masked and -inf", mask, x, size);
  }
}

// Kept elements do as in softmax, masked ones are not looked at.
TYPED_TEST(MaskedSoftmax, SpecialValues) {
  const double largest = max_finite(this->kDtype);
  for (const std::int64_t cols : {24, 67, 1024, 2051}) {
    const Size size{20, cols};
    TestMask mask = random_mask(size);
    std::vector<double> x = this->logits(size);
    std::int64_t row = 0;
    for (const double special : {kNan, kInfinity, -kInfinity, largest, -largest})
      for (const std::int64_t col : {std::int64_t{0}, cols / 2, cols - 1}) {
        const auto at = static_cast<std::size_t>(row++ * cols + col);
        mask.keep[at] = 1;
        x[at] = special;
      }
    this->check("special", mask, x, size);

    const auto hidden = [&](const TestMask& under) {
      std::vector<double> values = this->logits(size);
      for (std::size_t i = 0; i < values.size(); ++i)
        if (under.keep[i] == 0) values[i] = i % 3 == 0 ? kNan : i % 3 == 1 ? kInfinity : largest;
      return values;
    };
    this->check("hidden", mask, hidden(mask), size);
    const TestMask triangle = causal(size, size.rows);
    this->check("hidden", triangle, hidden(triangle), size);
    x = hidden(triangle);
    for (const double special : {kNan, kInfinity, -kInfinity})
      x[static_cast<std::size_t>(row++ * cols)] = special;
    this->check("special", triangle, x, size);
  }
}

TYPED_TEST(MaskedSoftmax, Lengths) {
  for (const std::int64_t cols :
       {2, 3, 7, 8, 9, 16, 31, 32, 33, 65, 127, 129, 255, 256, 257, 1023, 1024, 1025, 4097}) {
    const Size size{3, cols};
    this->check("normal", random_mask(size), this->logits(size), size);
  }
}

TYPED_TEST(MaskedSoftmax, RowCounts) {
  for (const std::int64_t rows : {1, 3, 4, 5, 127, 129, 1025}) {
    const Size size{rows, 20};
    this->check("normal", random_mask(size), this->logits(size), size);
  }
}

TYPED_TEST(MaskedSoftmax, EmptyMatrices) {
  for (const Size size : {Size{0, 5}, Size{5, 0}, Size{0, 0}})
    for (const Variant variant : kVariants) {
      EXPECT_TRUE(this->run({}, variant, {}, size).empty());
      EXPECT_TRUE(this->run({{}, 1}, variant, {}, size).empty());
    }
}

// Rows that are padded, unaligned, or aligned only at their first element.
TYPED_TEST(MaskedSoftmax, LayoutsAndAlignment) {
  const std::int64_t pack = this->kPack;
  for (const std::int64_t cols : {5 * pack, 64 * pack + 3, 300 * pack}) {
    const std::int64_t fill = (pack - cols % pack) % pack; // the gap that aligns every row
    const Size size{4, cols};
    for (const Layout layout :
         {Layout{fill, fill, fill, 0, 0, 0}, Layout{fill + pack, fill, fill, 0, pack, pack},
          Layout{fill, fill, fill, 1, 1, 1}, Layout{fill, fill, fill, 0, 3, 0},
          Layout{fill + 1, fill, fill, 0, 0, 0}, Layout{fill, fill + 1, fill, 0, 0, 0},
          Layout{fill, fill, fill + 2, 0, 0, 7}, Layout{0, 1, 2, 0, 0, 0}}) {
      this->check("normal", random_mask(size), this->logits(size), size, layout);
      this->check("normal", causal(size, 2), this->logits(size), size, layout);
    }
  }
}

TYPED_TEST(MaskedSoftmax, InPlace) {
  using T = TypeParam;
  for (const Size size : {Size{9, 700}, Size{3, 2048}}) {
    const std::vector<T> x = elements<T>(this->logits(size));
    const TestMask mask = causal(size, size.rows);
    for (const Variant variant : kVariants) {
      if (!masked_softmax::supports(variant, size.cols)) continue;
      const auto device = DeviceBuffer<T>::from_host(x, this->stream_);
      masked_softmax::run<T>(kScale, kg::matrix<const T>(device.data(), size.rows, size.cols),
                             masked_softmax::causal_mask(size.rows),
                             kg::matrix<T>(device.data(), size.rows, size.cols), variant,
                             this->stream_);
      EXPECT_TRUE(
          same_bits("y = x", device.to_host(this->stream_), this->run(mask, variant, x, size)));
      EXPECT_NO_THROW(device.check_guards());
    }
  }
}

TYPED_TEST(MaskedSoftmax, SameBitsEveryTime) {
  for (const Size size : {Size{10, 777}, Size{4, 1500}}) {
    const auto x = elements<TypeParam>(this->logits(size));
    for (const TestMask& mask : {random_mask(size), causal(size, 2)})
      for (const Variant variant : kVariants) {
        static_assert(masked_softmax::deterministic(Variant::automatic));
        if (!masked_softmax::supports(variant, size.cols)) continue;
        EXPECT_TRUE(same_bits_every_time(this->id(this->form_of(mask), variant),
                                         [&] { return this->run(mask, variant, x, size); }));
      }
  }
}

// A causal mask and the same one as bytes give the same bits.
TYPED_TEST(MaskedSoftmax, CausalIsBoolean) {
  for (const Size size : {Size{20, 300}, Size{6, 1100}}) {
    const auto x = elements<TypeParam>(this->logits(size));
    const TestMask mask = causal(size, size.rows / 2);
    for (const Variant variant : kVariants) {
      if (!masked_softmax::supports(variant, size.cols)) continue;
      EXPECT_TRUE(same_bits("causal = boolean", this->run(mask, variant, x, size),
                            this->run({mask.keep, 0}, variant, x, size)));
    }
  }
}

// On a stream whose earlier work still writes x.
TYPED_TEST(MaskedSoftmax, WaitsForItsStream) {
  using T = TypeParam;
  for (const Size size : {Size{5, 200}, Size{3, 1500}}) {
    const std::vector<T> x = elements<T>(this->logits(size));
    for (const Variant variant : kVariants) {
      if (!masked_softmax::supports(variant, size.cols)) continue;
      const DeviceBuffer<T> y(x.size());
      const LateInput<T> late(x, this->stream_);
      masked_softmax::run<T>(kScale, kg::matrix<const T>(late.data(), size.rows, size.cols),
                             masked_softmax::causal_mask(size.rows),
                             kg::matrix<T>(y.data(), size.rows, size.cols), variant, this->stream_);
      EXPECT_TRUE(same_bits("behind a slow kernel", y.to_host(this->stream_),
                            this->run(causal(size, size.rows), variant, x, size)));
    }
  }
}

TYPED_TEST(MaskedSoftmax, RowsFarApart) {
  using T = TypeParam;
  if (const auto reason = FarRows<T>::reason_to_skip(3); !reason.empty()) GTEST_SKIP() << reason;
  for (const std::int64_t cols : {40 * this->kPack, 300 * this->kPack}) {
    const Size size{2, cols};
    const std::vector<T> x = elements<T>(this->logits(size));
    const FarRows<T> from = far_rows(x, this->stream_);
    const FarRows<T> to(cols);
    for (const TestMask& mask : {random_mask(size), causal(size, 2)}) {
      const FarRows<std::uint8_t> keep = far_rows(mask.keep, this->stream_);
      for (const Variant variant : kVariants) {
        if (!masked_softmax::supports(variant, cols)) continue;
        to.put(poisoned<T>(2 * cols), this->stream_);
        masked_softmax::run<T>(kScale, from.const_view(),
                               this->form_of(mask) == Form::causal
                                   ? masked_softmax::causal_mask(mask.queries)
                                   : masked_softmax::boolean_mask(keep.const_view()),
                               to.view(), variant, this->stream_);
        EXPECT_TRUE(same_bits("rows beyond 2^31 elements", to.get(this->stream_),
                              this->run(mask, variant, x, size)))
            << masked_softmax::name(variant);
        EXPECT_NO_THROW(to.check_guards());
      }
    }
  }
}

TYPED_TEST(MaskedSoftmax, AutomaticReportsWhatRan) {
  using T = TypeParam;
  const auto beyond =
      static_cast<std::int64_t>(device_properties().shared_bytes_per_block_optin / 4);
  for (const auto& [cols, right] :
       {std::pair(std::int64_t{1024}, Variant::warp), std::pair(std::int64_t{1025}, Variant::block),
        std::pair(beyond, Variant::naive)}) {
    const auto data =
        DeviceBuffer<T>::from_host(std::vector<T>(static_cast<std::size_t>(cols)), this->stream_);
    LaunchRecorder recorder;
    const Variant ran = masked_softmax::run<T>(
        kScale, kg::matrix<const T>(data.data(), 1, cols), masked_softmax::causal_mask(1),
        kg::matrix<T>(data.data(), 1, cols), Variant::automatic, this->stream_);
    EXPECT_EQ(ran, right);
    ASSERT_EQ(recorder.launches().size(), 1u);
    EXPECT_NE(recorder.launches()[0].kernel_name.find(masked_softmax::name(ran)),
              std::string::npos);
    EXPECT_EQ(masked_softmax::chain(Variant::automatic, cols), masked_softmax::chain(ran, cols));
  }
}

TYPED_TEST(MaskedSoftmax, RefusesWrongArguments) {
  using T = TypeParam;
  const DeviceBuffer<T> data(4096);
  const DeviceBuffer<std::uint8_t> bytes(64);
  T* const p = data.data();
  const MatrixView<const T> x{p, {4, 8}, {8, 1}};
  const MatrixView<T> y{p, {4, 8}, {8, 1}};
  const auto open = masked_softmax::causal_mask(4);
  const auto run = [&](float scale, MatrixView<const T> in, const masked_softmax::Mask& mask,
                       MatrixView<T> out, Variant variant = Variant::automatic) {
    masked_softmax::run<T>(scale, in, mask, out, variant, this->stream_);
  };
  const auto bool_mask = [&](std::int64_t rows, std::int64_t cols, std::int64_t leading) {
    return masked_softmax::boolean_mask({bytes.data(), {rows, cols}, {leading, 1}});
  };
  LaunchRecorder recorder;
  for (const float scale : {0.0f, -1.0f, std::numeric_limits<float>::infinity(), std::nanf("")})
    EXPECT_THROW(run(scale, x, open, y), Error);
  EXPECT_THROW(run(1, {p, {-1, 8}, {8, 1}}, open, y), Error);
  EXPECT_THROW(run(1, {p, {4, 7}, {8, 1}}, open, y), Error);
  EXPECT_THROW(run(1, {p, {4, 8}, {7, 1}}, open, y), Error);
  EXPECT_THROW(run(1, {p, {4, 8}, {16, 2}}, open, y), Error);
  EXPECT_THROW(run(1, {nullptr, {4, 8}, {8, 1}}, open, y), Error);
  EXPECT_THROW(run(1, x, open, {nullptr, {4, 8}, {8, 1}}), Error);
  EXPECT_THROW(run(1, x, masked_softmax::causal_mask(0), y), Error);
  EXPECT_THROW(run(1, x, masked_softmax::causal_mask(3), y), Error);
  EXPECT_THROW(run(1, x, bool_mask(4, 7, 8), y), Error);
  EXPECT_THROW(run(1, x, bool_mask(4, 8, 7), y), Error);
  EXPECT_THROW(run(1, x, masked_softmax::boolean_mask({nullptr, {4, 8}, {8, 1}}), y), Error);
  EXPECT_THROW(run(1, {p, {1, 1025}, {1025, 1}}, masked_softmax::causal_mask(1),
                   {p, {1, 1025}, {1025, 1}}, Variant::warp),
               Error);
  EXPECT_TRUE(recorder.launches().empty());
}

TYPED_TEST(MaskedSoftmax, WorkCountsWhatIsRead) {
  constexpr double kWidth = sizeof(TypeParam);
  const Work boolean = masked_softmax::work(this->kDtype, 10, 100, 0);
  EXPECT_EQ(boolean.bytes, 2000 * kWidth + 1000);
  EXPECT_EQ(boolean.flops, 5000);
  const Work square = masked_softmax::work(this->kDtype, 8, 4, 4); // two triangles of 10
  EXPECT_EQ(square.bytes, (20 + 32) * kWidth);
  EXPECT_EQ(square.flops, 100);
  EXPECT_EQ(masked_softmax::work(this->kDtype, 4, 2, 4).bytes, (3 + 8) * kWidth);
}

} // namespace
} // namespace kg::test
