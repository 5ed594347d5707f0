// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// kernelgrade list: lists what can be measured. Needs no device.
#include "perf/cli/commands.h"
#include "perf/cli/cost_shares.h"
#include "perf/cli/selection.h"
#include "perf/format/table.h"
#include "perf/lab/layers/layers.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ostream>

namespace kg::cli {
namespace {

// A case with its selected variants and modes.
struct Entry {
  const Row* first;
  std::vector<std::string> variants;
  std::vector<std::string_view> modes;
};

template <class T>
void add_once(std::vector<T>& list, const T& item) {
  if (std::find(list.begin(), list.end(), item) == list.end()) list.push_back(item);
}

int list_models(std::ostream& out) {
  judge::TextTable table({"model", "layers", "hidden", "heads", "kv heads", "depth", "intermediate",
                          "experts", "vocab", "type", "source"});
  for (const layers::Model& m : layers::models()) {
    std::vector<std::string> cells = {m.name};
    for (const std::int64_t number :
         {m.layers, m.hidden, m.heads, m.kv_heads, m.depth, m.intermediate, m.experts, m.vocab})
      cells.push_back(fmt::format("{}", number));
    cells.insert(cells.end(), {m.dtype, m.source});
    table.add(cells);
  }
  out << table.plain();
  return judge::kExitPass;
}

} // namespace

int list(const Options& options, World& world) {
  if (options.list_models) return list_models(world.out);
  if (options.list_shares) return list_shares(options, world);
  const Selection selection = select(world, options.filters);
  if (selection.selected == 0) throw Error(nothing_selected(world));
  say_untimed(world, selection);
  std::vector<Entry> entries; // rows of a case are adjacent
  for (const Row& row : selection.rows) {
    const judge::Registered& about = row.registered;
    if (!about.selected) continue;
    if (entries.empty() || entries.back().first->registered.key.case_id != about.key.case_id)
      entries.push_back({&row, {}, {}});
    const bool vendor = about.kind == judge::Kind::vendor;
    add_once(entries.back().variants, about.key.variant + (vendor ? "*" : ""));
    add_once(entries.back().modes, judge::name(about.key.mode));
  }
  judge::TextTable table({"case", "variants (* vendor's)", "modes", "category", "canary", ""});
  for (const Entry& entry : entries) {
    const Row& row = *entry.first;
    table.add({row.registered.key.case_id, fmt::format("{}", fmt::join(entry.variants, " ")),
               fmt::format("{}", fmt::join(entry.modes, " ")), row.registered.category,
               std::string(kg::name(row.canary)),
               !row.listed ? "ad hoc"
               : row.fast  ? "fast"
                           : ""});
  }
  world.out << table.plain()
            << fmt::format("{} cases, {} rows\n", entries.size(), selection.selected);
  return judge::kExitPass;
}

} // namespace kg::cli
