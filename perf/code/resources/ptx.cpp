// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/code/resources/ptx.h"

#include "runtime/error.h"

#include <algorithm>
#include <charconv>
#include <compare>
#include <cstdint>
#include <fmt/format.h>
#include <set>
#include <utility>
#include <vector>

namespace kg::resources {
namespace {

constexpr int kWhole = 16; // bytes of the widest access
constexpr std::string_view kSpace = " \t\r\n";

std::string without_comments(std::string_view text) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = std::min(text.find("//", at), text.size());
    result += text.substr(at, begin - at);
    at = std::min(text.find('\n', begin), text.size());
  }
  return result;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kSpace);
  if (begin == text.npos) return "";
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

// Removes and returns the text before the first of `ends`, or all of it.
std::string_view take(std::string_view& text, std::string_view ends) {
  const std::string_view taken = text.substr(0, text.find_first_of(ends));
  text.remove_prefix(taken.size());
  return taken;
}

std::vector<std::string_view> split(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> parts;
  while (!(text = text.substr(std::min(text.find_first_not_of(separators), text.size()))).empty())
    parts.push_back(take(text, separators));
  return parts;
}

// "u32" -> 4. 0 if the word is not a type.
int bytes_of(std::string_view type) {
  int bits = 0;
  type.remove_prefix(std::min(type.find_first_of("0123456789"), type.size()));
  std::from_chars(type.data(), type.data() + type.size(), bits);
  return bits / 8;
}

// Bytes that `opcode` moves per thread from or to global or shared memory; 0 for other
// instructions.
int bytes_moved(const std::vector<std::string_view>& opcode) {
  if (opcode.front() != "ld" && opcode.front() != "st") return 0;
  const auto has = [&](std::string_view part) {
    return std::find(opcode.begin(), opcode.end(), part) != opcode.end();
  };
  if (!has("global") && !has("shared")) return 0;
  return bytes_of(opcode.back()) * (has("v8") ? 8 : has("v4") ? 4 : has("v2") ? 2 : 1);
}

bool ends_block(std::string_view instruction) {
  return instruction == "bra" || instruction == "brx" || instruction == "ret" ||
         instruction == "exit" || instruction == "trap";
}

// Key of accesses that differ only in their offsets and could be one access.
struct Together {
  bool store = false;
  std::string_view guard; // "@%p1", or empty
  std::string_view base;  // a register or a variable
  auto operator<=>(const Together&) const = default;
};

using Pieces = std::set<std::pair<std::int64_t, int>>; // offset and bytes

int splits_in(const Pieces& pieces) {
  int found = 0;
  std::int64_t begin = pieces.begin()->first, end = begin;
  for (const auto& [offset, bytes] : pieces) {
    if (offset > end) {
      found += static_cast<int>((end - begin) / kWhole);
      begin = offset;
    }
    end = std::max(end, offset + bytes);
  }
  return found + static_cast<int>((end - begin) / kWhole);
}

// Processes the statements of one entry function in sequence.
class Kernel {
 public:
  explicit Kernel(std::string file) : file_(std::move(file)) {}

  void read(std::string_view statement) {
    for (statement = trimmed(statement); !statement.empty(); statement = trimmed(statement)) {
      std::string_view rest = statement;
      const std::string_view word = take(rest, kSpace);
      if (statement.front() == '{' || statement.front() == '}') {
        statement.remove_prefix(1); // a scope
      } else if (word == ".loc") {
        take(statement, "\n");
      } else if (word.back() == ':') {
        end_block();
        statement = rest;
      } else {
        return read_instruction(statement);
      }
    }
  }

  SplitAccesses result() {
    end_block();
    return found_;
  }

 private:
  void read_instruction(std::string_view text) {
    std::string_view guard;
    if (text.front() == '@') {
      guard = take(text, kSpace);
      text = trimmed(text);
    }
    const std::vector<std::string_view> opcode = split(take(text, kSpace), ".");
    if (opcode.empty()) return;
    text = trimmed(text);
    if (ends_block(opcode.front())) return end_block();
    const int bytes = bytes_moved(opcode);
    if (bytes > 0 && bytes < kWhole) access(opcode.front() == "st", guard, bytes, text);
    // The result, if any, is the first operand.
    if (text.starts_with('[')) return;
    for (const std::string_view defined :
         split(take(text, text.starts_with('{') ? "}" : ","), "{|, "))
      forget(defined);
  }

  // `operands` hold "[%rd5]", "[%rd5+8]" or "[%rd5+-8]".
  void access(bool store, std::string_view guard, int bytes, std::string_view operands) {
    take(operands, "[");
    const std::vector<std::string_view> address = split(take(operands, "]"), "[+ ");
    std::int64_t offset = 0;
    const bool known =
        address.size() == 1 ||
        (address.size() == 2 &&
         std::from_chars(address[1].data(), address[1].data() + address[1].size(), offset).ptr ==
             address[1].data() + address[1].size());
    if (!known)
      throw Error(fmt::format("{}: the address of an access to memory cannot be read; use an "
                              "nvcc that this program knows (13.0)",
                              file_));
    open_[{store, guard, address[0]}].emplace(offset, bytes);
  }

  void close(const Together& key, const Pieces& pieces) {
    (key.store ? found_.stores : found_.loads) += splits_in(pieces);
  }

  // Drops the accesses at `name`, since its value changes.
  void forget(std::string_view name) {
    for (auto at = open_.begin(); at != open_.end();) {
      const std::string_view guard = at->first.guard;
      if (at->first.base != name && guard.substr(std::min(guard.find('%'), guard.size())) != name) {
        ++at;
        continue;
      }
      close(at->first, at->second);
      at = open_.erase(at);
    }
  }

  void end_block() {
    for (const auto& [key, pieces] : open_) close(key, pieces);
    open_.clear();
  }

  std::string file_;
  std::map<Together, Pieces> open_; // of the current basic block
  SplitAccesses found_;
};

// The text between the next brace from `at` on and its closing brace. Moves `at` behind that brace.
std::string_view take_body(std::string_view text, std::size_t& at, const std::string& file) {
  const std::size_t begin = text.find('{', at);
  int depth = 0;
  for (at = begin; at < text.size(); ++at) {
    if (text[at] == '{') ++depth;
    if (text[at] == '}' && --depth == 0) return text.substr(begin + 1, at++ - begin - 1);
  }
  throw Error(file + ": its PTX ends within a kernel; build it again");
}

} // namespace

std::map<std::string, std::string> entry_bodies(std::string_view ptx, const std::string& file) {
  constexpr std::string_view kEntry = ".entry ";
  const std::string text = without_comments(ptx);
  std::map<std::string, std::string> bodies;
  for (std::size_t at = text.find(kEntry); at != text.npos; at = text.find(kEntry, at)) {
    std::string_view rest = std::string_view(text).substr(at + kEntry.size());
    const std::string symbol(trimmed(take(rest, "(" + std::string(kSpace))));
    bodies[symbol] = take_body(text, at, file);
  }
  return bodies;
}

std::map<std::string, SplitAccesses> split_accesses(std::string_view ptx, const std::string& file) {
  std::map<std::string, SplitAccesses> found;
  for (const auto& [symbol, body] : entry_bodies(ptx, file)) {
    Kernel kernel(file);
    for (const std::string_view statement : split(body, ";")) kernel.read(statement);
    found[symbol] = kernel.result();
  }
  return found;
}

} // namespace kg::resources
