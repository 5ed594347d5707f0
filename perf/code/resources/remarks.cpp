// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/code/resources/remarks.h"

#include "perf/code/resources/ptx.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fmt/format.h>
#include <iterator>

namespace kg::resources {
namespace {

// Remarks of ptxas 13.0, and their fixes.
struct Fix {
  std::string_view code, text;
};
constexpr Fix kFixes[] = {
    {"C7507", "let setmaxnreg leave what the branch needs"},
    {"C7508", "give the kernel __launch_bounds__(threads, 1)"},
    {"C7510", "make __forceinline__ what is called between wgmma and its wait"},
    {"C7511", "take a smaller tile of sums, or fewer threads a block"},
    {"C7513", "write registers of A only behind the wait for the wgmma that reads them"},
    {"C7514", "read and write the sums only behind the wait for their wgmma"},
    {"C7517", "read the sums behind wgmma.wait_group"},
    {"C7519", "put wgmma.fence in front of the first wgmma, in each pass of a loop"},
    {"C7520", "let all threads execute wgmma.fence and wgmma on one path, without a branch"}};

std::string_view fix_of(std::string_view code) {
  const auto at = std::find_if(std::begin(kFixes), std::end(kFixes),
                               [&](const Fix& one) { return one.code == code; });
  return at == std::end(kFixes) ? "" : at->text;
}

bool has(std::string_view line, std::string_view words) { return line.find(words) != line.npos; }

// The kernels to which a remark may refer.
std::vector<std::string> accused(const Remark& remark,
                                 const std::map<std::string, std::string>& bodies) {
  if (bodies.count(remark.function) != 0) return {remark.function};
  const std::string sign = remark.function.empty() ? "setmaxnreg" : remark.function;
  std::vector<std::string> found, all;
  for (const auto& [kernel, body] : bodies) {
    all.push_back(kernel);
    if (has(body, sign)) found.push_back(kernel);
  }
  return found.empty() ? all : found;
}

// The first source line to which the remark may refer: "gemm.cu:12". For an inlined wrapper, the
// caller's line. Empty if the PTX has no line information.
std::string source_line(const Remark& remark, const std::string& kernel, std::string_view body,
                        std::string_view ptx) {
  constexpr std::string_view kPlace = ".loc\t", kCaller = "inlined_at ";
  std::vector<std::string> signs = {"wgmma.mma_async", "setmaxnreg", "call."};
  if (!remark.function.empty() && remark.function != kernel)
    signs.insert(signs.begin(), remark.function);
  std::size_t at = body.npos;
  for (const std::string& sign : signs)
    if (at == body.npos) at = body.find(sign);
  if (at == body.npos || (at = body.rfind(kPlace, at)) == body.npos) return "";
  std::string place(body.substr(at + kPlace.size(), body.find('\n', at) - at - kPlace.size()));
  if (const std::size_t caller = place.find(kCaller); caller != place.npos)
    place.erase(0, caller + kCaller.size());
  int file = 0, line = 0;
  if (std::sscanf(place.c_str(), "%d %d", &file, &line) != 2) return "";
  const std::string start = fmt::format(".file\t{} \"", file);
  at = ptx.find(start);
  if (at == ptx.npos) return "";
  const std::string_view path = ptx.substr(at + start.size());
  // A cached compilation may come from another work tree, so only the file's name is used.
  const std::filesystem::path source(path.substr(0, path.find('"')));
  return fmt::format("{}:{}", source.filename().string(), line);
}

std::string text_of(const Remark& remark, const std::string& line, std::size_t others) {
  std::string text = fmt::format("ptxas says {}: {}", remark.code, remark.words);
  if (!line.empty()) text += fmt::format("; look at {}", line);
  if (const std::string_view fix = fix_of(remark.code); !fix.empty())
    text += fmt::format("; {}", fix);
  if (others > 0) text += fmt::format("; {} more of its remarks are in the log", others);
  return text;
}

} // namespace

std::vector<Remark> read_remarks(std::string_view log) {
  constexpr std::string_view kStart = "(C75", kFunction = "function '";
  std::vector<Remark> remarks;
  for (std::size_t at = log.find(kStart); at != log.npos; at = log.find(kStart, at)) {
    std::string_view line = log.substr(at + 1, log.find('\n', at) - at - 1);
    at += line.size();
    Remark remark;
    remark.code = line.substr(0, line.find(')'));
    line.remove_prefix(std::min(line.find_first_not_of(") ", remark.code.size()), line.size()));
    remark.words = line.substr(0, line.find_last_not_of('.') + 1);
    if (const std::size_t name = line.find(kFunction); name != line.npos) {
      line.remove_prefix(name + kFunction.size());
      remark.function = line.substr(0, line.find('\''));
    }
    remarks.push_back(std::move(remark));
  }
  return remarks;
}

std::map<std::string, std::string> remark_faults(const std::vector<Remark>& remarks,
                                                 std::string_view ptx, const std::string& file) {
  std::map<std::string, std::string> faults;
  if (remarks.empty()) return faults;
  const std::map<std::string, std::string> bodies = entry_bodies(ptx, file);
  std::map<std::string, std::vector<const Remark*>> by_kernel;
  for (const Remark& remark : remarks)
    for (const std::string& kernel : accused(remark, bodies)) by_kernel[kernel].push_back(&remark);
  for (const auto& [kernel, all] : by_kernel) {
    const auto serialised = std::find_if(
        all.begin(), all.end(), [](const Remark* one) { return has(one->words, "serialized"); });
    const Remark& worst = serialised == all.end() ? *all.front() : **serialised;
    faults[kernel] =
        text_of(worst, source_line(worst, kernel, bodies.at(kernel), ptx), all.size() - 1);
  }
  return faults;
}

} // namespace kg::resources
