// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "models/tape.h"

#include "models/element.h"
#include "runtime/error.h"
#include "runtime/memory.h"
#include "runtime/preconditions.h"

#include <algorithm>
#include <utility>

namespace kg::models {
namespace {

template <class T>
std::function<void(const Run&)> filling(Tensor tensor, std::vector<T> values) {
  return [tensor, values = std::move(values)](const Run& run) {
    copy_to_device(run.at.at(tensor), values.data(), values.size() * sizeof(T), run.stream);
  };
}

} // namespace

const char* name(Phase phase) {
  switch (phase) {
  case Phase::forward: return "forward";
  case Phase::backward: return "backward";
  case Phase::update: return "update";
  case Phase::decode: return "decode";
  }
  return "";
}

Tensor Tape::add(std::string name, std::int64_t rows, std::int64_t cols, Dtype dtype, Kind kind) {
  require_extent(name + ": rows", rows);
  require_extent(name + ": cols", cols);
  const Tensor tensor{static_cast<std::int32_t>(tensors_.size()), rows, cols, dtype};
  tensors_.push_back({.name = std::move(name), .tensor = tensor, .kind = kind});
  apart_.push_back(apart_.back() + div_up(tensor.bytes(), kAlignment) * kAlignment);
  return tensor;
}

Tensor Tape::parameter(Parameter description) {
  const std::int64_t rows = description.value.rows, cols = description.value.cols;
  std::int64_t in_parts = 0;
  for (const Part& part : description.parts) in_parts += part.rows;
  const std::string first = description.parts.empty() ? "?" : description.parts.front().name;
  require(in_parts == rows, first + ": its parts have " + std::to_string(in_parts) +
                                " rows and it has " + std::to_string(rows));
  for (const Parameter& known : parameters_)
    if (known.parts.front().name == first) {
      require(known.value.rows == rows && known.value.cols == cols &&
                  known.value.dtype == description.value.dtype,
              first + ": it is described twice, with other extents or elements");
      return known.value;
    }
  description.value = add(first, rows, cols, description.value.dtype, Kind::parameter);
  parameters_.push_back(std::move(description));
  return parameters_.back().value;
}

Tensor Tape::input(const std::string& name, std::int64_t rows, std::int64_t cols, Dtype dtype) {
  return add(name, rows, cols, dtype, Kind::input);
}

Tensor Tape::constant(const std::string& name, std::int64_t rows, std::int64_t cols,
                      std::vector<float> values, Dtype dtype) {
  const Tensor tensor = add(name, rows, cols, dtype, Kind::constant);
  require(std::ssize(values) == tensor.size(), name + ": as many values as elements are needed");
  prepare(filling(tensor, encoded(values, dtype)));
  return tensor;
}

Tensor Tape::constant(const std::string& name, std::int64_t rows, std::int64_t cols,
                      std::vector<std::int32_t> values) {
  const Tensor tensor = add(name, rows, cols, Dtype::i32, Kind::constant);
  require(std::ssize(values) == tensor.size(), name + ": as many values as elements are needed");
  prepare(filling(tensor, std::move(values)));
  return tensor;
}

Tensor Tape::state(const std::string& name, std::int64_t rows, std::int64_t cols, Dtype dtype) {
  return add(name, rows, cols, dtype, Kind::state);
}

Tensor Tape::master(Tensor parameter) {
  const Tensor master = state(name(parameter) + ".master", parameter.rows, parameter.cols);
  return record(parameter).master = master;
}

Tensor Tape::temporary(const std::string& name, std::int64_t rows, std::int64_t cols, Dtype dtype) {
  return add(layer_.empty() ? name : layer_ + "." + name, rows, cols, dtype, Kind::temporary);
}

Tensor Tape::workspace(std::size_t bytes) {
  if (bytes == 0) return {};
  return temporary("workspace", div_up(static_cast<std::int64_t>(bytes), std::int64_t{4}), 1);
}

void Tape::keep(Tensor tensor) { record(tensor).kept = true; }

void Tape::step(Step step) {
  const auto missing = [](const Tensor& tensor) { return !tensor.exists(); };
  std::erase_if(step.reads, missing);
  std::erase_if(step.writes, missing);
  const auto now = static_cast<std::int64_t>(steps_.size());
  for (const Tensor& tensor : step.reads) {
    Record& each = record(tensor);
    require(each.kind != Kind::temporary || each.first >= 0,
            step.op + " reads " + each.name + ", which no step before it has written");
    each.last = now;
  }
  for (const Tensor& tensor : step.writes) {
    Record& each = record(tensor);
    if (each.first < 0) each.first = now;
    each.last = now;
  }
  step.layer = layer_;
  step.phase = phase_;
  steps_.push_back(std::move(step));
}

void Tape::prepare(std::function<void(const Run&)> call) { prepare_.push_back(std::move(call)); }

Addresses Tape::unplaced() const {
  constexpr std::uintptr_t kNowhere = std::uintptr_t{1} << 40; // a multiple of every alignment
  return {reinterpret_cast<std::byte*>(kNowhere), apart_};
}

void Tape::on_backward(std::function<void(Tape&)> steps) {
  differentiations_.push_back({layer_, std::move(steps)});
}

void Tape::backward() {
  require(phase_ == Phase::forward, "Tape::backward: it has been called already");
  phase_ = Phase::backward;
  const std::string layer = layer_;
  for (std::size_t i = differentiations_.size(); i-- > 0;) {
    layer_ = differentiations_[i].layer;
    differentiations_[i].steps(*this);
  }
  layer_ = layer;
}

bool Tape::differentiable(Tensor tensor) const {
  const Kind kind = record(tensor).kind;
  return kind == Kind::parameter || kind == Kind::temporary;
}

Tensor Tape::master_of(Tensor tensor) const { return record(tensor).master; }

Tensor Tape::gradient(Tensor tensor) const { return record(tensor).gradient; }

void Tape::set_gradient(Tensor of, Tensor gradient) {
  require(of.rows == gradient.rows && of.cols == gradient.cols && of.dtype == gradient.dtype,
          name(of) + ": its gradient has another shape, or other elements");
  record(of).gradient = gradient;
}

std::vector<Lifetime> Tape::lifetimes() const {
  const auto end = std::max<std::int64_t>(std::ssize(steps_) - 1, 0);
  std::vector<Lifetime> all;
  for (const Record& each : tensors_) {
    const std::int64_t bytes = each.tensor.bytes();
    if (each.kind != Kind::temporary) {
      all.push_back({bytes, 0, end});
      continue;
    }
    require(each.first >= 0, each.name + ": no step writes it; leave it out");
    all.push_back({bytes, each.first, each.kept ? end : each.last});
  }
  return all;
}

bool Tape::kept(Tensor tensor) const {
  return record(tensor).kept || record(tensor).kind != Kind::temporary;
}

bool Tape::planned(Tensor tensor) const { return record(tensor).kind == Kind::temporary; }

const std::string& Tape::name(Tensor tensor) const { return record(tensor).name; }

bool Tape::has(const std::string& name) const {
  return std::any_of(tensors_.begin(), tensors_.end(),
                     [&](const Record& each) { return each.name == name; });
}

Tensor Tape::named(const std::string& name) const {
  for (const Record& each : tensors_)
    if (each.name == name) return each.tensor;
  fail("the model has no tensor " + name);
}

Tape::Record& Tape::record(Tensor tensor) {
  return const_cast<Record&>(std::as_const(*this).record(tensor));
}

const Tape::Record& Tape::record(Tensor tensor) const {
  require(tensor.exists() && static_cast<std::size_t>(tensor.id) < tensors_.size(),
          "a tensor that is not of this tape");
  return tensors_[static_cast<std::size_t>(tensor.id)];
}

} // namespace kg::models
