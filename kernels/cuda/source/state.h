// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The state of the CUDA runtime, and the scheme of its functions: each one runs its body through
// call(), which converts exceptions to error codes and records them.
#pragma once

#include "cuda/source/api.h"
#include "runtime/host/observer.h"
#include "runtime/host/queue.h"
#include "runtime/memory.h"
#include "runtime/stream.h"

#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace kg::foreign {
// Of streams: as devices of compute capability 8.0 and 9.0 have them.
inline constexpr int kLeastPriority = 0, kGreatestPriority = -5;
} // namespace kg::foreign

struct CUstream_st {
  kg::Stream stream;
  kg::host::WorkStream work; // for the checkers
  int priority = 0;          // of no effect here
};

struct CUevent_st {
  kg::Event event;
  bool timed = true;
  bool recorded = false;                           // outside a capture
  kg::host::Moment moment{};                       // for the checkers
  std::weak_ptr<kg::host::Queue::Nodes> capture{}; // in which the event was recorded
  std::vector<std::size_t> nodes{};                // of the capture, marked by the event
};

namespace kg::foreign {

// A refused call: the error code and the reason.
struct Refusal : Error {
  Refusal(cudaError_t code, const std::string& why) : Error(why), code(code) {}
  cudaError_t code;
};

// Throws Refusal(code, why) unless `condition` holds.
inline void demand(bool condition, cudaError_t code, const std::string& why) {
  if (!condition) throw Refusal(code, why);
}

// --- Errors (errors.cpp)

cudaError_t fault();                             // the kernel's fault, or success
cudaError_t note_fault(const std::string& text); // kept until a reset; returns its code
cudaError_t note_refusal(cudaError_t code, const char* what, const std::string& why);
// Records a result that the program does not see, such as that of a <<<>>> launch. A program that
// never asks about a refusal ends with exit code 1.
void note_unseen(cudaError_t result);
void note_launch(); // that was accepted
// The number of calls refused since the program started, and the reason of the last one.
// cudaGetLastError does not reset them.
std::pair<std::uint64_t, std::string> refusals();
void forget_errors();

// Runs `body` as the API function `name`. After a kernel fault, nothing runs.
template <class Body>
cudaError_t call(const char* name, Body&& body) {
  if (const cudaError_t broken = fault()) return broken;
  try {
    body();
    return cudaSuccess;
  } catch (const Refusal& refusal) {
    return note_refusal(refusal.code, name, refusal.what());
  } catch (const std::exception& error) {
    return note_refusal(cudaErrorUnknown, name, error.what());
  }
}

// --- Launches (launch.cpp)

// Runs `grid` and the launches that it makes, and records a kernel fault. Refusals propagate.
cudaError_t run_grid(const std::function<void()>& grid);

// --- Memory (memory.cpp)

// The allocation, symbol or registered memory that contains a pointer; unregistered if none does.
struct Range {
  std::uintptr_t begin = 0;
  std::size_t bytes = 0;
  cudaMemoryType type = cudaMemoryTypeUnregistered;
};
Range range_of(const void* pointer);
std::string words(const char* which, const void* pointer); // "the source 0x7f..."
void note_symbol(const void* symbol, std::size_t bytes);   // from now on memory of the device
void free_all_memory();
// Allocates in the order of a stream, as cudaMallocAsync does.
cudaError_t allocate_in_order(void** pointer, std::size_t bytes, cudaMemoryType type,
                              cudaStream_t stream);
// Refuses a range that is not in device memory or overruns its end; `which` names the range.
void demand_on_device(const void* pointer, std::size_t bytes, const char* which);
// Refuses a range that is not from cudaMallocManaged or overruns its end.
void demand_managed(const void* pointer, std::size_t bytes);

// --- Streams (stream.cpp)

// The stream of a handle. Null and the two special handles mean the default stream. Refuses
// anything else that is not a stream.
Stream& stream_of(cudaStream_t handle);
std::vector<cudaStream_t> all_streams(); // created by the program
// For the checkers: the stream in whose order a handle's work runs, and an additional stream that
// the program did not create.
const host::WorkStream& work_stream(cudaStream_t handle);
host::WorkStream hidden_stream(host::StreamKind kind);
// For the checkers: the host waits for one stream or for all streams.
void note_wait(cudaStream_t stream);
void note_wait_for_all();
// Runs a host function as stream work: through its effects, the host may learn that it has run.
cudaError_t call_on_host(cudaStream_t stream, const char* name, std::function<void()> function);
// During its lifetime, this thread does work of a stream. `where`: the call, if known.
class StreamWork {
 public:
  StreamWork(cudaStream_t stream, const char* function, Location where = {}) {
    if (host::observer)
      host::observer->work_begins(
          {work_stream(stream), function, host::observer->call_site(where)});
  }
  explicit StreamWork(const host::Work& work) {
    if (host::observer) host::observer->work_begins(work);
  }
  ~StreamWork() {
    if (host::observer) host::observer->work_ends();
  }
  StreamWork(const StreamWork&) = delete;
  StreamWork& operator=(const StreamWork&) = delete;
};
void destroy_streams();

void demand_device(int device); // refuses any device but number 0 (device.cpp)

// The dynamic shared memory that cudaFuncSetAttribute has allowed for any kernel (device.cpp).
std::size_t allowed_dynamic_shared();
bool asks_for_dynamic_shared(); // through cudaFuncSetAttribute
void forget_attributes();

} // namespace kg::foreign
