// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/code/sass/listing.h"

#include "runtime/error.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>

namespace kg::sass {
namespace {

constexpr std::string_view kSpace = " \t\r\n";

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kSpace);
  if (begin == text.npos) return "";
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

// The text before the first of `ends`, or all of it. Removes it and that end from `text`.
std::string_view take(std::string_view& text, std::string_view ends) {
  const std::size_t end = std::min(text.find_first_of(ends), text.size());
  const std::string_view taken = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return taken;
}

std::vector<std::string> parts_of(std::string_view text, std::string_view separators) {
  std::vector<std::string> parts;
  while (!text.empty())
    if (const std::string_view part = trimmed(take(text, separators)); !part.empty())
      parts.emplace_back(part);
  return parts;
}

// Headers of the CUDA toolkit in any location: /usr/local/cuda-13.0/targets/x86_64-linux/include,
// and PyPI's packages nvidia/cu13/include.
bool is_toolkit(std::string_view path) {
  return path.find("/targets/") != path.npos || path.find("/nvidia/cu") != path.npos;
}

// `File "/a/row.h", line 26 inlined at ...` -> "row.h:26", and the path.
std::string line_of(std::string_view text, std::string_view& path) {
  take(text, "\"");
  path = take(text, "\"");
  text.remove_prefix(std::min(text.find_first_of("0123456789"), text.size()));
  return fmt::format("{}:{}", path.substr(path.rfind('/') + 1), take(text, kSpace));
}

class Reader {
 public:
  explicit Reader(const std::string& file) : file_(file) {}

  void read(std::string_view text) {
    for (number_ = 1; !text.empty(); ++number_) {
      const std::string_view line = trimmed(take(text, "\n"));
      if (line.starts_with("//## File"))
        read_place(line);
      else if (line.starts_with(".section"))
        begin_section();
      else if (line.starts_with(".type"))
        read_type(line);
      else if (line.starts_with("/* 0x"))
        read_upper_word(line);
      else if (line.starts_with("/*"))
        read_instruction(line);
      else if (!line.empty() && line.back() == ':')
        read_label(line.substr(0, line.size() - 1));
    }
    end_function();
  }

  std::vector<Function> result;

 private:
  [[noreturn]] void fail(std::string_view what) const {
    throw Error(fmt::format("{}: line {} of its disassembly: {}; use nvdisasm of CUDA 13", file_,
                            number_, what));
  }

  void begin_section() {
    end_function();
    kernel_.clear();
  }

  void end_function() {
    if (!function_.symbol.empty()) result.push_back(std::move(function_));
    function_ = {};
    line_.clear();
    kernel_line_.clear();
  }

  // A section names its kernel first, and each subroutine before its code.
  void read_type(std::string_view line) {
    const std::size_t end = line.find(",@function");
    if (end == line.npos) return;
    end_function();
    line.remove_prefix(std::string_view(".type").size());
    function_.symbol = trimmed(line.substr(0, line.find(",@function")));
    if (kernel_.empty()) kernel_ = function_.symbol;
    function_.kernel = kernel_;
  }

  // The lines of a call stack follow each other, innermost first.
  void read_place(std::string_view line) {
    if (!in_stack_) line_.clear();
    in_stack_ = true;
    std::string_view path;
    kernel_line_ = line_of(line, path);
    if (line_.empty() && !is_toolkit(path)) line_ = kernel_line_;
  }

  void read_label(std::string_view label) {
    if (function_.symbol.empty()) return;
    if (!function_.labels.emplace(label, function_.code.size()).second)
      fail(fmt::format("the label {} occurs twice", label));
  }

  // "/* 0x000fe200078e0205 */", below the instruction's line, which has the lower word.
  void read_upper_word(std::string_view line) {
    line.remove_prefix(std::string_view("/* 0x").size());
    std::uint64_t word = 0;
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), word, 16);
    if (error != std::errc() || function_.code.empty()) fail("a word without its instruction");
    function_.code.back().control = control_of(word);
  }

  // "/*0580*/   @!P6 LDG.E.U16 R11, desc[UR8][R8.64+0xe] ;   /* 0x00000e08080b8981 */"
  void read_instruction(std::string_view line) {
    if (function_.symbol.empty()) fail("an instruction outside of any function");
    in_stack_ = false;
    Instruction made;
    line.remove_prefix(2);
    const std::string_view address = take(line, "*");
    const auto [end, error] =
        std::from_chars(address.data(), address.data() + address.size(), made.address, 16);
    if (error != std::errc() || end != address.data() + address.size() || !line.starts_with('/'))
      fail("an instruction without an address");
    line.remove_prefix(1);
    line = trimmed(line.substr(0, line.find("/* 0x")));
    if (line.empty() || line.back() != ';') fail("an instruction that does not end with ';'");
    line = trimmed(line.substr(0, line.size() - 1));
    if (line.starts_with('@')) {
      made.guard = take(line, kSpace).substr(1);
      line = trimmed(line);
    }
    made.modifiers = parts_of(take(line, kSpace), ".");
    if (made.modifiers.empty()) fail("an instruction without an opcode");
    made.opcode = made.modifiers.front();
    made.modifiers.erase(made.modifiers.begin());
    read_operands(line, made.operands);
    made.line = line_.empty() ? kernel_line_ : line_;
    made.kernel_line = kernel_line_;
    function_.code.push_back(std::move(made));
  }

  // BRX lists its possible targets in a comment: (*"BRANCH_TARGETS .L_x_1,.L_x_2"*).
  static void read_operands(std::string_view text, std::vector<std::string>& operands) {
    constexpr std::string_view kTargets = "BRANCH_TARGETS ";
    const std::size_t comment = text.find("(*");
    operands = parts_of(text.substr(0, comment), ",");
    for (std::string& operand : operands)
      if (const std::size_t at = operand.find(".reuse"); at != operand.npos) operand.erase(at, 6);
    const std::size_t targets = text.find(kTargets);
    if (comment == text.npos || targets == text.npos) return;
    text.remove_prefix(targets + kTargets.size());
    for (const std::string& target : parts_of(take(text, "\""), ", "))
      operands.push_back("`(" + target + ")");
  }

  const std::string& file_;
  int number_ = 0;
  std::string kernel_;
  Function function_;
  bool in_stack_ = false;
  std::string line_, kernel_line_;
};

} // namespace

bool Instruction::has(std::string_view modifier) const {
  return std::find(modifiers.begin(), modifiers.end(), modifier) != modifiers.end();
}

std::string_view callee_of(const Instruction& call) {
  for (const std::string_view operand : call.operands)
    if (operand.starts_with("`(")) return operand.substr(2, operand.size() - 3);
  return "";
}

std::vector<Function> read_listing(std::string_view text, const std::string& file) {
  Reader reader(file);
  reader.read(text);
  std::map<std::string_view, std::size_t> sizes;
  for (const Function& function : reader.result) sizes[function.symbol] = function.code.size();
  for (Function& function : reader.result)
    for (Instruction& one : function.code)
      if (const auto at = sizes.find(callee_of(one)); one.opcode == "CALL" && at != sizes.end())
        one.called = at->second;
  return std::move(reader.result);
}

} // namespace kg::sass
