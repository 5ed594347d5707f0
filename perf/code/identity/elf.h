// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Sections, symbols and relocations of a 64-bit little-endian ELF file: relocatable objects,
// executables and cubins. Layout: System V gABI, chapters 4 and 5.
#pragma once

#include "runtime/bytes.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kg::identity {

inline constexpr std::uint32_t kSymbolTable = 2; // SHT_SYMTAB
inline constexpr std::uint32_t kRelaTable = 4;   // SHT_RELA
inline constexpr std::uint32_t kNoBits = 8;      // SHT_NOBITS
inline constexpr std::uint64_t kAlloc = 2;       // SHF_ALLOC

struct ElfSection {
  std::string_view name;
  std::uint32_t type = 0;
  std::uint64_t flags = 0;
  std::uint64_t size = 0;
  std::uint32_t link = 0;
  std::uint32_t info = 0;
  std::string_view contents; // empty for SHT_NOBITS
};

struct ElfSymbol {
  std::string_view name;
  unsigned type = 0;         // STT_OBJECT 1, STT_FUNC 2, STT_SECTION 3, STT_FILE 4
  unsigned binding = 0;      // STB_LOCAL 0, STB_GLOBAL 1, STB_WEAK 2
  std::uint32_t section = 0; // index, or 0 (undefined), 0xfff1 (absolute), 0xfff2 (common)
  std::uint64_t value = 0;
  std::uint64_t size = 0;
};

struct ElfRelocation {
  std::uint64_t offset = 0;
  std::uint32_t type = 0;
  std::uint32_t symbol = 0; // index
  std::int64_t addend = 0;
};

// Views into memory that must outlive them. Every function checks bounds, and throws Error with the
// file and the defect instead of reading past the end.
class Elf {
 public:
  Elf(std::string_view bytes, const std::string& name);

  const std::vector<ElfSection>& sections() const { return sections_; }
  const ElfSection* find(std::string_view name) const; // the first with this name, or null
  std::vector<ElfSymbol> symbols() const;              // empty if there is no symbol table
  std::vector<ElfRelocation> relocations(const ElfSection& rela) const;

 private:
  Bytes bytes_;
  std::vector<ElfSection> sections_;
};

} // namespace kg::identity
