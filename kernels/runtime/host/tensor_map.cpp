// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/host/tensor_map.h"

#include "runtime/host/swizzle.h"

#include <algorithm>
#include <fmt/format.h>

namespace kg::host {
namespace {

constexpr std::uint64_t kMagic = 0x504154454452474BULL; // "KGRDETAP"
constexpr std::size_t kUnit = 16;                       // bytes

// Indices of the parts of a map.
namespace word {
constexpr std::size_t magic = 0, kind = 1, base = 2, extent = 3, stride = 8, box = 12, lower = 13,
                      upper = 14, pixels = 15; // the last three of an im2col map, else 0
} // namespace word

constexpr unsigned kCornerBits = 16;

std::uint64_t packed(const std::array<int, 3>& corner) {
  std::uint64_t all = 0;
  for (unsigned i = 0; i < corner.size(); ++i)
    all |= std::uint64_t{static_cast<std::uint16_t>(corner[i])} << (kCornerBits * i);
  return all;
}

std::array<int, 3> unpacked(std::uint64_t word) {
  std::array<int, 3> corner{};
  for (unsigned i = 0; i < corner.size(); ++i)
    corner[i] = static_cast<std::int16_t>(word >> (kCornerBits * i) & 0xFFFF);
  return corner;
}

// The tensor of a map of either kind, not validated.
TiledTensor read(const TensorMap& map, Location where) {
  if (map.words[word::magic] != kMagic)
    fail("the address is not that of a tensor map; encode one, and pass it by value as a "
         "__grid_constant__ parameter",
         where);
  TiledTensor tensor;
  tensor.type = static_cast<TensorType>(map.words[word::kind] & 0xFF);
  tensor.rank = static_cast<unsigned>(map.words[word::kind] >> 8 & 0xFF);
  tensor.swizzle = static_cast<Swizzle>(map.words[word::kind] >> 16 & 0xFF);
  tensor.fills_with_nan = (map.words[word::kind] >> 24 & 1) != 0;
  tensor.base = reinterpret_cast<void*>(map.words[word::base]);
  for (unsigned i = 0; i < kMaxTensorRank; ++i) {
    tensor.extent[i] = map.words[word::extent + i];
    if (i > 0) tensor.stride[i - 1] = map.words[word::stride + i - 1];
    tensor.box[i] = static_cast<std::uint32_t>(map.words[word::box] >> (11 * i) & 0xFF) + 1;
    tensor.element_stride[i] =
        static_cast<std::uint32_t>(map.words[word::box] >> (11 * i + 8) & 7) + 1;
  }
  return tensor;
}

// Appends the pieces of a row of a box: elements from index `first` on of dimension 0. `inside`: of
// the row along the other dimensions. `line`: where the row's element 0 lies in global memory.
void append_row(std::vector<BoxPiece>& pieces, const TiledTensor& tensor, std::int64_t first,
                bool inside, std::uintptr_t line, std::uintptr_t shared) {
  const std::size_t size = bytes_of(tensor.type);
  const auto extent = static_cast<std::int64_t>(tensor.extent[0]);
  for (std::size_t begin = 0; begin < tensor.box[0] * size; begin += kUnit) {
    // The unit's elements before, within and after the tensor.
    const std::int64_t element = first + static_cast<std::int64_t>(begin / size);
    const auto count = static_cast<std::int64_t>(kUnit / size);
    const std::int64_t from = inside ? std::clamp<std::int64_t>(-element, 0, count) : count;
    const std::int64_t to =
        inside ? std::clamp<std::int64_t>(extent - element, from, count) : count;
    const std::uintptr_t unit = swizzled(shared + begin, tensor.swizzle);
    const auto add = [&](std::int64_t a, std::int64_t b, bool in_tensor) {
      if (a == b) return;
      const std::uintptr_t global = line + static_cast<std::uint64_t>(element + a) * size;
      pieces.push_back({unit + static_cast<std::size_t>(a) * size,
                        in_tensor ? reinterpret_cast<unsigned char*>(global) : nullptr,
                        static_cast<std::size_t>(b - a) * size});
    };
    add(0, from, false);
    add(from, to, true);
    add(to, count, false);
  }
}

} // namespace

TiledTensor decode(const TensorMap& map, Location where) {
  const TiledTensor tensor = read(map, where);
  if (map.words[word::pixels] != 0)
    fail("the tensor map is one of im2col mode, and the copy is tiled; copy by im2col", where);
  validate(tensor, where);
  return tensor;
}

Im2colTensor decode_im2col(const TensorMap& map, Location where) {
  Im2colTensor tensor{read(map, where), unpacked(map.words[word::lower]),
                      unpacked(map.words[word::upper]),
                      static_cast<std::uint32_t>(map.words[word::pixels])};
  if (tensor.pixels == 0)
    fail("the tensor map is tiled, and the copy is one of im2col mode; encode an im2col map",
         where);
  validate(tensor, where);
  return tensor;
}

std::vector<BoxPiece> pieces_of_box(const TiledTensor& tensor,
                                    const std::array<std::int32_t, kMaxTensorRank>& first,
                                    std::uintptr_t shared) {
  const std::size_t row_bytes = tensor.box[0] * bytes_of(tensor.type);
  std::vector<BoxPiece> pieces;
  std::array<std::uint32_t, kMaxTensorRank> at{}; // of the row, in copied elements
  for (std::size_t rows = tensor.box_bytes() / row_bytes, row = 0; row < rows; ++row) {
    bool inside = true;
    auto line = reinterpret_cast<std::uintptr_t>(tensor.base);
    for (unsigned i = 1; i < tensor.rank; ++i) {
      const std::int64_t index = first[i] + std::int64_t{at[i]} * tensor.element_stride[i];
      inside &= index >= 0 && static_cast<std::uint64_t>(index) < tensor.extent[i];
      line += static_cast<std::uint64_t>(index) * tensor.stride[i - 1];
    }
    append_row(pieces, tensor, first[0], inside, line, shared + row * row_bytes);
    for (unsigned i = 1; i < tensor.rank && ++at[i] == tensor.copied(i); ++i) at[i] = 0;
  }
  return pieces;
}

std::vector<BoxPiece> pieces_of_column(const Im2colTensor& tensor,
                                       const std::array<std::int32_t, kMaxTensorRank>& first,
                                       const PixelOffsets& offsets, std::uintptr_t shared) {
  const TiledTensor& image = tensor.image;
  std::vector<BoxPiece> pieces;
  std::array<std::int64_t, kMaxTensorRank> at{}; // of the pixel in the bounding box
  std::copy(first.begin(), first.end(), at.begin());
  for (std::uint32_t pixel = 0; pixel < tensor.pixels; ++pixel) {
    bool inside = true;
    auto line = reinterpret_cast<std::uintptr_t>(image.base);
    for (unsigned i = 1; i < image.rank; ++i) {
      const std::int64_t index = at[i] + (i <= tensor.axes() ? offsets[i - 1] : 0);
      inside &= index >= 0 && static_cast<std::uint64_t>(index) < image.extent[i];
      line += static_cast<std::uint64_t>(index) * image.stride[i - 1];
    }
    append_row(pieces, image, first[0], inside, line, shared + pixel * image.box_bytes());
    unsigned axis = 0;
    for (; axis < tensor.axes(); ++axis) {
      at[axis + 1] += image.element_stride[axis + 1];
      if (at[axis + 1] <= tensor.last(axis)) break;
      at[axis + 1] = tensor.lower[axis]; // and on to the next line, plane or image
    }
    if (axis == tensor.axes()) ++at[image.rank - 1];
  }
  return pieces;
}

unsigned char outside_byte(const TiledTensor& tensor) {
  return tensor.fills_with_nan ? 0xFF : 0; // all ones: NaN in every floating-point type
}

} // namespace kg::host

namespace kg {

TensorMap encode(const TiledTensor& tensor, Location where) {
  namespace word = host::word;
  validate(tensor, where);
  TensorMap map{};
  map.words[word::magic] = host::kMagic;
  map.words[word::kind] = std::uint64_t{static_cast<unsigned>(tensor.type)} |
                          std::uint64_t{tensor.rank} << 8 |
                          std::uint64_t{static_cast<unsigned>(tensor.swizzle)} << 16 |
                          std::uint64_t{tensor.fills_with_nan} << 24;
  map.words[word::base] = reinterpret_cast<std::uintptr_t>(tensor.base);
  for (unsigned i = 0; i < kMaxTensorRank; ++i) {
    map.words[word::extent + i] = tensor.extent[i];
    if (i > 0) map.words[word::stride + i - 1] = tensor.stride[i - 1];
    // Stored minus 1: 8 bits for each box extent, 3 for each element stride.
    const bool has = i < tensor.rank;
    map.words[word::box] |= std::uint64_t{has ? tensor.box[i] - 1 : 0} << (11 * i);
    map.words[word::box] |= std::uint64_t{has ? tensor.element_stride[i] - 1 : 0} << (11 * i + 8);
  }
  return map;
}

TensorMap encode(const Im2colTensor& tensor, Location where) {
  namespace word = host::word;
  validate(tensor, where);
  TensorMap map = encode(tensor.image, where);
  map.words[word::lower] = host::packed(tensor.lower);
  map.words[word::upper] = host::packed(tensor.upper);
  map.words[word::pixels] = tensor.pixels;
  return map;
}

} // namespace kg
