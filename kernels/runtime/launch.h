// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The one way to run a kernel, on both backends.
#pragma once

#include "runtime/device_code.h"
#include "runtime/error.h"
#include "runtime/stream.h"

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace kg {

// Launch configuration. Grid and block as in CUDA. `shared_bytes` is dynamic shared memory; beyond
// 48 KiB the backend opts in. A null `stream` is the default stream.
struct LaunchConfig {
  dim3 grid;
  dim3 block;
  std::size_t shared_bytes = 0;
  Stream* stream = nullptr;
  dim3 cluster = {1, 1, 1};          // blocks per cluster; {1, 1, 1}: no cluster
  bool cooperative = false;          // all blocks resident at once, as grid synchronization needs
  Location where = Location::here(); // the launch site, for error messages
};

// One recorded launch, for tests and for the identity of a timing row.
struct LaunchRecord {
  const void* kernel = nullptr;
  std::string kernel_name; // demangled, without the parameter list
  dim3 grid;
  dim3 block;
  dim3 cluster;
  std::size_t shared_bytes = 0;
  bool cooperative = false;
  const Stream* stream = nullptr;
};

// Adds a launch to this thread's innermost recorder, if any. The backend calls it after it has
// accepted the launch.
void record_launch(const LaunchConfig& config, const void* kernel);

// Collects this thread's launches during its lifetime. Recorders nest; only the innermost records.
class LaunchRecorder {
 public:
  LaunchRecorder();
  ~LaunchRecorder();
  LaunchRecorder(const LaunchRecorder&) = delete;
  LaunchRecorder& operator=(const LaunchRecorder&) = delete;
  const std::vector<LaunchRecord>& launches() const { return launches_; }

  // Adds the recorded launches to the enclosing recorder.
  void pass_on() const;

 private:
  friend void record_launch(const LaunchConfig& config, const void* kernel);
  std::vector<LaunchRecord> launches_;
  LaunchRecorder* outer_ = nullptr;
};

namespace detail {

// A type-erased kernel. `invoke` calls it with `arguments` (host backend only; a GPU needs just the
// address). ErasedArguments::clone copies the argument tuple, for a graph that outlives the call.
struct ErasedKernel {
  const void* address;
  void (*invoke)(const void* kernel, void** arguments);
};

struct ErasedArguments {
  void** pointers;          // one per parameter
  const std::size_t* sizes; // in bytes
  std::size_t count;
  const void* tuple; // owns the arguments
  std::pair<std::shared_ptr<void>, std::vector<void*>> (*clone)(const void* tuple);
};

// Throws Error if the launch fails or the configuration is invalid for the device (naming field,
// value and limit). On the host, the kernel has finished on return, and its faults (deadlock, trap,
// exception) are thrown from here.
void launch_erased(const LaunchConfig& config, const ErasedKernel& kernel,
                   const ErasedArguments& arguments);

// The kernel's name for records and messages, from the backend: demangled, without return type and
// parameter list.
std::string kernel_name(const void* kernel);

// Sets the name that kernel_name returns, for a kernel with an uninformative symbol (a lambda's,
// say). Host backend only.
void name_kernel(const void* kernel, const char* name);
const char* given_kernel_name(const void* kernel); // null where none was given

// Demangles as kernel_name does: "_Z5scaleifPf" -> "scale".
std::string readable_kernel_name(const char* mangled);

template <class Tuple>
std::vector<void*> pointers_into(Tuple& tuple) {
  return std::apply(
      [](auto&... element) {
        return std::vector<void*>{const_cast<void*>(static_cast<const void*>(&element))...};
      },
      tuple);
}

template <class... Parameters>
struct KernelType {
  using Tuple = std::tuple<Parameters...>;
  static constexpr std::array<std::size_t, sizeof...(Parameters) + 1> sizes{sizeof(Parameters)...};

  static void invoke(const void* kernel, void** arguments) {
    invoke(reinterpret_cast<void (*)(Parameters...)>(const_cast<void*>(kernel)), arguments,
           std::index_sequence_for<Parameters...>{});
  }
  // Arguments are not device memory, so the checkers must ignore these reads.
  template <std::size_t... I>
#if defined(__GNUC__) && !defined(__clang__)
  __attribute__((no_sanitize("thread")))
#endif
  static void
  invoke(void (*kernel)(Parameters...), [[maybe_unused]] void** arguments,
         std::index_sequence<I...>) {
    kernel(*static_cast<Parameters*>(arguments[I])...);
  }
  static std::pair<std::shared_ptr<void>, std::vector<void*>> clone(const void* tuple) {
    auto copy = std::make_shared<Tuple>(*static_cast<const Tuple*>(tuple));
    std::vector<void*> pointers = pointers_into(*copy);
    return {std::move(copy), std::move(pointers)};
  }
};

} // namespace detail

// Runs `kernel` on config.grid x config.block threads with the arguments converted to its parameter
// types.
//   kg::launch(scale, {.grid = 16, .block = 256, .stream = &stream}, n, factor, data);
template <class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...), const LaunchConfig& config, Arguments&&... arguments) {
  static_assert(sizeof...(Parameters) == sizeof...(Arguments),
                "kg::launch: as many arguments as the kernel has parameters");
  using Type = detail::KernelType<Parameters...>;
  std::tuple<Parameters...> values(static_cast<Parameters>(std::forward<Arguments>(arguments))...);
  std::array<void*, sizeof...(Parameters) + 1> pointers{};
  std::apply(
      [&pointers](auto&... element) {
        [[maybe_unused]] std::size_t i = 0;
        ((pointers[i++] = const_cast<void*>(static_cast<const void*>(&element))), ...);
      },
      values);
  detail::launch_erased(
      config, {reinterpret_cast<const void*>(kernel), &Type::invoke},
      {pointers.data(), Type::sizes.data(), sizeof...(Parameters), &values, &Type::clone});
}

} // namespace kg
