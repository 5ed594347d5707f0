// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/mutation/mutants/ptx_mutants.h"

#include "runtime/atomic_file.h"
#include "runtime/error.h"
#include "runtime/ptx/fatbin.h"

namespace kg::mutants {

namespace fs = std::filesystem;

std::string ptx_of(const fs::path& fatbin) {
  const auto file = read_file(fatbin);
  require(file.has_value(), fatbin.string() + " is missing: build the target fatbins");
  for (const FatbinEntry& entry : read_fatbin(*file, fatbin.string()))
    if (entry.kind == FatbinEntry::Kind::ptx) return std::string(entry.ptx());
  fail(fatbin.string() + " holds no PTX");
}

void write_mutated(const fs::path& folder, const Mutant& mutant, const fs::path& out) {
  const fs::path changed = fs::canonical(folder) / mutant.file;
  fs::create_directories(out);
  std::size_t kept = 0; // files of several operations may have the same name
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(fs::canonical(folder)))
    if (entry.path().extension() == ".fatbin" && entry.path() != changed)
      fs::create_symlink(entry.path(), out / (std::to_string(kept++) + ".fatbin"));
  std::string text = ptx_of(changed);
  const Place place = find_original(text, mutant);
  text.replace(place.begin, place.end - place.begin, mutant.mutant);
  write_file(out / (changed.stem().string() + ".ptx"), text);
}

} // namespace kg::mutants
