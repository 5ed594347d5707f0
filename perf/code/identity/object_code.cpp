// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/code/identity/object_code.h"

#include "runtime/hash.h"

#include <algorithm>
#include <charconv>
#include <vector>

namespace kg::identity {
namespace {

constexpr unsigned kSectionSymbol = 3; // STT_SECTION
constexpr unsigned kFileSymbol = 4;    // STT_FILE
constexpr unsigned kLocal = 0;         // STB_LOCAL

// The name without g++'s number of generated symbols ("CSWTCH.436"). Any other declaration in a
// header, or a precompiled header, changes that number.
std::string_view lasting_name(const ElfSymbol& symbol) {
  if (symbol.binding != kLocal) return symbol.name;
  const std::size_t digits = symbol.name.find_last_not_of("0123456789") + 1;
  const bool numbered = digits > 1 && digits < symbol.name.size() && symbol.name[digits - 1] == '.';
  return numbered ? symbol.name.substr(0, digits - 1) : symbol.name;
}

// Hashes a symbol's meaning, independent of its position in the tables.
void add_symbol(Hash& hash, const Elf& elf, const ElfSymbol& symbol) {
  const bool here = symbol.section > 0 && symbol.section < elf.sections().size();
  hash.field(here ? elf.sections()[symbol.section].name : std::string_view());
  if (symbol.type == kSectionSymbol) return;
  hash.field(lasting_name(symbol)).number(symbol.binding).number(symbol.value).number(symbol.size);
}

void add_relocations(Hash& hash, const Elf& elf, const ElfSection& rela,
                     const std::vector<ElfSymbol>& symbols, const std::string& file) {
  for (const ElfRelocation& relocation : elf.relocations(rela)) {
    if (relocation.symbol >= symbols.size())
      throw Error(file + ": a relocation of " + std::string(rela.name) +
                  " names no symbol; the file is broken");
    hash.number(relocation.offset).number(relocation.type);
    hash.number(static_cast<std::uint64_t>(relocation.addend));
    add_symbol(hash, elf, symbols[relocation.symbol]);
  }
}

} // namespace

bool is_code(const ElfSection& section) {
  return (section.flags & kAlloc) != 0 && section.name != ".eh_frame";
}

std::string hash_object(std::string_view object, const std::string& file) {
  const Elf elf(object, file);
  const std::vector<ElfSymbol> symbols = elf.symbols();
  Hash hash;
  for (const ElfSection& section : elf.sections()) {
    if (is_code(section)) hash.field(section.name).number(section.size).field(section.contents);
    if (section.type == kRelaTable && section.info < elf.sections().size() &&
        is_code(elf.sections()[section.info]))
      add_relocations(hash, elf, section, symbols, file);
  }
  for (const ElfSymbol& symbol : symbols) {
    const bool of_code = symbol.section == 0 || symbol.section >= elf.sections().size() ||
                         is_code(elf.sections()[symbol.section]);
    if (of_code && symbol.type != kSectionSymbol && symbol.type != kFileSymbol)
      add_symbol(hash, elf, symbol);
  }
  return hash.hex();
}

// A magic line. Then per member a header of 60 bytes, its contents, and padding to an even address.
// Members whose names begin with '/' are the archive's own tables, except "/<number>", which refers
// to a name in a table.
std::vector<std::string_view> objects_in(std::string_view archive, const std::string& file) {
  constexpr std::string_view kMagic = "!<arch>\n";
  constexpr std::uint64_t kHeader = 60;
  const Bytes bytes(archive, file);
  if (bytes.range(0, kMagic.size(), "the archive's magic") != kMagic)
    throw Error(file + ": it is not a static library");
  std::vector<std::string_view> objects;
  for (std::uint64_t at = kMagic.size(); at < bytes.size();) {
    const std::string_view header = bytes.range(at, kHeader, "a member's header");
    const std::string_view digits = header.substr(48, 10);
    std::uint64_t size = 0;
    if (std::from_chars(digits.data(), digits.data() + digits.size(), size).ec != std::errc())
      throw Error(file + ": a member's size is '" + std::string(digits) + "'; it is broken");
    const std::string_view contents = bytes.range(at + kHeader, size, "a member");
    const bool table = header[0] == '/' && !(header[1] >= '0' && header[1] <= '9');
    if (!table) objects.push_back(contents);
    at += kHeader + size + size % 2;
  }
  return objects;
}

std::string hash_archive(std::string_view archive, const std::string& file) {
  std::vector<std::string> hashes;
  for (const std::string_view object : objects_in(archive, file))
    hashes.push_back(hash_object(object, file));
  std::sort(hashes.begin(), hashes.end());
  Hash hash;
  for (const std::string& one : hashes) hash.field(one);
  return hash.hex();
}

} // namespace kg::identity
