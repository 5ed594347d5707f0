// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Host part of `optimizer`: checks the tensors and writes the table once.
#include "ops/optimizer/optimizer.h"

#include "runtime/error.h"
#include "runtime/preconditions.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace kg::optimizer {
namespace {

// The address range of an array.
struct Extent {
  std::uintptr_t begin, end;
  bool written;
  std::string name;
};

template <class T>
std::vector<Extent> extents_of(Kind kind, std::span<const Parameter<T>> parameters) {
  std::vector<Extent> extents;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const Parameter<T>& p = parameters[i];
    const auto add = [&](const char* field, const auto* data, bool written) {
      const std::string name =
          "optimizer: " + std::string(field) + " of tensor " + std::to_string(i);
      require_elements(name, data, p.size);
      const auto begin = reinterpret_cast<std::uintptr_t>(data);
      extents.push_back(
          {begin, begin + static_cast<std::uintptr_t>(p.size) * sizeof(*data), written, name});
    };
    if (p.size == 0) continue;
    add("value", p.value, true);
    add("gradient", p.gradient, false);
    if constexpr (sizeof(T) < sizeof(float)) add("master", p.master, true);
    if (has_first(kind)) add("first", p.first, true);
    if (has_second(kind)) add("second", p.second, true);
  }
  return extents;
}

// Sorted by address, each array only needs comparison with the farthest end before it: of all
// arrays if it is written, else of written arrays.
void require_written_apart(std::vector<Extent> extents) {
  std::sort(extents.begin(), extents.end(),
            [](const Extent& a, const Extent& b) { return a.begin < b.begin; });
  const Extent *farthest = nullptr, *farthest_written = nullptr;
  for (const Extent& each : extents) {
    const Extent* const before = each.written ? farthest : farthest_written;
    if (before != nullptr && each.begin < before->end)
      fail(before->name + " and " + each.name + " overlap; pass memory that is apart");
    if (farthest == nullptr || each.end > farthest->end) farthest = &each;
    if (each.written && (farthest_written == nullptr || each.end > farthest_written->end))
      farthest_written = &each;
  }
}

} // namespace

template <class T>
std::size_t table_bytes(std::span<const Parameter<T>> parameters) {
  return tensor_list_bytes("optimizer", parameters);
}

template <class T>
Table<T> make_table(Kind kind, std::span<const Parameter<T>> parameters, void* memory,
                    Stream& stream) {
  tensor_list_bytes("optimizer", parameters); // throws for invalid sizes before their use
  require_written_apart(extents_of(kind, parameters));
  return {kind, write_tensor_list("optimizer", parameters, memory, stream)};
}

template std::size_t table_bytes(std::span<const Parameter<float>>);
template std::size_t table_bytes(std::span<const Parameter<f16>>);
template std::size_t table_bytes(std::span<const Parameter<bf16>>);
template Table<float> make_table(Kind, std::span<const Parameter<float>>, void*, Stream&);
template Table<f16> make_table(Kind, std::span<const Parameter<f16>>, void*, Stream&);
template Table<bf16> make_table(Kind, std::span<const Parameter<bf16>>, void*, Stream&);

} // namespace kg::optimizer
