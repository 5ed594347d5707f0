// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A model as it is written down: tensors, the steps that compute them, and how each layer is
// differentiated. Nothing runs and no memory is there yet: a layer's code puts its forward steps on
// the tape and says what steps its gradient takes, backward() puts those there in reverse order,
// and then all lifetimes are known (placement.h, execution.h).
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

// A packed row-major matrix of f32, f16, bf16 or i32. Default: none.
struct Tensor {
  std::int32_t id = -1;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  Dtype dtype = Dtype::f32;

  bool exists() const { return id >= 0; }
  std::int64_t size() const { return rows * cols; }
  std::int64_t bytes() const { return size() * static_cast<std::int64_t>(size_of(dtype)); }
};

// Where the tensors of a tape lie.
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

// decode: one more token for each sequence, as often as wanted, once forward has taken the prompts.
enum class Phase { forward, backward, update, decode };
const char* name(Phase phase);

// What a step gets when it runs.
struct Run {
  Addresses at;
  Stream& stream;
  std::int64_t update = 1; // the number of the update that is being made, from 1
};

// One call of an operation.
struct Step {
  std::string op;
  std::vector<Tensor> reads = {};
  std::vector<Tensor> writes = {};
  Work work = {};
  std::function<void(const Run&)> run = {};
  std::string layer = {};       // the tape's, as is the phase
  Phase phase = Phase::forward; //
};

// Rows of a parameter that files hold under a name of their own.
struct Part {
  std::string name;
  std::int64_t rows;
};

struct Parameter {
  Tensor value;
  std::vector<Part> parts;
  std::vector<std::int64_t> inner = {}; // its dimensions behind the rows, in files
  std::int64_t channels_last = 0; // not 0: files have a row channel by channel, so many; memory has
                                  // the channels last
  bool by_inputs = false;         // files have a row per input: the transpose of what memory has
  double centre = 0;              // first values are uniform within centre +- spread
  double spread = 0;
};

class Tape {
 public:
  // What is there before the first step and after the last.
  // Of the value its extents and elements alone are looked at. One that is described again is the
  // same one.
  Tensor parameter(Parameter description);
  Tensor input(const std::string& name, std::int64_t rows, std::int64_t cols,
               Dtype dtype = Dtype::f32);
  Tensor constant(const std::string& name, std::int64_t rows, std::int64_t cols,
                  std::vector<float> values, Dtype dtype = Dtype::f32);
  Tensor constant(const std::string& name, std::int64_t rows, std::int64_t cols,
                  std::vector<std::int32_t> values);
  Tensor state(const std::string& name, std::int64_t rows, std::int64_t cols,
               Dtype dtype = Dtype::f32);
  // An f32 copy of a parameter, which is not rounded: whoever writes the parameter writes it, too.
  Tensor master(Tensor parameter);

  // What lives from the step that writes it to the last that reads it. Without bytes: none.
  Tensor temporary(const std::string& name, std::int64_t rows, std::int64_t cols,
                   Dtype dtype = Dtype::f32);
  Tensor workspace(std::size_t bytes);
  // Lives on to the end: it may be read when all has run.
  void keep(Tensor tensor);

  // Puts a step behind the others. Throws Error where it reads what no step before it has written.
  void step(Step step);
  // Called once where the model gets its memory.
  void prepare(std::function<void(const Run&)> call);
  // Addresses for questions that must be asked before there is memory (workspaces, work): no two
  // tensors meet there, and nobody reads or writes anything.
  Addresses unplaced() const;

  // Gradients by the loss. A layer's own come from `steps`, which backward() calls in reverse.
  void on_backward(std::function<void(Tape&)> steps);
  void backward();
  bool differentiable(Tensor tensor) const; // no input and no constant
  Tensor gradient(Tensor tensor) const;     // none where nothing has reached it
  void set_gradient(Tensor of, Tensor gradient);
  void begin(Phase phase) { phase_ = phase; }

  const std::vector<Step>& steps() const { return steps_; }
  const std::vector<Parameter>& parameters() const { return parameters_; }
  const std::vector<std::function<void(const Run&)>>& preparations() const { return prepare_; }
  std::vector<Lifetime> lifetimes() const;
  Tensor master_of(Tensor tensor) const; // none where it has none
  bool kept(Tensor tensor) const;        // it is there when all has run
  bool planned(Tensor tensor) const;
  const std::string& name(Tensor tensor) const;
  bool has(const std::string& name) const;
  Tensor named(const std::string& name) const; // throws Error where there is no such tensor
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
  std::vector<std::int64_t> apart_ = {0}; // offsets of `unplaced`, and where the next one is
  std::vector<Parameter> parameters_;
  std::vector<Step> steps_;
  std::vector<std::function<void(const Run&)>> prepare_;
  std::vector<Differentiation> differentiations_;
  std::string layer_;
  Phase phase_ = Phase::forward;
};

// While it lives, steps belong to a layer of this name, below that of the layer around it.
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
