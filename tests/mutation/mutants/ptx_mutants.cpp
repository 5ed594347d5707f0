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
  const fs::path all = fs::canonical(folder);
  const fs::path changed = all / mutant.file;
  // In the same folders, because the executor compiles a folder's kernels together.
  const auto place_in_out = [&](const fs::path& path) {
    const fs::path place = out / path.lexically_relative(all);
    fs::create_directories(place.parent_path());
    return place;
  };
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(all))
    if (entry.path().extension() == ".fatbin" && entry.path() != changed)
      fs::create_symlink(entry.path(), place_in_out(entry.path()));
  std::string text = ptx_of(changed);
  const Place place = find_original(text, mutant);
  text.replace(place.begin, place.end - place.begin, mutant.mutant);
  write_file(place_in_out(changed).replace_extension(".ptx"), text);
}

} // namespace kg::mutants
