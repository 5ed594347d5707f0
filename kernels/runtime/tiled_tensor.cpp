// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/tiled_tensor.h"

#include <fmt/format.h>

namespace kg {
namespace {

constexpr std::size_t kUnit = 16; // bytes
constexpr std::uint64_t kMostExtent = std::uint64_t{1} << 32;
constexpr std::uint64_t kMostStride = std::uint64_t{1} << 40;
constexpr std::uint32_t kMostBox = 256;
constexpr std::uint32_t kMostElementStride = 8;

// Bytes per row of the pattern; 0 without swizzling.
std::size_t row_bytes(Swizzle swizzle) {
  return swizzle == Swizzle::none ? 0 : kUnit << static_cast<unsigned>(swizzle);
}

} // namespace

std::size_t bytes_of(TensorType type) {
  constexpr std::size_t kBytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4};
  return kBytes[static_cast<std::size_t>(type)];
}

std::uint32_t TiledTensor::copied(unsigned axis) const {
  const std::uint32_t step = axis == 0 ? 1 : element_stride[axis];
  return (box[axis] + step - 1) / step;
}

std::size_t TiledTensor::box_bytes() const {
  std::size_t elements = 1;
  for (unsigned i = 0; i < rank; ++i) elements *= copied(i);
  return elements * bytes_of(type);
}

void validate(const TiledTensor& t, Location where) {
  const auto demand = [&](bool ok, const std::string& what) {
    if (!ok) fail("tensor map: " + what, where);
  };
  demand(t.rank >= 1 && t.rank <= kMaxTensorRank,
         fmt::format("rank {}; it is 1 to {}", t.rank, kMaxTensorRank));
  demand(t.type <= TensorType::bf16 || t.type == TensorType::tf32,
         fmt::format("type {}; those that flush subnormals are not executed",
                     static_cast<int>(t.type)));
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
  demand(t.swizzle == Swizzle::none || row <= row_bytes(t.swizzle),
         fmt::format("a row of the box has {} bytes, more than the {} of the swizzle; make the box "
                     "narrower",
                     row, row_bytes(t.swizzle)));
  const bool is_float = t.type == TensorType::f16 || t.type == TensorType::f32 ||
                        t.type == TensorType::f64 || t.type == TensorType::bf16 ||
                        t.type == TensorType::tf32;
  demand(!t.fills_with_nan || is_float, "only floating-point types can be filled with NaN");
}

} // namespace kg
