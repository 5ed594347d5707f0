// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// conv2d, variant im2col: writes the windows of x to a matrix; gemm multiplies it by the weights.
//
// nchw: per image (in_channels * taps) x positions, one row per weight of a filter, so that y =
// weights * columns for each image and group. nhwc: positions x (taps * in_channels), with the
// channels of a group contiguous and its taps ordered within, so that y = columns * weights^T for
// each group. If windows have one element and there is no padding, x already is that matrix. Rows
// are aligned to 16 bytes. With a bias, y contains it when gemm accumulates: rounded once, as in
// other variants.
//
// Bytes: x once, and `taps` times as much written and read again: 19 elements per element of x for
// a 3x3 kernel, where implicit_gemm moves one. The matrix is built for as many images at a time as
// fit kMostColumns. A thread copies all taps of one channel (nchw) or of 16 bytes of channels
// (nhwc), which share the index divisions. Expected on an H200: 80 % of copy bandwidth for the
// columns, and gemm's rate for the product.
#include "ops/conv2d/variants.h"
#include "ops/gemm/gemm.h"

#include "primitives/pack.h"
#include "runtime/launch.h"
#include "runtime/preconditions.h"

#include <algorithm>

namespace kg::conv2d {

inline constexpr int kColumnThreads = 256;
inline constexpr std::int64_t kMostColumns = std::int64_t{64} << 20; // bytes; at least one image

// Contiguous vectors of x, and the destination of their taps: in nchw a row of positions per tap of
// a channel, in nhwc a row per position.
struct Columns {
  window::Line vertical, horizontal;
  unsigned packs;        // nchw: 1; nhwc: of the channels
  std::int64_t x_plane;  // elements of a channel (nchw) or an image (nhwc)
  std::int64_t channels; // per group
  std::int64_t pitch;    // between rows of the matrix
};

template <class T, int Count, bool kChannelsLast>
__global__ void __launch_bounds__(kColumnThreads)
    columns(const T* __restrict__ x, T* __restrict__ matrix, Columns c, unsigned threads) {
  const unsigned index = blockIdx.x * kColumnThreads + threadIdx.x;
  if (index >= threads) return;
  const window::Place at =
      window::place_of(index, c.packs, Count, c.horizontal.out, c.vertical.out);
  const int taps = c.vertical.kernel * c.horizontal.kernel;
  const std::int64_t place = static_cast<std::int64_t>(at.row) * c.horizontal.out + at.column;
  T* to;
  std::int64_t step; // between taps
  if constexpr (kChannelsLast) {
    const std::int64_t group = at.inner / c.channels;
    const std::int64_t places = static_cast<std::int64_t>(c.vertical.out) * c.horizontal.out;
    to = matrix +
         ((at.outer * places + place) * c.pitch + group * (taps - 1) * c.channels + at.inner);
    step = c.channels;
  } else {
    to = matrix + (at.outer * taps * c.pitch + place);
    step = c.pitch;
  }
  const T* from = x + (at.outer * c.x_plane + at.inner);
  const int top = at.row * c.vertical.stride - c.vertical.before;
  const int left = at.column * c.horizontal.stride - c.horizontal.before;
  for (int i = 0; i < c.vertical.kernel; ++i) {
    const int row = top + i * c.vertical.dilation;
    for (int j = 0; j < c.horizontal.kernel; ++j) {
      const int column = left + j * c.horizontal.dilation;
      const bool inside =
          row >= 0 && row < c.vertical.in && column >= 0 && column < c.horizontal.in;
      Pack<T, Count> values{};
      if (inside)
        values = *reinterpret_cast<const Pack<T, Count>*>(
            from + (row * c.vertical.x_step + column * c.horizontal.x_step));
      *reinterpret_cast<Pack<T, Count>*>(to) = values;
      to += step;
    }
  }
}

// Initializes y with the bias.
template <class T>
__global__ void __launch_bounds__(kColumnThreads)
    spread(const T* __restrict__ bias, T* __restrict__ y, unsigned channels, unsigned inner,
           unsigned outputs) {
  const unsigned index = blockIdx.x * kColumnThreads + threadIdx.x;
  if (index < outputs) y[index] = bias[index / inner % channels];
}

namespace {

unsigned blocks(std::int64_t threads) {
  return grid_x(div_up(threads, kColumnThreads), "conv2d: the columns", "split the batch");
}

// Whether x is already the matrix of columns.
bool is_matrix(const Geometry& g) {
  const auto one_to_one = [](const Axis& axis) {
    return axis.kernel == 1 && axis.stride == 1 && axis.pad_before == 0 && axis.pad_after == 0;
  };
  return one_to_one(g.vertical) && one_to_one(g.horizontal);
}

// The matrix of columns for some images.
template <class T>
struct Shape {
  explicit Shape(const Geometry& g) {
    const bool last = g.layout == Layout::nhwc;
    const std::int64_t length = last ? g.in_channels * g.taps() : g.out_places();
    const std::int64_t rows = last ? g.out_places() : g.in_channels * g.taps();
    pitch = is_matrix(g) ? length : div_up(length, kPackElements<T>) * kPackElements<T>;
    image = rows * pitch;
    const std::int64_t fit = kMostColumns / (image * static_cast<std::int64_t>(sizeof(T)));
    images = std::clamp<std::int64_t>(fit, 1, std::max<std::int64_t>(g.batch, 1));
  }
  std::int64_t pitch;  // elements between rows
  std::int64_t image;  // elements of an image
  std::int64_t images; // per pass
};

template <class T, int Count, bool kChannelsLast>
void launch_columns(const Geometry& g, const T* x, std::int64_t images, const Shape<T>& shape,
                    T* matrix, Stream& stream) {
  Columns c;
  c.vertical = vertical_line(g);
  c.horizontal = horizontal_line(g);
  c.packs = kChannelsLast ? static_cast<unsigned>(g.in_channels / Count) : 1;
  c.x_plane = g.height * g.width * (kChannelsLast ? g.in_channels : 1);
  c.channels = g.group_inputs();
  c.pitch = shape.pitch;
  const unsigned threads = window::count_threads("conv2d: variant im2col",
                                                 images * g.in_channels / Count * g.out_places());
  launch(columns<T, Count, kChannelsLast>,
         {.grid = blocks(threads), .block = kColumnThreads, .stream = &stream}, x, matrix, c,
         threads);
}

template <class T>
void write_columns(const Geometry& g, const T* x, std::int64_t images, const Shape<T>& shape,
                   T* matrix, Stream& stream) {
  constexpr int kCount = kPackElements<T>;
  if (g.layout == Layout::nchw)
    launch_columns<T, 1, false>(g, x, images, shape, matrix, stream);
  else if (g.group_inputs() % kCount == 0 && is_aligned(x))
    launch_columns<T, kCount, true>(g, x, images, shape, matrix, stream);
  else
    launch_columns<T, 1, true>(g, x, images, shape, matrix, stream);
}

// Computes y of some images from their columns in `matrix`.
template <class T>
void multiply(const Problem<T>& problem, const T* matrix, const Shape<T>& shape,
              std::int64_t images, T* y, Stream& stream) {
  const Geometry& g = problem.geometry;
  const bool last = g.layout == Layout::nhwc;
  const std::int64_t places = g.out_places();
  gemm::BasicProblem<T> product;
  product.k = g.depth();
  product.beta = problem.bias == nullptr ? 0 : 1;
  for (std::int64_t group = 0; group < g.groups; ++group) {
    const std::int64_t channel = group * g.group_outputs();
    const T* weights = problem.weights + channel * g.depth();
    if (last) {
      product.transpose_b = gemm::Transpose::yes;
      product.m = images * places;
      product.n = g.group_outputs();
      product.a = matrix + group * g.depth();
      product.lda = shape.pitch;
      product.b = weights;
      product.ldb = g.depth();
      product.c = y + channel;
      product.ldc = g.out_channels;
      gemm::run(product, gemm::Variant::automatic, stream);
      continue;
    }
    for (std::int64_t image = 0; image < images; ++image) {
      product.m = g.group_outputs();
      product.n = places;
      product.a = weights;
      product.lda = g.depth();
      product.b = matrix + image * shape.image + group * g.depth() * shape.pitch;
      product.ldb = shape.pitch;
      product.c = y + (image * g.out_channels + channel) * places;
      product.ldc = places;
      gemm::run(product, gemm::Variant::automatic, stream);
    }
  }
}

} // namespace

template <class T>
std::size_t im2col_workspace_bytes(const Geometry& g) {
  if (is_matrix(g)) return 0;
  const Shape<T> shape(g);
  return static_cast<std::size_t>(shape.images * shape.image) * sizeof(T);
}

template <class T>
void run_im2col(const Problem<T>& problem, Stream& stream) {
  const Geometry& g = problem.geometry;
  if (problem.bias != nullptr) {
    const unsigned outputs = window::count_threads("conv2d: variant im2col", g.outputs());
    launch(spread<T>, {.grid = blocks(outputs), .block = kColumnThreads, .stream = &stream},
           problem.bias, problem.y, static_cast<unsigned>(g.out_channels),
           g.layout == Layout::nhwc ? 1 : static_cast<unsigned>(g.out_places()), outputs);
  }
  const Shape<T> shape(g);
  T* const workspace = static_cast<T*>(problem.workspace);
  for (std::int64_t first = 0; first < g.batch; first += shape.images) {
    const std::int64_t images = std::min(shape.images, g.batch - first);
    const T* x = problem.x + first * strides_of_x(g).outer;
    if (!is_matrix(g)) write_columns(g, x, images, shape, workspace, stream);
    multiply(problem, is_matrix(g) ? x : workspace, shape, images,
             problem.y + first * g.out_channels * g.out_places(), stream);
  }
}

template std::size_t im2col_workspace_bytes<float>(const Geometry&);
template std::size_t im2col_workspace_bytes<f16>(const Geometry&);
template std::size_t im2col_workspace_bytes<bf16>(const Geometry&);
template void run_im2col(const Problem<float>&, Stream&);
template void run_im2col(const Problem<f16>&, Stream&);
template void run_im2col(const Problem<bf16>&, Stream&);

} // namespace kg::conv2d
