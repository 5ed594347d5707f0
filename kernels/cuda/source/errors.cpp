// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda/source/record.h"
#include "cuda/source/state.h"
#include "runtime/event_file.h"
#include "runtime/ptx/lines.h"

#include <array>
#include <cstdio>
#include <string_view>
#include <unistd.h>

namespace kg::foreign {
namespace {

struct Words {
  cudaError_t code;
  const char* name;
  const char* text;
};

// The texts are CUDA's, so that a program prints the same as on a GPU.
constexpr std::array kWords = std::to_array<Words>({
    {cudaSuccess, "cudaSuccess", "no error"},
    {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {cudaErrorInitializationError, "cudaErrorInitializationError", "initialization error"},
    {cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration",
     "invalid configuration argument"},
    {cudaErrorInvalidPitchValue, "cudaErrorInvalidPitchValue", "invalid pitch argument"},
    {cudaErrorInvalidSymbol, "cudaErrorInvalidSymbol", "invalid device symbol"},
    {cudaErrorInvalidDevicePointer, "cudaErrorInvalidDevicePointer", "invalid device pointer"},
    {cudaErrorInvalidChannelDescriptor, "cudaErrorInvalidChannelDescriptor",
     "invalid channel descriptor"},
    {cudaErrorInvalidMemcpyDirection, "cudaErrorInvalidMemcpyDirection",
     "invalid copy direction for memcpy"},
    {cudaErrorInsufficientDriver, "cudaErrorInsufficientDriver",
     "CUDA driver version is insufficient for CUDA runtime version"},
    {cudaErrorInvalidDeviceFunction, "cudaErrorInvalidDeviceFunction", "invalid device function"},
    {cudaErrorNoDevice, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    {cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {cudaErrorNoKernelImageForDevice, "cudaErrorNoKernelImageForDevice",
     "no kernel image is available for execution on the device"},
    {cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {cudaErrorNotReady, "cudaErrorNotReady", "device not ready"},
    {cudaErrorIllegalAddress, "cudaErrorIllegalAddress",
     "an illegal memory access was encountered"},
    {cudaErrorLaunchOutOfResources, "cudaErrorLaunchOutOfResources",
     "too many resources requested for launch"},
    {cudaErrorLaunchTimeout, "cudaErrorLaunchTimeout", "the launch timed out and was terminated"},
    {cudaErrorPeerAccessAlreadyEnabled, "cudaErrorPeerAccessAlreadyEnabled",
     "peer access is already enabled"},
    {cudaErrorPeerAccessNotEnabled, "cudaErrorPeerAccessNotEnabled",
     "peer access has not been enabled"},
    {cudaErrorAssert, "cudaErrorAssert", "device-side assert triggered"},
    {cudaErrorIllegalInstruction, "cudaErrorIllegalInstruction",
     "an illegal instruction was encountered"},
    {cudaErrorMisalignedAddress, "cudaErrorMisalignedAddress", "misaligned address"},
    {cudaErrorLaunchFailure, "cudaErrorLaunchFailure", "unspecified launch failure"},
    {cudaErrorCooperativeLaunchTooLarge, "cudaErrorCooperativeLaunchTooLarge",
     "too many blocks in cooperative launch"},
    {cudaErrorNotPermitted, "cudaErrorNotPermitted", "operation not permitted"},
    {cudaErrorNotSupported, "cudaErrorNotSupported", "operation not supported"},
    {cudaErrorCudartUnloading, "cudaErrorCudartUnloading", "driver shutting down"},
    {cudaErrorProfilerDisabled, "cudaErrorProfilerDisabled",
     "profiler disabled while using external profiling tool"},
    {cudaErrorDevicesUnavailable, "cudaErrorDevicesUnavailable",
     "CUDA-capable device(s) is/are busy or unavailable"},
    {cudaErrorECCUncorrectable, "cudaErrorECCUncorrectable", "uncorrectable ECC error encountered"},
    {cudaErrorInvalidPtx, "cudaErrorInvalidPtx", "a PTX JIT compilation failed"},
    {cudaErrorIllegalState, "cudaErrorIllegalState",
     "the operation cannot be performed in the present state"},
    {cudaErrorSymbolNotFound, "cudaErrorSymbolNotFound", "named symbol not found"},
    {cudaErrorHostMemoryAlreadyRegistered, "cudaErrorHostMemoryAlreadyRegistered",
     "part or all of the requested memory range is already mapped"},
    {cudaErrorHostMemoryNotRegistered, "cudaErrorHostMemoryNotRegistered",
     "pointer does not correspond to a registered memory region"},
    {cudaErrorStreamCaptureUnsupported, "cudaErrorStreamCaptureUnsupported",
     "operation not permitted when stream is capturing"},
    {cudaErrorStreamCaptureInvalidated, "cudaErrorStreamCaptureInvalidated",
     "operation failed due to a previous error during capture"},
    {cudaErrorStreamCaptureUnmatched, "cudaErrorStreamCaptureUnmatched",
     "capture was not ended in the same stream as it began"},
    {cudaErrorGraphExecUpdateFailure, "cudaErrorGraphExecUpdateFailure",
     "the graph update was not performed because it included changes which violated constraints "
     "specific to instantiated graph update"},
    {cudaErrorUnknown, "cudaErrorUnknown", "unknown error"},
    // Codes that only the driver API returns (cuda/binary/driver).
    {static_cast<cudaError>(200), "cudaErrorInvalidKernelImage", "device kernel image is invalid"},
    {static_cast<cudaError>(201), "cudaErrorDeviceUninitialized", "invalid device context"},
    {static_cast<cudaError>(217), "cudaErrorPeerAccessUnsupported",
     "peer access is not supported between these two devices"},
    {static_cast<cudaError>(301), "cudaErrorFileNotFound", "file not found"},
});

const Words* words_for(cudaError_t code) {
  for (const Words& words : kWords) {
    if (words.code == code) return &words;
  }
  return nullptr;
}

// Removes a leading location in the emulator's own sources.
std::string without_own_place(const std::string& text) {
  constexpr std::string_view kThis = __FILE__, kFolder = "/kernels/";
  static_assert(kThis.rfind(kFolder) != kThis.npos);
  if (!text.starts_with(kThis.substr(0, kThis.rfind(kFolder) + kFolder.size()))) return text;
  const std::size_t end = text.find(": ");
  return end == text.npos ? text : text.substr(end + 2);
}

// CUDA's error code for a fault, found by the fault's text. A fault that a GPU would not notice,
// such as a race, becomes a failed launch.
cudaError_t code_of(std::string_view fault) {
  const auto has = [&](std::string_view words) { return fault.find(words) != fault.npos; };
  if (has("[out-of-bounds]") || has("[freed]")) return cudaErrorIllegalAddress;
  if (has("[misaligned]")) return cudaErrorMisalignedAddress;
  if (has("assertion failed") || has("assertion `")) return cudaErrorAssert; // from g++, from PTX
  if (has("deadlock in ")) return cudaErrorLaunchTimeout;
  return cudaErrorLaunchFailure;
}

// The state of this process's device, like a GPU's context.
class Errors {
 public:
  // A program that ignores an error must not appear to succeed.
  ~Errors() {
    write_records();
    ptx_run::write_lines();
    if (launches > 0) write_note(kLaunchesEvent, std::to_string(launches));
    if (!unseen.empty()) written = write_event(kRefusedEvent, unseen);
    const char* const what = fault_ != cudaSuccess ? "a kernel's fault"
                             : !unseen.empty() ? "a refused launch whose error it never asked for"
                                               : nullptr;
    if (!what) return;
    if (!written) { // otherwise the reader of the events reports it
      write_note(kPrintedEvent, what);
      std::fprintf(stderr, "kernelgrade: the program ends after %s: exit code 1\n", what);
    }
    std::fflush(nullptr);
    _exit(1);
  }

  std::mutex mutex;
  cudaError_t fault_ = cudaSuccess;
  bool written = false; // as an event
  std::string fault_text;
  std::string refusal_text;
  std::uint64_t refusals = 0;
  std::uint64_t launches = 0;
  std::string unseen; // why a launch was refused; cleared when the program asks for errors
};

Errors& errors() {
  static Errors instance;
  return instance;
}

thread_local cudaError_t last = cudaSuccess;

} // namespace

cudaError_t fault() {
  std::lock_guard lock(errors().mutex);
  return errors().fault_;
}

cudaError_t note_fault(const std::string& what) {
  const std::string text = without_own_place(what);
  // A device with a fault does no more work, so nothing of it can conflict with the host.
  if (host::observer) host::observer->host_waits_for_all();
  std::lock_guard lock(errors().mutex);
  Errors& all = errors();
  if (all.fault_ == cudaSuccess) {
    all.fault_ = code_of(text);
    all.fault_text = text;
    all.written = write_event(kFaultEvent, text);
    if (!all.written) {
      write_note(kPrintedEvent, text);
      std::fprintf(stderr, "kernelgrade: %s: %s\n", words_for(all.fault_)->name, text.c_str());
    }
  }
  return all.fault_;
}

cudaError_t note_refusal(cudaError_t code, const char* what, const std::string& why) {
  std::lock_guard lock(errors().mutex);
  last = code;
  errors().refusal_text = std::string(what) + ": " + without_own_place(why);
  ++errors().refusals;
  std::fprintf(stderr, "kernelgrade: %s: %s\n", cudaGetErrorName(code),
               errors().refusal_text.c_str());
  return code;
}

void note_unseen(cudaError_t result) {
  std::lock_guard lock(errors().mutex);
  if (result != cudaSuccess && errors().fault_ == cudaSuccess)
    errors().unseen = errors().refusal_text;
}

void note_launch() {
  std::lock_guard lock(errors().mutex);
  ++errors().launches;
}

std::pair<std::uint64_t, std::string> refusals() {
  std::lock_guard lock(errors().mutex);
  return {errors().refusals, errors().refusal_text};
}

void forget_errors() {
  std::lock_guard lock(errors().mutex);
  errors().fault_ = last = cudaSuccess;
  errors().fault_text.clear();
  errors().refusal_text.clear();
  errors().unseen.clear();
}

std::string report() {
  std::lock_guard lock(errors().mutex);
  return errors().fault_ != cudaSuccess ? errors().fault_text : errors().refusal_text;
}

} // namespace kg::foreign

using namespace kg::foreign;

namespace {

// The program checks for errors: from now on, a refused launch is its own responsibility.
cudaError_t asked_for_error() {
  std::lock_guard lock(errors().mutex);
  errors().unseen.clear();
  return errors().fault_;
}

} // namespace

cudaError_t cudaGetLastError() {
  const cudaError_t broken = asked_for_error();
  return broken != cudaSuccess ? broken : std::exchange(last, cudaSuccess);
}

cudaError_t cudaPeekAtLastError() {
  const cudaError_t broken = asked_for_error();
  return broken != cudaSuccess ? broken : last;
}

const char* cudaGetErrorName(cudaError_t error) {
  const auto* words = words_for(error);
  return words ? words->name : "unrecognized error code";
}

const char* cudaGetErrorString(cudaError_t error) {
  const auto* words = words_for(error);
  return words ? words->text : "unrecognized error code";
}
