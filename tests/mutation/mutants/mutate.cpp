// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/mutation/mutants/mutate.h"

#include <algorithm>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "runtime/atomic_file.h"
#include "runtime/error.h"
#include "tests/mutation/mutants/whole.h"

namespace kg::mutants {

namespace {

struct Edit {
  Place place;
  std::size_t number;
};

// Outer before inner.
bool comes_before(const Edit& a, const Edit& b) {
  if (a.place.begin != b.place.begin) return a.place.begin < b.place.begin;
  return a.place.end > b.place.end;
}

std::string opening(const Mutant& m, std::size_t number) {
  // On one line, so that the original's lines keep their numbers.
  std::string code = m.mutant;
  std::replace(code.begin(), code.end(), '\n', ' ');
  return m.kind() == Kind::expression
             ? fmt::format("(kg::mutant({}) ? ({}) : (", number, code)
             : fmt::format("{{if (kg::mutant({})) {{{}}} else {{", number, code);
}

std::string_view closing(const Mutant& m) { return m.kind() == Kind::expression ? "))" : "}}"; }

std::vector<Edit> edits_of(std::string_view source, const std::string& file,
                           const std::vector<Mutant>& mutants) {
  std::vector<Edit> edits;
  for (std::size_t i = 0; i < mutants.size(); ++i) {
    if (mutants[i].file != file) continue;
    const Place place = find_original(source, mutants[i]);
    const std::string why = why_not_whole(source, place, mutants[i].kind());
    require(why.empty(),
            fmt::format("{}:{}: the original of mutant \"{}\" cannot stand by itself: {}: {}", file,
                        line_of(source, place.begin), mutants[i].name, why, mutants[i].original));
    edits.push_back({place, i});
  }
  std::stable_sort(edits.begin(), edits.end(), comes_before);
  return edits;
}

} // namespace

std::string mutated(std::string_view source, const std::string& file, const std::string& shown,
                    const std::vector<Mutant>& mutants) {
  std::string text =
      fmt::format("#include \"tests/mutation/mutants/switch.h\"\n#line 1 \"{}\"\n", shown);
  std::vector<Edit> open;
  std::size_t copied = 0;
  const auto copy_to = [&](std::size_t end) {
    text += source.substr(copied, end - copied);
    copied = end;
  };
  const auto close_until = [&](std::size_t begin) {
    while (!open.empty() && open.back().place.end <= begin) {
      copy_to(open.back().place.end);
      text += closing(mutants[open.back().number]);
      open.pop_back();
    }
  };
  for (const Edit& edit : edits_of(source, file, mutants)) {
    close_until(edit.place.begin);
    require(open.empty() || edit.place.end <= open.back().place.end,
            fmt::format("{}: the originals of \"{}\" and \"{}\" overlap in part", file,
                        open.empty() ? "" : mutants[open.back().number].name,
                        mutants[edit.number].name));
    copy_to(edit.place.begin);
    text += opening(mutants[edit.number], edit.number);
    open.push_back(edit);
  }
  close_until(source.size());
  copy_to(source.size());
  return text;
}

std::string names_source(const std::vector<Mutant>& mutants) {
  std::string names;
  for (const Mutant& mutant : mutants) names += fmt::format("    \"{}\",\n", mutant.name);
  return fmt::format("#include \"tests/mutation/mutants/switch.h\"\n\n"
                     "const int kg::active_mutant = kg::choose_mutant({{\n{}}});\n",
                     names);
}

void write_mutated(const std::vector<Mutant>& mutants, const std::filesystem::path& kernels,
                   const std::filesystem::path& out) {
  std::set<std::string> files;
  for (const Mutant& mutant : mutants) files.insert(mutant.file);
  for (const std::string& file : files) {
    const std::filesystem::path path = kernels / file;
    const std::optional<std::string> source = read_file(path);
    require(source.has_value(), path.string() + " is missing; a spec's files are in kernels/");
    write_file(out / file, mutated(*source, file, path.string(), mutants));
  }
  write_file(out / "names.cpp", names_source(mutants));
}

} // namespace kg::mutants
