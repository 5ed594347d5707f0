// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Hashes an operation's machine code on the host, from its static library.
#pragma once

#include "perf/code/identity/elf.h"

#include <string>
#include <string_view>
#include <vector>

namespace kg::identity {

// Hash of the objects in a static library: contents of loaded sections except unwinding tables,
// relocations by symbol name, and symbols. Debug information, file names, dates and the order of
// members do not affect the hash. Throws Error with `file` and the defect.
std::string hash_archive(std::string_view archive, const std::string& file);

// Views of the objects in a static library, without the archive's own tables. Throws Error as
// hash_archive does.
std::vector<std::string_view> objects_in(std::string_view archive, const std::string& file);

// Whether the hash covers this section: loaded, and not an unwinding table.
bool is_code(const ElfSection& section);

// The hash of one relocatable object.
std::string hash_object(std::string_view object, const std::string& file);

} // namespace kg::identity
