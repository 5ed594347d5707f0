// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/code/identity/elf.h"

#include <algorithm>

namespace kg::identity {
namespace {

constexpr std::uint64_t kSectionHeader = 64;
constexpr std::uint64_t kSymbol = 24;
constexpr std::uint64_t kRela = 24;

} // namespace

Elf::Elf(std::string_view bytes, const std::string& name) : bytes_(bytes, name) {
  // Magic, 64 bits, little-endian.
  if (bytes_.range(0, 6, "the ELF identification") != std::string_view("\x7f"
                                                                       "ELF\2\1",
                                                                       6))
    throw Error(name + ": it is not a 64-bit little-endian ELF file");
  const auto table = bytes_.number<std::uint64_t>(40, "the ELF header");
  const auto entry = bytes_.number<std::uint16_t>(58, "the ELF header");
  const auto count = bytes_.number<std::uint16_t>(60, "the ELF header");
  const auto names = bytes_.number<std::uint16_t>(62, "the ELF header");
  if (entry != kSectionHeader || count == 0 || names >= count)
    throw Error(name + ": its section headers are " + std::to_string(count) + " of " +
                std::to_string(entry) + " bytes, with names in section " + std::to_string(names) +
                "; no such file can be read");
  std::vector<std::uint32_t> name_offsets;
  for (std::uint64_t i = 0; i < count; ++i) {
    const Bytes header(bytes_.range(table + i * kSectionHeader, kSectionHeader, "a section header"),
                       name);
    ElfSection section;
    name_offsets.push_back(header.number<std::uint32_t>(0, "a section's name"));
    section.type = header.number<std::uint32_t>(4, "a section's type");
    section.flags = header.number<std::uint64_t>(8, "a section's flags");
    const auto offset = header.number<std::uint64_t>(24, "a section's offset");
    section.size = header.number<std::uint64_t>(32, "a section's size");
    section.link = header.number<std::uint32_t>(40, "a section's link");
    section.info = header.number<std::uint32_t>(44, "a section's information");
    if (section.type != kNoBits && section.type != 0)
      section.contents = bytes_.range(offset, section.size, "a section");
    sections_.push_back(section);
  }
  const Bytes strings(sections_[names].contents, name + " (section names)");
  for (std::size_t i = 0; i < sections_.size(); ++i)
    sections_[i].name = strings.text(name_offsets[i], "a section's name");
}

const ElfSection* Elf::find(std::string_view name) const {
  const auto at = std::find_if(sections_.begin(), sections_.end(),
                               [&](const ElfSection& section) { return section.name == name; });
  return at == sections_.end() ? nullptr : &*at;
}

std::vector<ElfSymbol> Elf::symbols() const {
  std::vector<ElfSymbol> symbols;
  for (const ElfSection& section : sections_) {
    if (section.type != kSymbolTable) continue;
    if (section.link >= sections_.size())
      throw Error(bytes_.name() + ": its symbol table has no names");
    const Bytes table(section.contents, bytes_.name() + " (symbols)");
    const Bytes strings(sections_[section.link].contents, bytes_.name() + " (symbol names)");
    for (std::uint64_t at = 0; at + kSymbol <= table.size(); at += kSymbol) {
      ElfSymbol symbol;
      symbol.name = strings.text(table.number<std::uint32_t>(at, "a symbol"), "a symbol's name");
      const auto info = table.number<std::uint8_t>(at + 4, "a symbol");
      symbol.type = info & 15u;
      symbol.binding = info >> 4u;
      symbol.section = table.number<std::uint16_t>(at + 6, "a symbol");
      symbol.value = table.number<std::uint64_t>(at + 8, "a symbol");
      symbol.size = table.number<std::uint64_t>(at + 16, "a symbol");
      symbols.push_back(symbol);
    }
  }
  return symbols;
}

std::vector<ElfRelocation> Elf::relocations(const ElfSection& rela) const {
  std::vector<ElfRelocation> relocations;
  const Bytes table(rela.contents, bytes_.name() + " (" + std::string(rela.name) + ")");
  for (std::uint64_t at = 0; at + kRela <= table.size(); at += kRela) {
    const auto info = table.number<std::uint64_t>(at + 8, "a relocation");
    relocations.push_back({table.number<std::uint64_t>(at, "a relocation"),
                           static_cast<std::uint32_t>(info), static_cast<std::uint32_t>(info >> 32),
                           table.number<std::int64_t>(at + 16, "a relocation")});
  }
  return relocations;
}

} // namespace kg::identity
