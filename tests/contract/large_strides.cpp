// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/contract/large_strides.h"

#include "tests/support/large_stride_rows.h"

#include <cstring>

namespace kg::card {
namespace {

// A tensor of two rows more than 2^31 elements apart.
struct LargeStrideTensor {
  void* data;
  std::int64_t stride;
  std::function<std::vector<std::byte>()> read; // both rows
  std::function<void()> check_guards;
};

// T: a type of the elements' size. Both rows are initialised with `bytes`.
template <class T>
LargeStrideTensor large_stride_tensor(const Tensor& tensor, const std::vector<std::byte>& bytes,
                                      Stream& stream) {
  const auto rows = std::make_shared<test::LargeStrideRows<T>>(tensor.extents.back());
  std::vector<T> elements(bytes.size() / sizeof(T));
  std::memcpy(elements.data(), bytes.data(), bytes.size());
  rows->put(elements, stream);
  return {rows->data(), rows->stride(),
          [rows, &stream] {
            const std::vector<T> read = rows->get(stream);
            const auto bytes = std::as_bytes(std::span(read));
            return std::vector<std::byte>(bytes.begin(), bytes.end());
          },
          [rows] { rows->check_guards(); }};
}

LargeStrideTensor large_stride_tensor(const Tensor& tensor, const test::Observed* values,
                                      Stream& stream) {
  const std::size_t width = size_of(tensor.dtype);
  std::vector<std::byte> bytes(static_cast<std::size_t>(tensor.size()) * width, std::byte{0xFF});
  for (std::size_t i = 0; values && i < values->values.size(); ++i) {
    const std::uint64_t bits =
        values->bits.empty() ? test::encode(tensor.dtype, values->values[i]) : values->bits[i];
    std::memcpy(bytes.data() + i * width, &bits, width); // little-endian
  }
  if (width == 1) return large_stride_tensor<std::uint8_t>(tensor, bytes, stream);
  if (width == 2) return large_stride_tensor<std::uint16_t>(tensor, bytes, stream);
  return large_stride_tensor<std::uint32_t>(tensor, bytes, stream);
}

} // namespace

// All tensors with these rows are split; the others are placed as usual.
void large_strides(Judge& judge) {
  for (const std::string& shape : judge.card().large_strides(judge.dtype())) {
    const Problem problem = problem_of(judge.card(), judge.dtype(), {"normal", shape});
    const Inputs inputs = completed(problem, {});
    // Two rows of a matrix, or of a tensor of more axes whose strides follow from the row stride.
    const auto is_far = [](const Tensor& tensor) {
      return tensor.extents.size() > 2 ? tensor.size() == 2 * tensor.extents.back()
                                       : tensor.by_row && tensor.extents.size() == 2;
    };
    std::size_t bytes = 0;
    for (const auto* group : {&problem.inputs, &problem.outputs})
      for (const Tensor& tensor : *group)
        if (is_far(tensor)) bytes += (std::size_t{1} << 31) * size_of(tensor.dtype);
    ASSERT_GT(bytes, 0u) << shape << ": no tensor has two rows that could lie apart";
    if (const std::string reason = test::too_huge_reason(bytes);
        backend == Backend::cuda && !reason.empty())
      GTEST_SKIP() << reason;
    for (const Variant& variant : judge.card().variants) {
      if (!variant.tries(problem)) continue;
      std::map<std::string, LargeStrideTensor> strided;
      std::map<std::string, DeviceTensor> near;
      Call call(problem);
      const auto bind = [&](const Tensor& tensor, const test::Observed* values) {
        if (is_far(tensor)) {
          const LargeStrideTensor& rows =
              strided.emplace(tensor.name, large_stride_tensor(tensor, values, judge.stream()))
                  .first->second;
          call.bind(tensor.name, rows.data, rows.stride - tensor.extents.back());
        } else {
          const DeviceTensor& whole =
              values ? near.try_emplace(tensor.name, tensor, Layout{}, *values, judge.stream())
                           .first->second
                     : near.try_emplace(tensor.name, tensor, Layout{}, kBehind).first->second;
          call.bind(tensor.name, whole.data());
        }
      };
      for (const Tensor& input : problem.inputs) bind(input, &inputs.at(input.name));
      for (const Tensor& output : problem.outputs) bind(output, nullptr);
      variant.run(call, judge.stream());
      const Outcome right = judge.run(variant, problem, inputs);
      for (const Tensor& output : problem.outputs)
        EXPECT_EQ(is_far(output)
                      ? test::observe_bytes(output.dtype, strided.at(output.name).read()).bits
                      : near.at(output.name).read(judge.stream()).bits,
                  right.bits(output.name))
            << variant.name << ": " << output.name << " of rows beyond 2^31 elements";
      for (const auto& [name, tensor] : strided) EXPECT_NO_THROW(tensor.check_guards()) << name;
    }
  }
}

} // namespace kg::card
