// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/code/resources/ptxas_log.h"

#include "runtime/error.h"

#include <charconv>
#include <fmt/format.h>
#include <optional>

namespace kg::resources {
namespace {

// The whole number that stands right before `words` in the line, or nothing.
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

// "C7518" of a remark that wgmma's instructions wait for each other, or that setmaxnreg is ignored:
// ptxas goes on, and the kernel loses what it was written for.
void require_no_loss(std::string_view line, const std::string& file) {
  constexpr std::string_view kRemark = "(C75";
  if (line.find(kRemark) == line.npos) return;
  throw Error(fmt::format("{}: ptxas gives up what wgmma is for; keep branches, other uses of the "
                          "sums and functions that are not inlined out of its groups: {}",
                          file, line));
}

} // namespace

std::vector<PtxasKernel> read_ptxas_log(std::string_view log, const std::string& file) {
  std::vector<PtxasKernel> kernels;
  std::string open; // the kernel whose figures are still to come
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
    require_no_loss(line, file);
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
