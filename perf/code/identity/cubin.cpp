// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/code/identity/cubin.h"

#include "perf/code/identity/elf.h"
#include "runtime/hash.h"
#include "runtime/launch.h"

#include <map>

namespace kg::identity {
namespace {

constexpr std::string_view kText = ".text.";
constexpr std::string_view kInfo = ".nv.info.";

constexpr std::uint8_t kMaxThreads = 0x05; // x, y, z
constexpr std::uint8_t kRegisters = 0x2f;  // symbol, count

// Calls visit(attribute, payload) for each attribute with a payload. An attribute is its format,
// its number and two bytes: the value or, in format 4, the size of the payload that follows.
template <class Visit>
void for_each_attribute(const Bytes& info, Visit visit) {
  for (std::uint64_t at = 0; at < info.size();) {
    const auto format = info.number<std::uint8_t>(at, "an attribute");
    const auto attribute = info.number<std::uint8_t>(at + 1, "an attribute");
    const auto size = info.number<std::uint16_t>(at + 2, "an attribute");
    at += 4;
    if (format != 4) continue;
    visit(attribute, Bytes(info.range(at, size, "an attribute's payload"), info.name()));
    at += size;
  }
}

std::map<std::string_view, int> registers_of(const Elf& elf, const std::string& file) {
  std::map<std::string_view, int> registers;
  const ElfSection* info = elf.find(".nv.info");
  if (!info) return registers;
  const std::vector<ElfSymbol> symbols = elf.symbols();
  for_each_attribute({info->contents, file + " (.nv.info)"}, [&](int attribute, const Bytes& data) {
    if (attribute != kRegisters) return;
    const auto symbol = data.number<std::uint32_t>(0, "a register count");
    if (symbol >= symbols.size()) throw Error(file + ": registers of a kernel that is not there");
    registers[symbols[symbol].name] =
        static_cast<int>(data.number<std::uint32_t>(4, "a register count"));
  });
  return registers;
}

int max_threads_of(const Elf& elf, const std::string& symbol, const std::string& file) {
  int threads = 0;
  const ElfSection* info = elf.find(std::string(kInfo) + symbol);
  if (!info) return threads;
  for_each_attribute({info->contents, file + " (.nv.info)"}, [&](int attribute, const Bytes& data) {
    if (attribute != kMaxThreads) return;
    threads = 1;
    for (const int offset : {0, 4, 8})
      threads *= static_cast<int>(
          data.number<std::uint32_t>(static_cast<std::uint64_t>(offset), "the launch bounds"));
  });
  return threads;
}

} // namespace

std::vector<CubinKernel> read_cubin(std::string_view cubin, const std::string& file) {
  const Elf elf(cubin, file);
  const std::map<std::string_view, int> registers = registers_of(elf, file);
  std::vector<CubinKernel> kernels;
  for (const ElfSection& text : elf.sections()) {
    if (!text.name.starts_with(kText)) continue;
    CubinKernel kernel;
    kernel.symbol = text.name.substr(kText.size());
    kernel.name = detail::readable_kernel_name(kernel.symbol.c_str());
    if (const auto at = registers.find(kernel.symbol); at != registers.end())
      kernel.registers = at->second;
    kernel.max_threads = max_threads_of(elf, kernel.symbol, file);
    Hash hash;
    hash.field(text.contents);
    for (const char* bank : {".nv.constant0.", ".nv.constant2."}) // parameters; literals
      if (const ElfSection* constants = elf.find(bank + kernel.symbol))
        hash.field(constants->contents);
    const ElfSection* shared = elf.find(".nv.shared." + kernel.symbol);
    hash.number(static_cast<std::uint64_t>(kernel.registers)).number(shared ? shared->size : 0);
    kernel.static_shared = shared ? static_cast<int>(shared->size) : 0;
    kernel.hash = hash.hex();
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

} // namespace kg::identity
