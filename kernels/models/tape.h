// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The record of a model: its tensors, the steps that compute them, and the gradient of each layer.
// Recording runs no step and allocates no memory. A layer records its forward steps and registers
// the steps of its gradient; backward() records the latter in reverse order of the layers. Then all
// lifetimes are known (placement.h, execution.h).
#pragma once

#include "models/placement.h"
#include "runtime/dtype.h"
#include "runtime/stream.h"
#include "runtime/work.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace kg::models {

// A packed row-major matrix of f32, f16, bf16 or i32. Default: null.
struct Tensor {
  std::int32_t id = -1;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  Dtype dtype = Dtype::f32;

  bool exists() const { return id >= 0; }
  std::int64_t size() const { return rows * cols; }
  std::int64_t bytes() const { return size() * static_cast<std::int64_t>(size_of(dtype)); }
};

// The addresses of a tape's tensors.
class Addresses {
 public:
  Addresses(std::byte* base, std::span<const std::int64_t> offsets)
      : base_(base), offsets_(offsets) {}

  template <class T>
  T* as(Tensor tensor) const {
    return static_cast<T*>(at(tensor));
  }
  float* f32(Tensor tensor) const { return as<float>(tensor); }
  std::int32_t* i32(Tensor tensor) const { return as<std::int32_t>(tensor); }
  void* at(Tensor tensor) const {
    return tensor.exists() ? base_ + offsets_[static_cast<std::size_t>(tensor.id)] : nullptr;
  }

 private:
  std::byte* base_;
  std::span<const std::int64_t> offsets_;
};

// decode: one more token for each sequence; may run repeatedly after forward has read the prompts.
enum class Phase { forward, backward, update, decode };
const char* name(Phase phase);

// The arguments of a step.
struct Run {
  Addresses at;
  Stream& stream;
  std::int64_t update = 1; // the number of the current update, from 1
};

// One call of an operation.
struct Step {
  std::string op;
  std::vector<Tensor> reads = {};
  std::vector<Tensor> writes = {};
  Work work = {};
  std::function<void(const Run&)> run = {};
  std::string layer = {};       // the tape sets the layer
  Phase phase = Phase::forward; // and the phase
};

// Rows of a parameter that files store as an array of this name.
struct Part {
  std::string name;
  std::int64_t rows;
};

struct Parameter {
  Tensor value;
  std::vector<Part> parts;
  std::vector<std::int64_t> inner = {}; // the dimensions after the rows, in files
  std::int64_t channels_last = 0;       // channels per row: first in files, last in memory; 0: none
  bool by_inputs = false;               // files store the transpose, one row per input
  double centre = 0;                    // initial values are uniform within centre +- spread
  double spread = 0;
};

class Tape {
 public:
  // Tensors that live from before the first step until after the last.
  // `parameter` reads only the extents and element type of description.value. It returns the same
  // tensor if the parameter is already known.
  Tensor parameter(Parameter description);
  Tensor input(const std::string& name, std::int64_t rows, std::int64_t cols,
               Dtype dtype = Dtype::f32);
  Tensor constant(const std::string& name, std::int64_t rows, std::int64_t cols,
                  std::vector<float> values, Dtype dtype = Dtype::f32);
  Tensor constant(const std::string& name, std::int64_t rows, std::int64_t cols,
                  std::vector<std::int32_t> values);
  Tensor state(const std::string& name, std::int64_t rows, std::int64_t cols,
               Dtype dtype = Dtype::f32);
  // The f32 master copy of a parameter, not rounded. Every write to the parameter must update it.
  Tensor master(Tensor parameter);

  // Tensors that live from their first write to their last read. A workspace of 0 bytes is null.
  Tensor temporary(const std::string& name, std::int64_t rows, std::int64_t cols,
                   Dtype dtype = Dtype::f32);
  Tensor workspace(std::size_t bytes);
  // Extends the tensor's lifetime to the last step, so that it can be read after the run.
  void keep(Tensor tensor);

  // Appends a step. Throws Error if it reads a temporary that no earlier step has written.
  void step(Step step);
  // Registers a call that runs once, after the memory of the model is allocated.
  void prepare(std::function<void(const Run&)> call);
  // Placeholder addresses for queries that precede the allocation (workspace sizes, work). Tensors
  // do not overlap, and nothing may be read or written there.
  Addresses unplaced() const;

  // Gradients of the loss. `steps` record those of a layer; backward() calls them in reverse.
  void on_backward(std::function<void(Tape&)> steps);
  void backward();
  bool differentiable(Tensor tensor) const; // a parameter or a temporary
  Tensor gradient(Tensor tensor) const;     // null until a contribution reaches it
  void set_gradient(Tensor of, Tensor gradient);
  void begin(Phase phase) { phase_ = phase; }

  const std::vector<Step>& steps() const { return steps_; }
  const std::vector<Parameter>& parameters() const { return parameters_; }
  const std::vector<std::function<void(const Run&)>>& preparations() const { return prepare_; }
  std::vector<Lifetime> lifetimes() const;
  Tensor master_of(Tensor tensor) const; // null if it has none
  bool kept(Tensor tensor) const;        // whether it can be read after the run
  bool planned(Tensor tensor) const;
  const std::string& name(Tensor tensor) const;
  bool has(const std::string& name) const;
  Tensor named(const std::string& name) const; // throws Error if there is no such tensor
  std::size_t tensor_count() const { return tensors_.size(); }
  Tensor tensor(std::size_t id) const { return tensors_[id].tensor; }

 private:
  friend class Layer;
  enum class Kind { input, constant, parameter, state, temporary };
  struct Record {
    std::string name;
    Tensor tensor;
    Kind kind;
    bool kept = false;
    std::int64_t first = -1, last = -1;
    Tensor gradient = {}, master = {};
  };
  struct Differentiation {
    std::string layer;
    std::function<void(Tape&)> steps;
  };

  Tensor add(std::string name, std::int64_t rows, std::int64_t cols, Dtype dtype, Kind kind);
  Record& record(Tensor tensor);
  const Record& record(Tensor tensor) const;

  std::vector<Record> tensors_;
  std::vector<std::int64_t> apart_ = {0}; // offsets of unplaced(), then that of the next tensor
  std::vector<Parameter> parameters_;
  std::vector<Step> steps_;
  std::vector<std::function<void(const Run&)>> prepare_;
  std::vector<Differentiation> differentiations_;
  std::string layer_;
  Phase phase_ = Phase::forward;
};

// A scope: steps recorded during its lifetime belong to this layer, nested in the enclosing one.
class Layer {
 public:
  Layer(Tape& tape, const std::string& name) : tape_(tape), outer_(tape.layer_) {
    tape.layer_ = outer_.empty() ? name : outer_ + "." + name;
  }
  ~Layer() { tape_.layer_ = outer_; }
  Layer(const Layer&) = delete;
  Layer& operator=(const Layer&) = delete;

 private:
  Tape& tape_;
  const std::string outer_;
};

} // namespace kg::models
