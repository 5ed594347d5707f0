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
constexpr std::uint64_t kMostExtent = std::uint64_t{1} << 32;
constexpr std::uint64_t kMostStride = std::uint64_t{1} << 40;
constexpr std::uint32_t kMostBox = 256;
constexpr std::uint32_t kMostElementStride = 8;

// Elements of a box along an axis that are copied.
std::uint32_t copied(const TiledTensor& tensor, unsigned axis) {
  const std::uint32_t step = axis == 0 ? 1 : tensor.element_stride[axis];
  return (tensor.box[axis] + step - 1) / step;
}

void validate(const TiledTensor& t, Location where) {
  const auto demand = [&](bool ok, const std::string& what) {
    if (!ok) fail("tensor map: " + what, where);
  };
  demand(t.rank >= 1 && t.rank <= kMaxTensorRank,
         fmt::format("rank {}; it is 1 to {}", t.rank, kMaxTensorRank));
  demand(t.type <= TensorType::bf16,
         fmt::format("type {}; those that convert are not executed", static_cast<int>(t.type)));
  demand(t.swizzle <= Swizzle::bytes128,
         fmt::format("swizzle {}; it is 0 to 3", static_cast<int>(t.swizzle)));
  const auto base = reinterpret_cast<std::uintptr_t>(t.base);
  demand(
      base != 0 && base % kUnit == 0,
      fmt::format("the base lies {} bytes behind a multiple of {}; align it", base % kUnit, kUnit));
  for (unsigned i = 0; i < t.rank; ++i) {
    demand(t.extent[i] >= 1 && t.extent[i] <= kMostExtent,
           fmt::format("extent {} of dimension {}; it is 1 to 2^32", t.extent[i], i));
    demand(t.box[i] >= 1 && t.box[i] <= kMostBox,
           fmt::format("box {} along dimension {}; it is 1 to {}", t.box[i], i, kMostBox));
    demand(t.element_stride[i] >= 1 && t.element_stride[i] <= kMostElementStride,
           fmt::format("element stride {} of dimension {}; it is 1 to {}", t.element_stride[i], i,
                       kMostElementStride));
    demand(i == 0 || (t.stride[i - 1] % kUnit == 0 && t.stride[i - 1] < kMostStride),
           fmt::format("stride {} of dimension {}; it is a multiple of {} bytes below 2^40",
                       i == 0 ? 0 : t.stride[i - 1], i, kUnit));
  }
  const std::size_t row = t.box[0] * bytes_of(t.type);
  demand(row % kUnit == 0,
         fmt::format("a row of the box has {} bytes; it must have a multiple of {}", row, kUnit));
  demand(t.swizzle == Swizzle::none || row <= bytes_of(t.swizzle),
         fmt::format("a row of the box has {} bytes, more than the {} of the swizzle; make the box "
                     "narrower",
                     row, bytes_of(t.swizzle)));
  const bool is_float = t.type == TensorType::f16 || t.type == TensorType::f32 ||
                        t.type == TensorType::f64 || t.type == TensorType::bf16;
  demand(!t.fills_with_nan || is_float, "only floating-point types can be filled with NaN");
}

// Where each part lies in a map.
namespace word {
constexpr std::size_t magic = 0, kind = 1, base = 2, extent = 3, stride = 8, box = 12;
} // namespace word

} // namespace

std::size_t bytes_of(TensorType type) {
  constexpr std::size_t kBytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2};
  return kBytes[static_cast<std::size_t>(type)];
}

std::size_t TiledTensor::box_bytes() const {
  std::size_t elements = 1;
  for (unsigned i = 0; i < rank; ++i) elements *= copied(*this, i);
  return elements * bytes_of(type);
}

TensorMap encode(const TiledTensor& tensor, Location where) {
  validate(tensor, where);
  TensorMap map{};
  map.words[word::magic] = kMagic;
  map.words[word::kind] = std::uint64_t{static_cast<unsigned>(tensor.type)} |
                          std::uint64_t{tensor.rank} << 8 |
                          std::uint64_t{static_cast<unsigned>(tensor.swizzle)} << 16 |
                          std::uint64_t{tensor.fills_with_nan} << 24;
  map.words[word::base] = reinterpret_cast<std::uintptr_t>(tensor.base);
  for (unsigned i = 0; i < kMaxTensorRank; ++i) {
    map.words[word::extent + i] = tensor.extent[i];
    if (i > 0) map.words[word::stride + i - 1] = tensor.stride[i - 1];
    // Less 1, 8 bits each, and 3 of the element stride.
    const bool has = i < tensor.rank;
    map.words[word::box] |= std::uint64_t{has ? tensor.box[i] - 1 : 0} << (11 * i);
    map.words[word::box] |= std::uint64_t{has ? tensor.element_stride[i] - 1 : 0} << (11 * i + 8);
  }
  return map;
}

TiledTensor decode(const TensorMap& map, Location where) {
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
  validate(tensor, where);
  return tensor;
}

std::vector<BoxPiece> pieces_of_box(const TiledTensor& tensor,
                                    const std::array<std::int32_t, kMaxTensorRank>& first,
                                    std::uintptr_t shared) {
  const std::size_t size = bytes_of(tensor.type);
  const std::size_t row_bytes = tensor.box[0] * size;
  const auto extent = static_cast<std::int64_t>(tensor.extent[0]);
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
    for (std::size_t begin = 0; begin < row_bytes; begin += kUnit) {
      // Of a unit the elements before, within and behind the tensor.
      const std::int64_t element = first[0] + static_cast<std::int64_t>(begin / size);
      const auto count = static_cast<std::int64_t>(kUnit / size);
      const std::int64_t from = inside ? std::clamp<std::int64_t>(-element, 0, count) : count;
      const std::int64_t to =
          inside ? std::clamp<std::int64_t>(extent - element, from, count) : count;
      const std::uintptr_t unit = swizzled(shared + row * row_bytes + begin, tensor.swizzle);
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
    for (unsigned i = 1; i < tensor.rank && ++at[i] == copied(tensor, i); ++i) at[i] = 0;
  }
  return pieces;
}

unsigned char outside_byte(const TiledTensor& tensor) {
  return tensor.fills_with_nan ? 0xFF : 0; // all ones: a NaN of every floating-point type
}

} // namespace kg::host
