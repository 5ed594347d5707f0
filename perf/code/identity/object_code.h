// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The machine code of an op on the host: what its static library would put into a program.
#pragma once

#include "perf/code/identity/elf.h"

#include <string>
#include <string_view>
#include <vector>

namespace kg::identity {

// Of the objects in a static library: contents of the sections that are loaded (but not of the
// unwinding tables), relocations by the names of their symbols, and the symbols. Debug information,
// file names, dates and the order of the members do not matter. Throws Error naming `file` and
// what is broken.
std::string hash_archive(std::string_view archive, const std::string& file);

// The objects in a static library, as views into it, without the archive's own tables. Throws Error
// as hash_archive does.
std::vector<std::string_view> objects_in(std::string_view archive, const std::string& file);

// Whether a section is part of what is hashed: loaded, and no unwinding table.
bool is_code(const ElfSection& section);

// The same of one relocatable object.
std::string hash_object(std::string_view object, const std::string& file);

} // namespace kg::identity
