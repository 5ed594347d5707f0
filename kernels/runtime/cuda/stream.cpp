// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/stream.h"
#include "runtime/cuda/native.h"
#include "runtime/cuda/status.h"

#include <utility>

namespace kg {
namespace {

void destroy_stream(void* handle) {
  if (!handle) return;
  cuda::check_release(cudaStreamDestroy(static_cast<cudaStream_t>(handle)), "cudaStreamDestroy");
}

void destroy_event(void* handle) {
  if (!handle) return;
  cuda::check_release(cudaEventDestroy(static_cast<cudaEvent_t>(handle)), "cudaEventDestroy");
}

} // namespace

Stream::Stream() {
  cudaStream_t stream = nullptr;
  KG_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  handle_ = stream;
}

Stream::~Stream() { destroy_stream(handle_); }

Stream::Stream(Stream&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}

Stream& Stream::operator=(Stream&& other) noexcept {
  if (this != &other) {
    destroy_stream(handle_);
    handle_ = std::exchange(other.handle_, nullptr);
  }
  return *this;
}

void Stream::synchronize() { KG_CHECK(cudaStreamSynchronize(cuda::native(*this))); }

Event::Event() {
  cudaEvent_t event = nullptr;
  KG_CHECK(cudaEventCreateWithFlags(&event, cudaEventDefault)); // default: with timing
  handle_ = event;
}

Event::~Event() { destroy_event(handle_); }

Event::Event(Event&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}

Event& Event::operator=(Event&& other) noexcept {
  if (this != &other) {
    destroy_event(handle_);
    handle_ = std::exchange(other.handle_, nullptr);
  }
  return *this;
}

void Event::record(Stream& stream) {
  KG_CHECK(cudaEventRecord(cuda::native(*this), cuda::native(stream)));
}

void Event::synchronize() { KG_CHECK(cudaEventSynchronize(cuda::native(*this))); }

double elapsed_ns(const Event& start, const Event& stop) {
  float milliseconds = 0;
  KG_CHECK(cudaEventElapsedTime(&milliseconds, cuda::native(start), cuda::native(stop)));
  return static_cast<double>(milliseconds) * 1e6;
}

} // namespace kg
