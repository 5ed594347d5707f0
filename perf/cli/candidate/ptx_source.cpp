// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/cli/candidate/ptx_source.h"

#include "runtime/atomic_file.h"
#include "runtime/error.h"
#include "runtime/launch.h"
#include "runtime/ptx/module.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kg::candidate {
namespace {

// Converts an argument to the kernel parameter's size, since PTX does not state its type: pointers
// stay pointers, numbers with a fraction become floats, others integers.
constexpr const char* kSource = R"(#include <cstdint>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <tuple>
#include <type_traits>

namespace {{

template <std::size_t bytes, class T>
auto parameter(T value) {{
  if constexpr (std::is_pointer_v<T> || std::is_null_pointer_v<T>) {{
    static_assert(bytes == 8, "expected a parameter of 8 bytes for a pointer");
    return static_cast<const void*>(value);
  }} else if constexpr (std::is_floating_point_v<T>) {{
    static_assert(bytes == 4 || bytes == 8, "a number with a fraction has 4 or 8 bytes");
    return static_cast<std::conditional_t<bytes == 4, float, double>>(value);
  }} else if constexpr (bytes == 8) {{
    return static_cast<std::int64_t>(value);
  }} else if constexpr (bytes == 4) {{
    return static_cast<std::int32_t>(value);
  }} else if constexpr (bytes == 2) {{
    return static_cast<std::int16_t>(value);
  }} else {{
    static_assert(bytes == 1, "this parameter of the kernel is not a number");
    return static_cast<std::int8_t>(value);
  }}
}}

cudaKernel_t the_kernel() {{
  static const cudaKernel_t found = [] {{
    cudaLibrary_t library = nullptr;
    cudaKernel_t kernel = nullptr;
    cudaLibraryLoadFromFile(&library, R"kg({file})kg", nullptr, nullptr, 0, nullptr, nullptr, 0);
    cudaLibraryGetKernel(&kernel, library, "{entry}");
    return kernel;
  }}();
  return found;
}}

}} // namespace

{declaration} {{
  const dim3 grid({grid}), block({block});
  const std::size_t shared_bytes = {shared_bytes};
  if (grid.x == 0 || grid.y == 0 || grid.z == 0) return; // an empty problem
  if (shared_bytes > 48 * 1024)
    cudaFuncSetAttribute(the_kernel(), cudaFuncAttributeMaxDynamicSharedMemorySize,
                         static_cast<int>(shared_bytes));
  auto values = std::make_tuple({values});
  std::apply(
      [&](auto&... each) {{
        void* addresses[] = {{&each..., nullptr}};
        cudaLaunchKernel(the_kernel(), grid, block, addresses, shared_bytes, stream);
      }},
      values);
}}
)";

const ptx_run::Entry& entry_of(const ptx_run::Module& module, const std::string& wanted) {
  std::vector<const ptx_run::Entry*> found;
  std::vector<std::string> names;
  for (const ptx_run::Entry& entry : module.entries) {
    const std::string name = detail::readable_kernel_name(entry.name.c_str());
    names.push_back(name);
    if (wanted == entry.name) return entry;
    if (wanted.empty() || name == wanted || name.ends_with("::" + wanted)) found.push_back(&entry);
  }
  require(found.size() == 1, fmt::format("--entry {}: {} kernels of {} are that; it has {}", wanted,
                                         found.size(), module.name, fmt::join(names, ", ")));
  return *found.front();
}

// "extern "C" void softmax_f32(...)"
std::string declaration_of(const std::string& signature, const std::string& function) {
  const std::string begin = "extern \"C\" void " + (function.empty() ? function : function + "(");
  const std::size_t at = signature.find(begin);
  require(at != std::string::npos,
          fmt::format("--function {}: the operation has no such function; `kernelgrade try OP "
                      "--signature` prints them",
                      function));
  return signature.substr(at, signature.find(") {", at) + 1 - at);
}

// Splits arguments at commas outside brackets.
std::vector<std::string> split_arguments(const std::string& text) {
  std::vector<std::string> arguments;
  int depth = 0;
  for (const char c : text) {
    if (arguments.empty()) arguments.emplace_back();
    depth += c == '(' || c == '{' || c == '[' ? 1 : c == ')' || c == '}' || c == ']' ? -1 : 0;
    if (c == ',' && depth == 0)
      arguments.emplace_back();
    else
      arguments.back() += c;
  }
  return arguments;
}

} // namespace

std::string source_of(const std::filesystem::path& ptx, const PtxLaunch& launch,
                      const std::string& signature) {
  require(!launch.grid.empty() && !launch.block.empty(),
          "how is the kernel launched? Give --grid, --block and --arguments");
  const std::optional<std::string> text = read_file(ptx);
  require(text.has_value(), ptx.string() + ": no such file");
  const ptx_run::Module module = ptx_run::parse(*text, ptx.filename().string());
  const ptx_run::Entry& entry = entry_of(module, launch.entry);
  const std::vector<std::string> arguments = split_arguments(launch.arguments);
  require(entry.parameters.size() == arguments.size(),
          fmt::format("--arguments: {} are given, and {} has {} parameters of {} bytes",
                      arguments.size(), detail::readable_kernel_name(entry.name.c_str()),
                      entry.parameters.size(),
                      fmt::join(
                          [&] {
                            std::vector<std::size_t> sizes;
                            for (const auto& each : entry.parameters) sizes.push_back(each.bytes);
                            return sizes;
                          }(),
                          ", ")));
  std::string values;
  for (std::size_t i = 0; i < arguments.size(); ++i)
    values += fmt::format("{}parameter<{}>({})", i == 0 ? "" : ", ", entry.parameters[i].bytes,
                          arguments[i]);
  return fmt::format(fmt::runtime(kSource),
                     fmt::arg("file", std::filesystem::absolute(ptx).string()),
                     fmt::arg("entry", entry.name),
                     fmt::arg("declaration", declaration_of(signature, launch.function)),
                     fmt::arg("grid", launch.grid), fmt::arg("block", launch.block),
                     fmt::arg("shared_bytes", launch.shared_bytes), fmt::arg("values", values));
}

} // namespace kg::candidate
