// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda/binary/symbol_table.h"

#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace kg::emulate {

SymbolTable::SymbolTable(const char* path, Elf64_Word table) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  struct stat status {};
  if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
    const auto size = static_cast<std::size_t>(status.st_size);
    void* const bytes = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
    if (bytes != MAP_FAILED) {
      mapped_ = bytes;
      mapped_size_ = size;
      read(static_cast<const char*>(bytes), size, table);
      if (count_ == 0) release();
    }
  }
  close(file);
}

void SymbolTable::release() {
  if (mapped_) munmap(mapped_, mapped_size_);
  mapped_ = nullptr;
  symbols_ = nullptr;
  count_ = 0;
}

void SymbolTable::read(const char* bytes, std::size_t size, Elf64_Word wanted) {
  const auto holds = [&](std::uint64_t offset, std::uint64_t length, std::size_t alignment) {
    return offset <= size && length <= size - offset && offset % alignment == 0;
  };
  if (!holds(0, sizeof(Elf64_Ehdr), 1) || std::memcmp(bytes, ELFMAG, SELFMAG) != 0 ||
      bytes[EI_CLASS] != ELFCLASS64)
    return;
  const auto& header = *reinterpret_cast<const Elf64_Ehdr*>(bytes);
  if (header.e_shentsize != sizeof(Elf64_Shdr) ||
      !holds(header.e_shoff, header.e_shnum * sizeof(Elf64_Shdr), alignof(Elf64_Shdr)))
    return;
  const auto* const sections = reinterpret_cast<const Elf64_Shdr*>(bytes + header.e_shoff);
  for (int i = 0; i < header.e_shnum; ++i) {
    const Elf64_Shdr& table = sections[i];
    if (table.sh_type != wanted || table.sh_link >= header.e_shnum) continue;
    const Elf64_Shdr& names = sections[table.sh_link];
    if (!holds(table.sh_offset, table.sh_size, alignof(Elf64_Sym)) ||
        !holds(names.sh_offset, names.sh_size, 1) || names.sh_size == 0 ||
        bytes[names.sh_offset + names.sh_size - 1] != '\0')
      return;
    symbols_ = reinterpret_cast<const Elf64_Sym*>(bytes + table.sh_offset);
    count_ = table.sh_size / sizeof(Elf64_Sym);
    names_ = bytes + names.sh_offset;
    names_size_ = names.sh_size;
    return;
  }
}

const char* SymbolTable::name(const Elf64_Sym& symbol) const {
  return symbol.st_name < names_size_ ? names_ + symbol.st_name : "";
}

bool SymbolTable::is_function(const Elf64_Sym& symbol) {
  return ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_shndx != SHN_UNDEF;
}

const Elf64_Sym* SymbolTable::find(const char* name) const {
  for (const Elf64_Sym& symbol : *this)
    if (is_function(symbol) && std::strcmp(this->name(symbol), name) == 0) return &symbol;
  return nullptr;
}

std::size_t SymbolTable::room(const Elf64_Sym& function) const {
  std::uint64_t next = function.st_value + (std::uint64_t{1} << 20);
  for (const Elf64_Sym& symbol : *this)
    if (symbol.st_shndx == function.st_shndx && symbol.st_value > function.st_value &&
        symbol.st_value < next)
      next = symbol.st_value;
  return next - function.st_value;
}

} // namespace kg::emulate
