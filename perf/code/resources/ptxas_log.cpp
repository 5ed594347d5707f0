// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/code/resources/ptxas_log.h"

#include "runtime/error.h"

#include <charconv>
#include <fmt/format.h>
#include <optional>

namespace kg::resources {
namespace {

// The integer right before `words` in the line; empty if there is none.
std::optional<int> number_before(std::string_view line, std::string_view words) {
  const std::size_t end = line.find(words);
  if (end == line.npos) return std::nullopt;
  std::size_t begin = end;
  while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9') --begin;
  int value = 0;
  const auto parsed = std::from_chars(line.data() + begin, line.data() + end, value);
  if (parsed.ec != std::errc() || parsed.ptr != line.data() + end) return std::nullopt;
  return value;
}

std::optional<std::string> kernel_begun_by(std::string_view line) {
  constexpr std::string_view kBegin = "Compiling entry function '";
  const std::size_t at = line.find(kBegin);
  if (at == line.npos) return std::nullopt;
  line.remove_prefix(at + kBegin.size());
  return std::string(line.substr(0, line.find('\'')));
}

} // namespace

std::vector<PtxasKernel> read_ptxas_log(std::string_view log, const std::string& file) {
  std::vector<PtxasKernel> kernels;
  std::string open; // the kernel whose figures follow
  const auto require_closed = [&] {
    if (!open.empty())
      throw Error(fmt::format("{}: nothing is said of the registers of {}; compile with "
                              "-Xptxas=-v, by a ptxas that this program knows (13.0)",
                              file, open));
  };
  PtxasKernel kernel;
  for (std::size_t begin = 0; begin < log.size();) {
    const std::size_t end = std::min(log.find('\n', begin), log.size());
    const std::string_view line = log.substr(begin, end - begin);
    begin = end + 1;
    if (const auto symbol = kernel_begun_by(line)) {
      require_closed();
      kernel = {};
      kernel.symbol = open = *symbol;
    }
    if (open.empty()) continue;
    if (const auto stack = number_before(line, " bytes stack frame")) {
      kernel.stack_bytes = *stack;
      kernel.spill_bytes = number_before(line, " bytes spill stores").value_or(0) +
                           number_before(line, " bytes spill loads").value_or(0);
    }
    const auto registers = number_before(line, " registers");
    if (!registers) continue;
    kernel.registers = *registers;
    kernel.shared_bytes = number_before(line, " bytes smem").value_or(0);
    kernels.push_back(kernel);
    open.clear();
  }
  require_closed();
  return kernels;
}

} // namespace kg::resources
