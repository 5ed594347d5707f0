// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What the stand-in runtime remembers: handles, memory, queued work, faults. Internal to
// recording_cudart*.cpp.
#pragma once

#include "tests/unit/kernels/runtime/recording_cudart.h"

#include <algorithm>
#include <cstdlib>
#include <list>
#include <map>
#include <memory>
#include <optional>

namespace kg::recording {

struct Operation {
  std::function<void()> run;
  double duration_ns = kOperationNs;
};

} // namespace kg::recording

// The handle types are the runtime library's own to define.
struct CUstream_st {
  std::string label;
  std::vector<kg::recording::Operation> pending;
  std::optional<std::vector<kg::recording::Operation>> capture; // while capturing
  bool capture_invalid = false;
};
struct CUevent_st {
  std::string label;
  bool recorded = false;
  cudaStream_t stream = nullptr;       // where it was last recorded
  std::optional<double> reached_at_ns; // empty until the stream has reached it
};
struct CUgraph_st {
  std::string label;
  std::vector<kg::recording::Operation> nodes;
};
struct CUgraphExec_st {
  std::string label;
  std::vector<kg::recording::Operation> nodes;
};

namespace kg::recording {

// The live objects of one kind.
template <class T>
class Registry {
 public:
  explicit Registry(std::string kind) : kind_(std::move(kind)) {}

  T* create() {
    live_.push_back(std::make_unique<T>());
    live_.back()->label = kind_ + std::to_string(created_++);
    return live_.back().get();
  }
  bool has(const T* object) const { return find(object) != live_.end(); }
  bool destroy(const T* object) {
    auto found = find(object);
    if (found == live_.end()) return false;
    live_.erase(found);
    return true;
  }
  // The label, also for handles that are no longer or never were live.
  std::string label(const T* object) const {
    if (!object) return "null";
    return has(object) ? object->label : "unknown " + kind_;
  }
  const std::list<std::unique_ptr<T>>& live() const { return live_; }

 private:
  auto find(const T* object) const {
    return std::find_if(live_.begin(), live_.end(),
                        [object](const auto& candidate) { return candidate.get() == object; });
  }

  std::string kind_;
  int created_ = 0;
  std::list<std::unique_ptr<T>> live_;
};

struct Free {
  void operator()(void* pointer) const { std::free(pointer); }
};
struct Block {
  std::string label;
  std::size_t bytes;
  std::unique_ptr<unsigned char, Free> memory;
};

struct Kernel {
  std::string mangled_name;
  std::function<BoundKernel(void**)> bind;
  std::size_t dynamic_shared_limit = 48 * 1024; // until opted in
};

struct Fault {
  std::string function;
  cudaError_t error;
  int calls_until;
};

struct Model {
  Machine machine;
  std::vector<std::string> calls;
  std::vector<std::string> misuses;
  std::vector<Fault> faults;
  cudaError_t sticky = cudaSuccess;
  cudaError_t last_error = cudaSuccess;
  double clock_ns = 0;

  CUstream_st default_stream{"default", {}, {}, false};
  Registry<CUstream_st> streams{"stream"};
  Registry<CUevent_st> events{"event"};
  Registry<CUgraph_st> graphs{"graph"};
  Registry<CUgraphExec_st> executables{"executable"};
  std::list<Block> blocks;
  int blocks_created = 0;
  std::map<const void*, Kernel> kernels;

  Model();

  // The error planned for this call, if any.
  cudaError_t fault(const std::string& function);

  // Null when the handle is unknown.
  CUstream_st* stream(cudaStream_t handle);
  std::string stream_label(cudaStream_t handle) const;

  Block* block_of(const void* pointer);
  bool on_device(const void* pointer, std::size_t bytes); // a range of one block
  std::string memory_label(const void* pointer);          // "memory0+4096", "host" or "null"
  std::size_t free_bytes() const;

  // Puts an operation on a stream: queued, or recorded while the stream is being captured.
  cudaError_t enqueue(cudaStream_t handle, Operation operation);
  void run_pending(CUstream_st& stream);
  void run_all_pending();
  // For calls that may not be made during a capture: invalidates it and says so.
  cudaError_t forbid_in_capture();
  cudaError_t misuse(const std::string& what, cudaError_t error);
};

Model& model();

// The body of one API function. `made` is what it says it made, for the record.
using Body = std::function<cudaError_t(std::string& made)>;

cudaError_t call(const std::string& function, const std::string& arguments, const Body& body);
// For functions that release something: they do so even when they report an error.
cudaError_t release_call(const std::string& function, const std::string& arguments,
                         const Body& body);

} // namespace kg::recording
