// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Bulk copies of columns of pixels, from the source and from what nvcc made of it: bytes against
// plain loops over the output pixels of a convolution, and what is said of each mutant.
#include "tests/unit/kernels/runtime/bulk/move_columns.h"

#include "runtime/im2col_tensor.h"
#include "tests/unit/kernels/runtime/bulk/box_oracle.h"
#include "tests/unit/kernels/runtime/bulk/forms.h"

namespace kg::bulk {
namespace {

using executor::error_of;
using executor::under_every_order;
using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;

constexpr int kChannels = 40;

// A convolution of images of `extent` pixels along W, H and D.
struct Case {
  int images;
  int extent[3];
  Convolution of;
  Case(int rank, int n, std::array<int, 3> image, std::array<int, 3> filter,
       std::array<int, 3> stride, std::array<int, 3> padding, std::array<int, 3> dilation)
      : images(n), of{} {
    of.rank = rank;
    for (int i = 0; i < 3; ++i) {
      extent[i] = image[i];
      of.filter[i] = filter[i];
      of.stride[i] = stride[i];
      of.padding[i] = padding[i];
      of.dilation[i] = dilation[i];
      of.output[i] =
          (image[i] + 2 * padding[i] - dilation[i] * (filter[i] - 1) - 1) / stride[i] + 1;
    }
  }
  int outputs() const { return images * of.output[2] * of.output[1] * of.output[0]; }
  int taps() const { return of.filter[0] * of.filter[1] * of.filter[2]; }
  int columns() const { return (outputs() + of.pixels - 1) / of.pixels; }
  std::size_t elements() const {
    return std::size_t{kChannels} * images * extent[0] * extent[1] * extent[2];
  }
};

std::vector<Case> cases() {
  return {
      {3, 3, {11, 1, 1}, {3, 1, 1}, {1, 1, 1}, {1, 0, 0}, {1, 1, 1}},
      {3, 2, {13, 1, 1}, {4, 1, 1}, {3, 1, 1}, {2, 0, 0}, {2, 1, 1}},
      {4, 2, {9, 7, 1}, {3, 3, 1}, {1, 1, 1}, {1, 1, 0}, {1, 1, 1}},
      {4, 3, {8, 6, 1}, {1, 1, 1}, {2, 2, 1}, {0, 0, 0}, {1, 1, 1}},
      {4, 2, {9, 8, 1}, {3, 2, 1}, {2, 3, 1}, {2, 0, 0}, {1, 3, 1}},
      {4, 1, {5, 5, 1}, {5, 5, 1}, {1, 1, 1}, {4, 4, 0}, {2, 2, 1}}, // a window beyond the image
      {5, 2, {5, 4, 3}, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}},
      {5, 2, {6, 5, 4}, {2, 3, 2}, {2, 1, 3}, {1, 2, 1}, {3, 2, 1}},
  };
}

struct Layout {
  host::Swizzle swizzle;
  unsigned channels;
};
constexpr Layout kLayouts[] = {{host::Swizzle::none, 24},
                               {host::Swizzle::bytes32, 16},
                               {host::Swizzle::bytes64, 32},
                               {host::Swizzle::bytes128, 64}};

Im2colTensor tensor_of(const Case& c, void* base, const Layout& layout) {
  Im2colTensor t;
  t.image.type = TensorType::u16;
  t.image.rank = static_cast<unsigned>(c.of.rank);
  t.image.base = base;
  t.image.swizzle = layout.swizzle;
  t.image.box = {layout.channels, 1, 1, 1, 1};
  t.image.extent[0] = kChannels;
  std::uint64_t stride = kChannels * 2;
  for (unsigned i = 0; i < t.axes(); ++i) {
    t.image.extent[i + 1] = static_cast<std::uint64_t>(c.extent[i]);
    t.image.stride[i] = stride;
    stride *= t.image.extent[i + 1];
    t.image.element_stride[i + 1] = static_cast<std::uint32_t>(c.of.stride[i]);
    t.lower[i] = -c.of.padding[i];
    t.upper[i] = c.of.padding[i] - c.of.dilation[i] * (c.of.filter[i] - 1);
  }
  t.image.extent[t.image.rank - 1] = static_cast<std::uint64_t>(c.images);
  t.image.stride[t.image.rank - 2] = stride;
  t.pixels = static_cast<std::uint32_t>(c.of.pixels);
  return t;
}

// Visits each channel of a column for each output pixel and tap of the convolution:
// visit(output pixel, tap, channel of the column, element of the images or -1 outside of them).
template <class Visit>
void for_each_value(const Case& c, unsigned channels, const Visit& visit) {
  const Convolution& v = c.of;
  int pixel = 0;
  for (int n = 0; n < c.images; ++n)
    for (int z = 0; z < v.output[2]; ++z)
      for (int p = 0; p < v.output[1]; ++p)
        for (int q = 0; q < v.output[0]; ++q, ++pixel)
          for (int t = 0; t < v.filter[2]; ++t)
            for (int r = 0; r < v.filter[1]; ++r)
              for (int s = 0; s < v.filter[0]; ++s)
                for (int k = 0; k < static_cast<int>(channels); ++k) {
                  const int d = z * v.stride[2] - v.padding[2] + t * v.dilation[2];
                  const int h = p * v.stride[1] - v.padding[1] + r * v.dilation[1];
                  const int w = q * v.stride[0] - v.padding[0] + s * v.dilation[0];
                  const int channel = v.first_channel + k;
                  const bool inside = d >= 0 && d < c.extent[2] && h >= 0 && h < c.extent[1] &&
                                      w >= 0 && w < c.extent[0] && channel < kChannels;
                  const int element =
                      (((n * c.extent[2] + d) * c.extent[1] + h) * c.extent[0] + w) * kChannels +
                      channel;
                  visit(pixel, (t * v.filter[1] + r) * v.filter[0] + s, static_cast<unsigned>(k),
                        inside ? element : -1);
                }
}

// Where element n of a column lies.
unsigned place(const Layout& layout, unsigned n) {
  const unsigned unit = n / 8, line = unit / 8;
  return line * 64 + unit_of(layout.swizzle, line, unit % 8) * 8 + n % 8;
}

class MoveColumns : public Forms {
 protected:
  struct Outcome {
    std::vector<unsigned short> out; // of a load: the columns; of a store: the images
    std::string message;
  };
  static std::vector<unsigned short> images(const Case& c) {
    std::vector<unsigned short> values(c.elements());
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<unsigned short>(i + 1);
    return values;
  }
  static Outcome load(const Case& c, const Layout& layout,
                      ColumnMutant mutant = ColumnMutant::none) {
    Stream stream;
    auto memory = DeviceBuffer<unsigned short>::from_host(images(c), stream);
    const std::size_t columns = static_cast<std::size_t>(c.columns()) * c.taps();
    DeviceBuffer<unsigned short> out(columns * kMostColumnElements);
    const Im2colTensor t = tensor_of(c, memory.data(), layout);
    Outcome outcome;
    outcome.message = error_of([&] {
      launch(
          load_columns,
          {.grid = static_cast<unsigned>(c.columns()), .block = kColumnThreads, .stream = &stream},
          encode(t), c.of, static_cast<unsigned>(t.column_bytes()), out.data(), mutant);
      stream.synchronize();
    });
    if (outcome.message.empty()) outcome.out = out.to_host(stream);
    return outcome;
  }
  static Outcome store(const Case& c, const Layout& layout,
                       ColumnMutant mutant = ColumnMutant::none) {
    Stream stream;
    auto memory = DeviceBuffer<unsigned short>::from_host(images(c), stream);
    Outcome outcome;
    outcome.message = error_of([&] {
      launch(
          store_columns,
          {.grid = static_cast<unsigned>(c.columns()), .block = kColumnThreads, .stream = &stream},
          encode(tensor_of(c, memory.data(), layout)), c.of, mutant);
      stream.synchronize();
    });
    if (outcome.message.empty()) outcome.out = memory.to_host(stream);
    return outcome;
  }
  // What the orders of threads say of a mutant of a convolution 3 x 3.
  template <class Move>
  static std::string found(const Move& move, ColumnMutant mutant) {
    std::string all;
    under_every_order([&] {
      Case c = cases()[2];
      c.of.pixels = 20;
      all += move(c, kLayouts[3], mutant).message + "\n";
    });
    return all;
  }
};
KG_IN_BOTH_FORMS(MoveColumns);

TEST_P(MoveColumns, LoadsAreTheRowsOfAConvolution) {
  under_every_order([] {
    int number = 0;
    for (Case c : cases()) {
      for (const Layout& layout : kLayouts)
        for (const int pixels : {8, 20}) {
          c.of.pixels = pixels;
          c.of.first_channel = pixels == 8 ? 0 : 16;
          std::vector<unsigned short> expected(
              static_cast<std::size_t>(c.columns()) * c.taps() * kMostColumnElements, 0xABAB);
          const auto at = [&](int pixel, int tap, unsigned k) -> unsigned short& {
            const std::size_t column =
                static_cast<std::size_t>(pixel / pixels) * c.taps() + static_cast<unsigned>(tap);
            const unsigned n = static_cast<unsigned>(pixel % pixels) * layout.channels + k;
            return expected[column * kMostColumnElements + place(layout, n)];
          };
          for (int pixel = 0; pixel < c.columns() * pixels; ++pixel) // 0 behind the last image
            for (int tap = 0; tap < c.taps(); ++tap)
              for (unsigned k = 0; k < layout.channels; ++k) at(pixel, tap, k) = 0;
          for_each_value(c, layout.channels, [&](int pixel, int tap, unsigned k, int element) {
            if (element >= 0) at(pixel, tap, k) = static_cast<unsigned short>(element + 1);
          });
          const Outcome outcome = load(c, layout);
          ASSERT_EQ(outcome.message, "");
          ASSERT_TRUE(outcome.out == expected)
              << "case " << number << ", " << layout.channels << " channels, " << pixels;
        }
      ++number;
    }
  });
}

TEST_P(MoveColumns, StoresWriteThePixelsOfTheFirstTap) {
  under_every_order([] {
    int number = 0;
    for (Case c : cases()) {
      c.of.pixels = 20;
      for (const Layout& layout : kLayouts) {
        std::vector<unsigned short> expected = images(c);
        for_each_value(c, layout.channels, [&](int pixel, int tap, unsigned k, int element) {
          if (tap != 0 || element < 0) return;
          const unsigned n = static_cast<unsigned>(pixel % c.of.pixels) * layout.channels + k;
          expected[static_cast<std::size_t>(element)] = static_cast<unsigned short>(
              100u * static_cast<unsigned>(pixel / c.of.pixels) + place(layout, n) + 1);
        });
        const Outcome outcome = store(c, layout);
        ASSERT_EQ(outcome.message, "");
        ASSERT_TRUE(outcome.out == expected) << "case " << number << ' ' << layout.channels;
      }
      ++number;
    }
  });
}

TEST_P(MoveColumns, MisuseIsRefused) {
  const auto loads = [](ColumnMutant mutant) { return found(&load, mutant); };
  EXPECT_THAT(loads(ColumnMutant::bytes_too_few),
              ContainsRegex("16 bytes more have come than the 2544 expected at .*move_columns.cu"));
  EXPECT_THAT(loads(ColumnMutant::begins_outside),
              AllOf(HasSubstr("move_columns.cu:"),
                    HasSubstr("coordinate -2 of dimension 1 is outside of the bounding box, which "
                              "reaches from -1 to 7")));
  EXPECT_THAT(loads(ColumnMutant::offset_too_large),
              HasSubstr("offset 256 of dimension 1; with rank 4 it is 0 to 255"));
}

TEST_P(MoveColumns, AMapIsOfTheCopysMode) {
  Case c = cases()[2];
  c.of.pixels = 8;
  Stream stream;
  DeviceBuffer<unsigned short> memory(c.elements());
  const auto message = error_of([&] {
    launch(store_columns, {.grid = 1, .block = kColumnThreads, .stream = &stream},
           encode(tensor_of(c, memory.data(), kLayouts[3]).image), c.of, ColumnMutant::none);
    stream.synchronize();
  });
  EXPECT_THAT(message, AllOf(HasSubstr("the tensor map is tiled, and the copy is one of im2col"),
                             HasSubstr("move_columns.cu:")));
}

#if KG_CHECKED

TEST_P(MoveColumns, FindingsNameBothSites) {
  const auto both = [](const char* first, const char* second) {
    return AllOf(HasSubstr(first), HasSubstr(second),
                 ContainsRegex("move_columns.cu:[0-9]+.*move_columns.cu:[0-9]+"));
  };
  EXPECT_THAT(found(&load, ColumnMutant::phase_not_awaited),
              both("[race]", "wait for the phase of the mbarrier at which the bulk copy"));
  EXPECT_THAT(found(&store, ColumnMutant::fence_missing),
              both("[proxy]", "put fence.proxy.async.shared::cta"));
}

#endif

} // namespace
} // namespace kg::bulk
