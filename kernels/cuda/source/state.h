// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What the CUDA runtime remembers between calls, and how its functions are written: each runs its
// body through call(), which turns exceptions into error codes and notes them.
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

struct CUstream_st {
  kg::Stream stream;
  kg::host::WorkStream work; // for the checkers
};

struct CUevent_st {
  kg::Event event;
  bool timed = true;
  bool recorded = false;                           // and not in a capture
  kg::host::Moment moment{};                       // for the checkers
  std::weak_ptr<kg::host::Queue::Nodes> capture{}; // that it was recorded in
  std::vector<std::size_t> nodes{};                // of the capture, that it marks
};

namespace kg::foreign {

// A call that is refused: the code it returns and why.
struct Refusal : Error {
  Refusal(cudaError_t code, const std::string& why) : Error(why), code(code) {}
  cudaError_t code;
};

// Throws Refusal(code, why) unless `condition` holds.
inline void demand(bool condition, cudaError_t code, const std::string& why) {
  if (!condition) throw Refusal(code, why);
}

// --- Errors (errors.cpp)

cudaError_t fault();                             // of a kernel; success if none
cudaError_t note_fault(const std::string& text); // for good; returns its code
cudaError_t note_refusal(cudaError_t code, const char* what, const std::string& why);
// The program does not see this result, as of a launch by <<<>>>: a refusal that it never asks for
// ends it with code 1.
void note_unseen(cudaError_t result);
void note_launch(); // one that was not refused
// How many calls were refused since the program began, and why the last one was; cudaGetLastError
// forgets them, this does not.
std::pair<std::uint64_t, std::string> refusals();
void forget_errors();

// Runs `body` as the API function `name`. After a kernel's fault nothing runs any more.
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

// Runs what may be a grid, and what that launches; a kernel's fault is noted. Refusals go through.
cudaError_t run_grid(const std::function<void()>& grid);

// --- Memory (memory.cpp)

// The allocation, symbol or registered memory that a pointer points into; unregistered if none.
struct Range {
  std::uintptr_t begin = 0;
  std::size_t bytes = 0;
  cudaMemoryType type = cudaMemoryTypeUnregistered;
};
Range range_of(const void* pointer);
std::string words(const char* which, const void* pointer); // "the source 0x7f..."
void note_symbol(const void* symbol, std::size_t bytes);   // memory of the device from here on
void free_all_memory();
// Refuses what is not memory of the device, or runs over its end; `which` names it.
void demand_on_device(const void* pointer, std::size_t bytes, const char* which);
// Refuses what does not come from cudaMallocManaged, or runs over its end.
void demand_managed(const void* pointer, std::size_t bytes);

// --- Streams (stream.cpp)

// The stream behind a handle; null and the two special handles are the default stream. Refuses
// what is no stream.
Stream& stream_of(cudaStream_t handle);
std::vector<cudaStream_t> all_streams(); // that were created
// For the checkers: as which stream it orders work; a further one, which the program did not
// create.
const host::WorkStream& work_stream(cudaStream_t handle);
host::WorkStream hidden_stream(host::StreamKind kind);
// For the checkers: the host waits for a stream, or for all.
void note_wait(cudaStream_t stream);
void note_wait_for_all();
// Work that is a function of the host's: by what it does, the host may learn that it has run.
cudaError_t call_on_host(cudaStream_t stream, const char* name, std::function<void()> function);
// While it lives, what this thread does is work of a stream. `where`: of the call, if it is known.
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

void demand_device(int device); // Refuses what is not number 0 (device.cpp)

// Dynamic shared memory that cudaFuncSetAttribute allowed, for any kernel (device.cpp).
std::size_t allowed_dynamic_shared();
bool asks_for_dynamic_shared(); // by cudaFuncSetAttribute
void forget_attributes();

} // namespace kg::foreign
