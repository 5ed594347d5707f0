// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/contract/call.h"

#include "tests/contract/card.h"

#include <algorithm>
#include <fmt/format.h>

namespace kg::card {

bool Calling::replaces(std::string_view scalar) const {
  return std::any_of(integers.begin(), integers.end(),
                     [&](const Integers& each) { return each.name == scalar; });
}

const Tensor& Problem::tensor(std::string_view name) const {
  for (const auto* tensors : {&inputs, &outputs, &kept})
    for (const Tensor& tensor : *tensors)
      if (tensor.name == name) return tensor;
  fail(fmt::format("the problem {} has no tensor {}", shape, name));
}

Problem Problem::without(std::string_view name) const {
  if (std::find(left_out.begin(), left_out.end(), name) != left_out.end()) return *this;
  require(tensor(name).optional, fmt::format("tensor {} of {} is not optional", name, shape));
  Problem result = *this;
  for (auto* tensors : {&result.inputs, &result.outputs})
    std::erase_if(*tensors, [&](const Tensor& tensor) { return tensor.name == name; });
  result.left_out.emplace_back(name);
  return result;
}

bool Problem::updates(std::string_view name) const {
  const auto holds = [&](const std::vector<Tensor>& tensors) {
    return std::any_of(tensors.begin(), tensors.end(),
                       [&](const Tensor& tensor) { return tensor.name == name; });
  };
  return holds(inputs) && holds(outputs);
}

std::int64_t Problem::output_size() const {
  std::int64_t size = 0;
  for (const Tensor& output : outputs) size += output.size();
  return size;
}

Place place_of(const Layout& layout, std::string_view tensor) {
  const auto found = layout.find(tensor);
  return found == layout.end() ? Place{} : found->second;
}

test::Strided strided(const Tensor& tensor, const Layout& layout) {
  const Place place = place_of(layout, tensor.name);
  const std::int64_t gap = tensor.gap + place.gap;
  test::Strided view = test::contiguous(tensor.extents, place.offset);
  if (!place.strides.empty()) {
    require(tensor.strided && place.strides.size() + 1 == view.strides.size(),
            fmt::format("{} has no {} strides of its own", tensor.name, place.strides.size()));
    std::copy(place.strides.begin(), place.strides.end(), view.strides.begin());
    return view;
  }
  if (gap == 0) return view;
  const std::int64_t cols = std::max<std::int64_t>(tensor.extents.back(), 1);
  for (std::size_t d = 0; d + 1 < view.strides.size(); ++d)
    view.strides[d] = view.strides[d] / cols * (cols + gap);
  return view;
}

void Call::bind(std::string_view tensor, void* data, std::int64_t gap, std::int64_t step) {
  problem_->tensor(tensor); // throws if there is none
  bound_[std::string(tensor)] = {data, gap, step};
  made_ = std::make_shared<std::any>();
}

void Call::bind(std::string_view tensor, void* data, const Place& place) {
  bind(tensor, data, place.gap);
  bound_.find(tensor)->second.strides = place.strides;
}

void* Call::address(std::string_view tensor) const { return bound(tensor).data; }

void* Call::workspace(std::size_t bytes) const {
  if (workspace_->bytes() != bytes) *workspace_ = DeviceBuffer<std::byte>(bytes);
  return workspace_->data();
}

void Call::check_workspace() const { workspace_->check_guards(); }

std::int64_t Call::extent(std::string_view tensor, std::size_t axis) const {
  return problem_->tensor(tensor).extents.at(axis);
}

std::int64_t Call::leading(std::string_view tensor) const {
  const Tensor& its = problem_->tensor(tensor);
  return its.extents.back() + its.gap + bound(tensor).gap;
}

std::int64_t Call::stride(std::string_view tensor, std::size_t axis) const {
  const std::vector<std::int64_t>& strides = bound(tensor).strides;
  if (!strides.empty()) return strides.at(axis);
  const std::vector<std::int64_t>& extents = problem_->tensor(tensor).extents;
  std::int64_t stride = leading(tensor);
  for (std::size_t d = axis + 1; d + 1 < extents.size(); ++d) stride *= extents[d];
  return stride;
}

float Call::scalar(std::string_view name) const {
  const auto found = problem_->scalars.find(name);
  require(found != problem_->scalars.end(),
          fmt::format("the problem {} has no scalar {}", problem_->shape, name));
  return static_cast<float>(found->second);
}

void* Call::data(std::string_view tensor, Dtype dtype) const {
  const std::vector<std::string>& absent = problem_->left_out;
  if (std::find(absent.begin(), absent.end(), tensor) != absent.end()) return nullptr;
  const Dtype its = problem_->tensor(tensor).dtype;
  require(its == dtype, fmt::format("tensor {} of the problem {} is {}, not {}", tensor,
                                    problem_->shape, name(its), name(dtype)));
  return bound(tensor).data;
}

const Call::Bound& Call::bound(std::string_view tensor) const {
  static const Bound nothing;
  const auto found = bound_.find(tensor);
  return found == bound_.end() ? nothing : found->second;
}

const Variant& Card::variant(std::string_view wanted) const {
  for (const Variant& each : variants)
    if (each.name == wanted) return each;
  fail(fmt::format("{} has no variant {}", name, wanted));
}

} // namespace kg::card
