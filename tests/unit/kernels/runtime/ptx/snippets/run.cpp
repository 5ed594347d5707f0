// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/kernels/runtime/ptx/snippets/run.h"

#include "runtime/backend.h"
#include "runtime/buffer.h"
#include "runtime/device.h"
#include "runtime/jit.h"
#include "runtime/launch.h"
#if !KG_BACKEND_CUDA
#include "runtime/ptx/library.h"
#include "tests/unit/kernels/runtime/ptx/snippets/table.h"
#endif

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <memory>

namespace kg::test::snippets {
namespace {

struct Kernel {
  detail::ErasedKernel erased{};
  std::size_t shared_bytes = 0; // which the launch must add
  std::shared_ptr<void> library;
};

#if !KG_BACKEND_CUDA
// Neighbours in the table are compiled together, which takes a fifth of the time.
std::vector<const Snippet*> neighbours_of(const Snippet& snippet) {
  constexpr std::size_t kTogether = 32;
  const std::size_t first =
      static_cast<std::size_t>(&snippet - table().data()) / kTogether * kTogether;
  std::vector<const Snippet*> chosen;
  for (std::size_t i = first; i < std::min(first + kTogether, table().size()); ++i)
    chosen.push_back(&table()[i]);
  return chosen;
}

// Nothing where they do not compile: each alone says which of them is why.
std::map<const Snippet*, ptx_run::LoadedKernel> compile(const std::vector<const Snippet*>& all) {
  std::vector<std::string> names;
  for (const Snippet* const each : all) names.push_back(kernel_name(*each));
  std::map<const Snippet*, ptx_run::LoadedKernel> kernels;
  try {
    const auto loaded = ptx_run::compile(module_of(all), "snippets from " + all[0]->form, names);
    for (std::size_t i = 0; i < all.size(); ++i) kernels.emplace(all[i], loaded[i]);
  } catch (const Error&) {
  }
  return kernels;
}

ptx_run::LoadedKernel compiled(const Snippet& snippet) {
  static std::map<const Snippet*, std::map<const Snippet*, ptx_run::LoadedKernel>> batches;
  const std::vector<const Snippet*> neighbours = neighbours_of(snippet);
  auto batch = batches.find(neighbours[0]);
  if (batch == batches.end()) batch = batches.emplace(neighbours[0], compile(neighbours)).first;
  const auto found = batch->second.find(&snippet);
  return found != batch->second.end()
             ? found->second
             : ptx_run::compile(module_of({&snippet}), snippet.form, kernel_name(snippet));
}
#endif

Kernel load(const Snippet& snippet) {
#if KG_BACKEND_CUDA
  jit::MachineCode code;
  code.bytes = module_of({&snippet});
  Kernel kernel;
  kernel.library = jit::detail::load(code, Location::here());
  kernel.erased = {
      jit::detail::find_kernel(kernel.library.get(), kernel_name(snippet), Location::here()),
      nullptr};
  return kernel;
#else
  const ptx_run::LoadedKernel loaded = compiled(snippet);
  return {ptx_run::erased(loaded), loaded.static_shared_bytes, nullptr};
#endif
}

} // namespace

std::string not_for_this_device(const Snippet& snippet) {
  // The executor runs PTX of any architecture; a driver, real or emulated, none above its device's.
  if (backend == Backend::host || snippet.target <= compute_capability()) return "";
  return fmt::format("it needs compute capability {}.{}", snippet.target / 10, snippet.target % 10);
}

std::vector<Word> run(const Snippet& snippet, const std::vector<Word>& operands) {
  const std::size_t inputs = std::max<std::size_t>(snippet.inputs.size(), 1);
  const std::size_t lanes = operands.size() / inputs;
  Stream stream;
  const auto in = DeviceBuffer<Word>::from_host(operands, stream);
  const DeviceBuffer<Word> out(lanes * snippet.outputs.size());
  stream.synchronize();

  const Kernel kernel = load(snippet);
  const Word *from = in.data(), *to = out.data();
  struct alignas(16) {
    unsigned char values[16] = {0x80, 0x81, 0x82, 0x83, 0x84, 0x85, 0x86, 0x87,
                                0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f};
  } bytes; // what ld.param reads (memory.cpp)
  void* arguments[] = {&from, &to, &bytes};
  const std::size_t sizes[] = {sizeof from, sizeof to, sizeof bytes};
  LaunchConfig config;
  config.grid = static_cast<unsigned>(lanes / kLanes);
  config.block = kLanes;
  config.cluster = snippet.cluster;
  config.shared_bytes = kernel.shared_bytes;
  config.stream = &stream;
  detail::launch_erased(config, kernel.erased, {arguments, sizes, 3, nullptr, nullptr});
  stream.synchronize();
  return out.to_host(stream);
}

} // namespace kg::test::snippets
