// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/code/cost/advice.h"

#include <algorithm>
#include <fmt/format.h>
#include <regex>
#include <set>

namespace kg::cost {
namespace {

using count::Launch;

// Compute capability 9.0 (CUDA C++ Programming Guide, "Technical Specifications per Compute
// Capability").
constexpr std::uint64_t kLanes = 32, kThreads = 2048, kBlocks = 32, kSharedBytes = 227 * 1024;
constexpr std::uint64_t kSectorBytes = 32;

std::uint64_t product(const std::array<unsigned, 3>& extents) {
  return std::uint64_t{extents[0]} * extents[1] * extents[2];
}

std::uint64_t rounded_up(std::uint64_t threads) { return (threads + kLanes - 1) / kLanes * kLanes; }

std::optional<Advice> partial_warps(const Launch& launch) {
  const std::uint64_t threads = product(launch.block), lanes = rounded_up(threads);
  if (threads == 0 || 8 * (lanes - threads) < lanes) return std::nullopt;
  return Advice{"",
                fmt::format("blocks of {} threads leave {} of {} lanes idle; make the block a "
                            "multiple of {} threads",
                            threads, lanes - threads, lanes, kLanes),
                static_cast<double>(lanes) / static_cast<double>(threads)};
}

// A tail wave that is at most a quarter full after few full waves: most of the GPU idles meanwhile.
std::optional<Advice> tail_wave(const Launch& launch) {
  const std::uint64_t blocks = product(launch.grid), threads = rounded_up(product(launch.block));
  if (threads == 0) return std::nullopt;
  std::uint64_t resident = std::min(kBlocks, kThreads / threads);
  if (launch.shared_bytes > 0) resident = std::min(resident, kSharedBytes / launch.shared_bytes);
  const std::uint64_t wave = kMultiprocessors * std::max<std::uint64_t>(resident, 1);
  const std::uint64_t whole = blocks / wave, rest = blocks % wave;
  if (whole == 0 || whole > 4 || rest == 0 || 4 * rest > wave) return std::nullopt;
  const double waves = static_cast<double>(blocks) / static_cast<double>(wave);
  return Advice{
      "",
      fmt::format(
          "{} blocks are {} more than {} on the {} multiprocessors of an H200, {} each; the "
          "tail wave leaves most of them idle: change the grid or the block",
          blocks, rest, whole == 1 ? "a wave" : fmt::format("{} waves", whole), kMultiprocessors,
          wave / kMultiprocessors),
      static_cast<double>(whole + 1) / waves};
}

std::optional<Advice> few_blocks(const Launch& launch) {
  const std::uint64_t blocks = product(launch.grid);
  const std::uint64_t bytes = kSectorBytes * (launch.unique_read + launch.unique_written);
  if (blocks == 0 || 2 * blocks > kMultiprocessors || bytes < kLeastBytes) return std::nullopt;
  return Advice{
      "",
      fmt::format(
          "{} blocks move {} MiB and leave {} of the {} multiprocessors of an H200 idle; share "
          "the work among more blocks",
          blocks, bytes >> 20, kMultiprocessors - blocks, kMultiprocessors),
      static_cast<double>(kMultiprocessors) / static_cast<double>(blocks)};
}

void crowded_atomics(const Launch& launch, std::set<std::string>& said, std::vector<Advice>& all) {
  for (const count::Site& site : launch.sites) {
    if (site.access != count::Access::atomic || site.lanes < kCrowd * site.addresses) continue;
    if (site.addresses == 0 || !said.insert(site.line).second) continue;
    const double lanes = static_cast<double>(site.lanes) / static_cast<double>(site.addresses);
    all.push_back({site.line,
                   fmt::format("{:.3g} lanes of a warp update one address, one after the other; "
                               "reduce within the warp or the block first",
                               lanes),
                   lanes});
  }
}

// Whether line `number` is in device code: no function ends between the line and the nearest
// qualifier above it.
bool is_device_line(const std::string& text, std::size_t number) {
  std::vector<std::string_view> lines;
  for (std::size_t at = 0; at < text.size() && lines.size() < number;) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(std::string_view(text).substr(at, end - at));
    at = end + 1;
  }
  for (std::size_t i = lines.size(); i-- > 0;) {
    if (lines[i].find("__global__") != lines[i].npos ||
        lines[i].find("__device__") != lines[i].npos)
      return true;
    if (i + 1 < lines.size() && lines[i].starts_with("}")) return false;
  }
  return false;
}

} // namespace

std::vector<Advice> launch_advice(const std::vector<Launch>& launches) {
  std::vector<Advice> all;
  std::set<std::pair<std::string, int>> said;
  for (const Launch& launch : launches) {
    int kind = 0;
    for (const auto rule : {partial_warps, tail_wave, few_blocks}) {
      std::optional<Advice> found = rule(launch);
      if (found && said.emplace(launch.kernel, kind).second) {
        found->place = "kernel " + launch.kernel;
        all.push_back(std::move(*found));
      }
      ++kind;
    }
  }
  std::set<std::string> crowded;
  for (const Launch& launch : launches) crowded_atomics(launch, crowded, all);
  return all;
}

std::vector<Advice> timing_advice(const std::string& file, const std::string& text) {
  // A function ends with a brace in the first column. A copy without Async also waits.
  static const std::regex kWord(
      "(//[^\n]*)|(\n\\})|(\\bnow\\s*\\(\\)|\\bclock\\s*\\(\\)|\\bclock_gettime\\s*\\(|"
      "\\bgettimeofday\\s*\\(|\\bomp_get_wtime\\s*\\()|(<<<)|"
      "(\\w*[sS]ynchronize\\s*\\(|\\bcudaMemcpy(2D|3D|ToSymbol|FromSymbol)?\\s*\\(|\\bcudaFree\\s*"
      "\\()");
  std::vector<Advice> all;
  bool timed = false;
  std::optional<std::ptrdiff_t> launch; // since the clock was read, without a wait
  for (std::sregex_iterator at(text.begin(), text.end(), kWord), end; at != end; ++at) {
    if ((*at)[2].matched) { // the function's end
      timed = false;
      launch.reset();
    } else if ((*at)[4].matched) {
      if (timed) launch = at->position();
    } else if ((*at)[5].matched) {
      launch.reset();
    } else if ((*at)[3].matched) {
      if (launch) {
        const auto line = 1 + std::count(text.begin(), text.begin() + *launch, '\n');
        all.push_back({fmt::format("{}:{}", file, line),
                       "the clock is read before the kernel has ended, which times the launch "
                       "alone; call cudaDeviceSynchronize() first, or time with events",
                       0});
      }
      timed = true;
      launch.reset();
    }
  }
  return all;
}

std::vector<Advice>
double_advice(std::string_view compiler,
              const std::function<std::optional<std::string>(const std::string&)>& text_of) {
  // "scale.cu:12:8: warning: implicit conversion from 'float' to 'double' to match other ..."
  static const std::regex kWarning(
      "(?:^|\n)([^:\n]+):([0-9]+):[0-9]+: warning: implicit conversion from .{1,3}float.{1,3} to "
      ".{1,3}double.{1,3} to match other operand[^\n]*\\[-Wdouble-promotion\\]");
  std::vector<Advice> all;
  std::set<std::string> said;
  const std::string output(compiler);
  for (std::sregex_iterator at(output.begin(), output.end(), kWarning), end; at != end; ++at) {
    const std::string file = (*at)[1], number = (*at)[2], place = file + ":" + number;
    const std::optional<std::string> text = text_of(file);
    if (text && is_device_line(*text, std::stoul(number)) && said.insert(place).second)
      all.push_back(
          {place,
           "double arithmetic on float data; write the constant with an f (2.0f), or "
           "convert it. An H200 adds doubles at half the rate of floats, consumer GPUs at "
           "1/64 of it",
           kFloatPerDouble});
  }
  return all;
}

std::string advice_text(const std::vector<Advice>& advice) {
  std::string text;
  for (const Advice& one : advice)
    text += fmt::format("slow: {}: {}{}\n", one.place, one.text,
                        one.factor > 0 ? fmt::format(" (up to {:.3g}x)", one.factor) : "");
  return text;
}

} // namespace kg::cost
