// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "emulate/launch.h"

#include "emulate/modules.h"
#include "foreign/launch.h"
#include "foreign/state.h"

#include <cstring>
#include <memory>
#include <utility>
#include <vector>

namespace kg::emulate {
namespace {

// What a graph must copy to run the kernel later.
struct Arguments {
  void** pointers;
  std::span<const std::size_t> sizes;
};

std::pair<std::shared_ptr<void>, std::vector<void*>> clone(const void* tuple) {
  const auto& given = *static_cast<const Arguments*>(tuple);
  using Values = std::vector<std::vector<std::byte>>;
  const auto values = std::make_shared<Values>();
  std::vector<void*> pointers;
  for (std::size_t i = 0; i < given.sizes.size(); ++i) {
    const auto* const from = static_cast<const std::byte*>(given.pointers[i]);
    values->emplace_back(from, from + given.sizes[i]);
    pointers.push_back(values->back().data());
  }
  return {values, std::move(pointers)};
}

} // namespace

cudaError_t launch(const void* kernel, LaunchConfig config, void** arguments, cudaStream_t stream) {
  const ptx_run::LoadedKernel* loaded = nullptr;
  const cudaError_t found = foreign::call("a launch", [&] {
    try {
      loaded = &kernel_at(kernel);
    } catch (const Error& error) {
      throw foreign::Refusal(cudaErrorInvalidDeviceFunction, error.what());
    }
  });
  if (found != cudaSuccess) return found;
  config.shared_bytes += loaded->static_shared_bytes;
  const Arguments given{arguments, loaded->parameters};
  return foreign::launch(config, stream, ptx_run::erased(*loaded),
                         {arguments, given.sizes.data(), given.sizes.size(), &given, &clone});
}

} // namespace kg::emulate
