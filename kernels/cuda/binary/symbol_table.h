// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <elf.h>

namespace kg::emulate {

// The symbols of a 64-bit ELF file (man 5 elf): all, SHT_SYMTAB, or those of the dynamic linker,
// SHT_DYNSYM, which a stripped file has, too. Empty if the file lacks the table, is damaged or of
// another kind. The file stays mapped until release() or the end of the process, so names stay
// valid. Uses only the C library.
class SymbolTable {
 public:
  explicit SymbolTable(const char* path, Elf64_Word table = SHT_SYMTAB);
  void release(); // unmaps the file; the table is then empty

  const Elf64_Sym* begin() const { return symbols_; }
  const Elf64_Sym* end() const { return symbols_ + count_; }
  const char* name(const Elf64_Sym& symbol) const; // "" if the table is damaged

  // A function that the file defines; null if there is none of this name.
  const Elf64_Sym* find(const char* name) const;
  static bool is_function(const Elf64_Sym& symbol);

  // Bytes from the start of a function to the next symbol in its section.
  std::size_t room(const Elf64_Sym& function) const;

 private:
  void read(const char* bytes, std::size_t size, Elf64_Word wanted);

  void* mapped_ = nullptr;
  std::size_t mapped_size_ = 0;
  const Elf64_Sym* symbols_ = nullptr;
  std::size_t count_ = 0;
  const char* names_ = nullptr;
  std::size_t names_size_ = 0;
};

} // namespace kg::emulate
