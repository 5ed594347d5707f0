// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Rewritten kernel launches of user sources: KG_KERNEL(kernel).at(grid, block, ...)(arguments).
#pragma once

#include "cuda/source/api.h"
#include "runtime/device_code.h"
#include "runtime/launch.h"

#include <array>
#include <tuple>
#include <utility>

namespace kg::foreign {

// Runs the kernel, or records why the launch failed, because launches return nothing. A launch from
// device code is deferred until the parent grid has ended.
cudaError_t launch(LaunchConfig config, cudaStream_t stream, const detail::ErasedKernel& kernel,
                   const detail::ErasedArguments& arguments);

void note_unseen(cudaError_t result); // state.h

// Launch arguments from `values`. Fills `pointers`, which must outlive the result, with addresses.
template <class... Parameters>
detail::ErasedArguments arguments_at(void** pointers, std::tuple<Parameters...>& values) {
  std::apply([to = pointers](auto&... element) mutable { ((*to++ = &element), ...); }, values);
  using Type = detail::KernelType<Parameters...>;
  return {pointers, Type::sizes.data(), sizeof...(Parameters), &values, &Type::clone};
}

// A braced argument, as in k<<<1, 1>>>({1, 2}). The kernel's parameter determines its type.
template <class Make>
struct Braced {
  Make make;
  template <class T>
  operator T() const {
    return make.template operator()<T>();
  }
};
template <class Make>
Braced<Make> braced(Make make) {
  return {make};
}

// A launch with a known configuration. The arguments are copied once, as on a GPU.
template <class Call>
class ConfiguredKernel {
 public:
  ConfiguredKernel(Call call, const char* name, const LaunchConfig& config, cudaStream_t stream)
      : call_(call), name_(name), config_(config), stream_(stream) {}

  template <class... Arguments>
  void operator()(Arguments... arguments) const {
    // `invoke` stands for the kernel: there is one instance for each launch in the source.
    const void* const kernel = reinterpret_cast<const void*>(&invoke<Arguments...>);
    static const bool named = (detail::name_kernel(kernel, name_), true);
    static_cast<void>(named);
    // The call is stored with the arguments, so that a deferred launch copies it as well.
    std::tuple<Arguments..., Call> values(std::move(arguments)..., call_);
    std::array<void*, sizeof...(Arguments) + 1> pointers{};
    detail::ErasedArguments erased = arguments_at(pointers.data(), values);
    --erased.count;
    note_unseen(launch(config_, stream_, {kernel, &invoke<Arguments...>}, erased));
  }

 private:
  template <class... Arguments>
  static void invoke(const void*, void** arguments) {
    invoke_at<Arguments...>(arguments, std::index_sequence_for<Arguments...>{});
  }
  template <class... Arguments, std::size_t... I>
#if defined(__GNUC__) && !defined(__clang__)
  __attribute__((no_sanitize("thread"))) // as for KernelType::invoke
#endif
  static void
  invoke_at(void** arguments, std::index_sequence<I...>) {
    (*static_cast<const Call*>(arguments[sizeof...(I)]))(*static_cast<Arguments*>(arguments[I])...);
  }

  Call call_;
  const char* name_;
  LaunchConfig config_;
  cudaStream_t stream_;
};

// A kernel, given as a call: only a call resolves overloads and deduces template arguments.
template <class Call>
struct Kernel {
  Call call;
  const char* name;

  ConfiguredKernel<Call> at(dim3 grid, dim3 block, std::size_t shared_bytes = 0,
                            cudaStream_t stream = nullptr,
                            Location where = Location::here()) const {
    LaunchConfig config{.grid = grid, .block = block, .shared_bytes = shared_bytes};
    config.where = where;
    return {call, name, config, stream};
  }
};
template <class Call>
Kernel<Call> kernel(Call call, const char* name) {
  return {call, name};
}

// The value of alignas(...), for a number or for a type.
template <std::size_t Bytes>
constexpr std::size_t alignment() {
  return Bytes;
}
template <class T>
constexpr std::size_t alignment() {
  return alignof(T);
}

// `extern __shared__ T name[]` outside functions: the array of the block that accesses it.
template <class T>
struct DynamicShared {
  operator T*() const { return dynamic_shared<T>(); }
  template <class U>
  explicit operator U*() const {
    return dynamic_shared<U>();
  }
};

} // namespace kg::foreign

// A macro, because the kernel may be a macro parameter, and messages need its name. A kernel held
// in a variable is copied, because a deferred launch may outlive the variable.
#define KG_KERNEL(...)                                                                             \
  ::kg::foreign::kernel([=](auto&&... kg_arguments) { __VA_ARGS__(kg_arguments...); }, #__VA_ARGS__)

// --- cudaLaunchKernel: kernel and arguments by address

namespace kg::foreign {

template <class... Parameters>
cudaError_t launch_values(void (*kernel)(Parameters...), const LaunchConfig& config,
                          cudaStream_t stream, std::tuple<Parameters...> values) {
  std::array<void*, sizeof...(Parameters) + 1> pointers{};
  return launch(config, stream,
                {reinterpret_cast<const void*>(kernel), &detail::KernelType<Parameters...>::invoke},
                arguments_at(pointers.data(), values));
}

template <class... Parameters>
cudaError_t launch_with(void (*kernel)(Parameters...), const LaunchConfig& config, void** arguments,
                        cudaStream_t stream) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return launch_values(kernel, config, stream,
                         std::tuple<Parameters...>(*static_cast<Parameters*>(arguments[I])...));
  }
  (std::index_sequence_for<Parameters...>{});
}

} // namespace kg::foreign

template <class... Parameters>
cudaError_t cudaLaunchKernel(void (*kernel)(Parameters...), dim3 grid, dim3 block, void** arguments,
                             std::size_t shared_bytes = 0, cudaStream_t stream = nullptr,
                             kg::Location where = kg::Location::here()) {
  kg::LaunchConfig config{.grid = grid, .block = block, .shared_bytes = shared_bytes};
  config.where = where;
  return kg::foreign::launch_with(kernel, config, arguments, stream);
}
template <class... Parameters>
cudaError_t cudaLaunchCooperativeKernel(void (*kernel)(Parameters...), dim3 grid, dim3 block,
                                        void** arguments, std::size_t shared_bytes = 0,
                                        cudaStream_t stream = nullptr,
                                        kg::Location where = kg::Location::here()) {
  kg::LaunchConfig config{.grid = grid, .block = block, .shared_bytes = shared_bytes};
  config.cooperative = true;
  config.where = where;
  return kg::foreign::launch_with(kernel, config, arguments, stream);
}

// --- cudaLaunchKernelEx: clusters and cooperative launches as attributes

struct cudaLaunchConfig_t {
  dim3 gridDim;
  dim3 blockDim;
  std::size_t dynamicSmemBytes;
  cudaStream_t stream;
  cudaLaunchAttribute* attrs;
  unsigned numAttrs;
};

template <class... Parameters, class... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* given, void (*kernel)(Parameters...),
                               Arguments&&... arguments) {
  static_assert(sizeof...(Parameters) == sizeof...(Arguments));
  kg::LaunchConfig config{.grid = given->gridDim, .block = given->blockDim};
  config.shared_bytes = given->dynamicSmemBytes;
  config.where = {}; // the location of the call is not known
  for (unsigned i = 0; i < given->numAttrs; ++i) {
    const cudaLaunchAttribute& attribute = given->attrs[i];
    if (attribute.id == cudaLaunchAttributeCooperative)
      config.cooperative = attribute.val.cooperative != 0;
    if (attribute.id == cudaLaunchAttributeClusterDimension)
      config.cluster = {attribute.val.clusterDim.x, attribute.val.clusterDim.y,
                        attribute.val.clusterDim.z};
  }
  return kg::foreign::launch_values(
      kernel, config, given->stream,
      std::tuple<Parameters...>(static_cast<Parameters>(std::forward<Arguments>(arguments))...));
}
