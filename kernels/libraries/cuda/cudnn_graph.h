// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// cuDNN's graph interface: an operation on described tensors becomes a plan, which is executed on
// any memory. Making a plan asks the heuristic and compiles; a caller keeps it.
#pragma once

#include "libraries/cuda/cudnn.h"
#include "libraries/not_supported.h"
#include "libraries/proposals.h"
#include "runtime/stream.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace kg::vendor::cudnn {

// Throws NotSupported with cuDNN's own words where it cannot do what was asked for, Error where the
// call was wrong.
void check_support(cudnnStatus_t status, const char* what, Location where = Location::here());

// Owns one descriptor of the graph interface. Attributes are set first, then it is finalised. Every
// function throws as check_support does.
class Descriptor {
 public:
  explicit Descriptor(cudnnBackendDescriptorType_t type);
  ~Descriptor();
  Descriptor(Descriptor&& other) noexcept;
  Descriptor& operator=(Descriptor&& other) noexcept;

  cudnnBackendDescriptor_t get() const { return descriptor_; }

  // `count` values of the C++ type that cuDNN's documentation gives for `type`.
  void set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, std::int64_t count,
           const void* values);
  void set(cudnnBackendAttributeName_t name, const Descriptor& value);
  void set(cudnnBackendAttributeName_t name, std::int64_t value);
  void finalize();

 private:
  cudnnBackendDescriptor_t descriptor_ = nullptr;
};

// A packed row-major matrix, as (rows, cols, 1, 1) with the columns side by side. `id` names it in
// the graph.
Descriptor matrix_tensor(std::int64_t id, Dtype dtype, std::int64_t rows, std::int64_t cols);

// A packed tensor of four axes, the last one's elements side by side.
Descriptor packed_tensor(std::int64_t id, Dtype dtype, const std::array<std::int64_t, 4>& extents);

// One f32 in the host's memory, which is read when the plan is executed.
Descriptor scalar_tensor(std::int64_t id);

// An operation with its tensors, which live as long as it does.
class Operation {
 public:
  explicit Operation(cudnnBackendDescriptorType_t type) : descriptor_(type) {}

  template <class Value>
  void set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, const Value& value) {
    descriptor_.set(name, type, 1, &value);
  }
  void set(cudnnBackendAttributeName_t name, Descriptor tensor);
  const Descriptor& finalized();

 private:
  Descriptor descriptor_;
  std::vector<Descriptor> tensors_;
};

// What stands for a tensor in one execution: device memory, of a scalar the host's.
struct Binding {
  std::int64_t id;
  const void* data; // cuDNN writes to outputs
};

// A graph of one operation, ready to run on the device and the thread on which it was made.
class Plan {
 public:
  // Asks cuDNN's heuristics A and B, and the one that falls back.
  Plan(Operation operation, Stream& stream);

  // Enqueues the graph: the first time by the first engine that cuDNN executes, from the second
  // time on by the fastest of the first few, which that call times. What is called once, as in
  // tests, then compiles one engine only. Throws NotSupported where there is none. Workspace is
  // that of libraries/cuda/scratch.h. No output may be an input.
  void execute(std::span<const Binding> bindings, Stream& stream);

 private:
  struct Engine {
    Descriptor configuration;
    std::optional<Descriptor> plan = {}; // made when it is first wanted
    std::int64_t workspace_bytes = 0;
  };

  static void make(Engine& engine, Stream& stream);

  Operation operation_;
  Descriptor graph_;
  Proposals<Engine> engines_{{}, ""};
  bool executed_ = false;
};

} // namespace kg::vendor::cudnn
