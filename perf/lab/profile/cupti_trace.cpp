// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// For a GPU: CUPTI's activity records, delivered in our buffers, full ones from a thread of CUPTI.
// Kernels stay concurrent, but a trace adds to the caller's time for every launch, so wall times
// are slightly too long.
#include "perf/lab/profile/trace.h"

#include "runtime/error.h"
#include "runtime/launch.h"

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cupti.h>
#include <fmt/format.h>
#include <mutex>
#include <utility>

namespace kg::profile {
namespace {

// The record layouts of this CUPTI version.
#if CUPTI_API_VERSION >= 130000
using KernelRecord = CUpti_ActivityKernel10;
using CopyRecord = CUpti_ActivityMemcpy6;
#else
using KernelRecord = CUpti_ActivityKernel9;
using CopyRecord = CUpti_ActivityMemcpy5;
#endif
using FillRecord = CUpti_ActivityMemset4;

constexpr std::array kKinds = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
                               CUPTI_ACTIVITY_KIND_MEMSET, CUPTI_ACTIVITY_KIND_RUNTIME,
                               CUPTI_ACTIVITY_KIND_DRIVER};

void check(CUptiResult result, const char* call) {
  if (result == CUPTI_SUCCESS) return;
  const char* text = nullptr;
  cuptiGetResultString(result, &text);
  throw Error(
      fmt::format("{} failed: {}; another profiler may hold this process, or the driver may "
                  "be older than this CUPTI",
                  call, text ? text : std::to_string(result)));
}

// CUPTI's callbacks have no user pointer, and a process has one subscriber, so this is a singleton.
struct Collector {
  std::mutex mutex;
  Trace trace;
};
Collector& collector() {
  static Collector instance;
  return instance;
}

template <typename Record>
Activity timed(Activity::Kind kind, std::string name, const Record& record) {
  return {kind, std::move(name), static_cast<double>(record.start),
          static_cast<double>(record.end - record.start)};
}

std::string call_name(CUpti_CallbackDomain domain, CUpti_CallbackId id) {
  const char* name = nullptr;
  if (cuptiGetCallbackName(domain, id, &name) != CUPTI_SUCCESS || !name)
    return fmt::format("call {}", id);
  return name;
}

std::string copy_name(std::uint8_t kind) {
  switch (kind) {
  case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD: return "copy to device";
  case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH: return "copy to host";
  case CUPTI_ACTIVITY_MEMCPY_KIND_DTOD: return "copy on device";
  default: return "copy";
  }
}

void add(Trace& trace, const CUpti_Activity& record) {
  using Kind = Activity::Kind;
  switch (record.kind) {
  case CUPTI_ACTIVITY_KIND_KERNEL:
  case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: {
    const auto& kernel = reinterpret_cast<const KernelRecord&>(record);
    trace.activities.push_back(
        timed(Kind::kernel, detail::readable_kernel_name(kernel.name ? kernel.name : "(unnamed)"),
              kernel));
    break;
  }
  case CUPTI_ACTIVITY_KIND_MEMCPY: {
    const auto& copy = reinterpret_cast<const CopyRecord&>(record);
    trace.activities.push_back(timed(Kind::copy, copy_name(copy.copyKind), copy));
    break;
  }
  case CUPTI_ACTIVITY_KIND_MEMSET:
    trace.activities.push_back(
        timed(Kind::fill, "fill", reinterpret_cast<const FillRecord&>(record)));
    break;
  case CUPTI_ACTIVITY_KIND_RUNTIME:
  case CUPTI_ACTIVITY_KIND_DRIVER: {
    const auto& call = reinterpret_cast<const CUpti_ActivityAPI&>(record);
    const CUpti_CallbackDomain domain = record.kind == CUPTI_ACTIVITY_KIND_RUNTIME
                                            ? CUPTI_CB_DOMAIN_RUNTIME_API
                                            : CUPTI_CB_DOMAIN_DRIVER_API;
    trace.activities.push_back(timed(Kind::call, call_name(domain, call.cbid), call));
    break;
  }
  default: break;
  }
}

// If no memory is available, CUPTI gets no buffer and counts the dropped records.
void CUPTIAPI buffer_requested(std::uint8_t** buffer, std::size_t* size, std::size_t* records) {
  constexpr std::size_t kBytes = 1 << 20;
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(ACTIVITY_RECORD_ALIGNMENT, kBytes));
  *size = *buffer ? kBytes : 0;
  *records = 0; // as many as fit
}

void CUPTIAPI buffer_completed(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t,
                               std::size_t valid) {
  Collector& all = collector();
  const std::lock_guard lock(all.mutex);
  CUpti_Activity* record = nullptr;
  while (valid > 0 && cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
    try {
      add(all.trace, *record);
    } catch (...) { // no memory: no exception may pass through CUPTI
      ++all.trace.dropped;
    }
  }
  std::free(buffer);
}

class CuptiTracer : public Tracer {
 public:
  CuptiTracer() {
    check(cuptiActivityRegisterCallbacks(buffer_requested, buffer_completed),
          "cuptiActivityRegisterCallbacks");
    take(); // drops what a failed earlier trace left
    try {
      for (const CUpti_ActivityKind kind : kKinds)
        check(cuptiActivityEnable(kind), "cuptiActivityEnable");
    } catch (...) {
      disable();
      throw;
    }
  }
  ~CuptiTracer() override { disable(); }
  CuptiTracer(const CuptiTracer&) = delete;
  CuptiTracer& operator=(const CuptiTracer&) = delete;

  Trace finish() override {
    check(cuptiActivityFlushAll(0), "cuptiActivityFlushAll");
    disable();
    Trace trace = take();
    std::size_t dropped = 0;
    check(cuptiActivityGetNumDroppedRecords(nullptr, 0, &dropped),
          "cuptiActivityGetNumDroppedRecords");
    trace.dropped += dropped;
    return trace;
  }

 private:
  static void disable() {
    for (const CUpti_ActivityKind kind : kKinds) cuptiActivityDisable(kind);
  }
  static Trace take() {
    const std::lock_guard lock(collector().mutex);
    return std::exchange(collector().trace, {});
  }
};

} // namespace

std::unique_ptr<Tracer> start_trace() { return std::make_unique<CuptiTracer>(); }

} // namespace kg::profile
