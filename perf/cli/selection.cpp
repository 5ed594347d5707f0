// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/cli/selection.h"

#include "runtime/backend.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>
#include <string>
#include <utility>

namespace kg::cli {
namespace {

using perf::Operation;

bool among(const std::vector<std::string>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}
bool admits(const std::vector<std::string>& words, std::string_view word) {
  return words.empty() || among(words, word);
}

bool admits(const Filter& filter, const Operation& operation) {
  return admits(filter.ops, operation.name) && admits(filter.categories, operation.category);
}

bool lists(const Operation& operation, const std::string& shape) {
  return std::any_of(operation.shapes.begin(), operation.shapes.end(),
                     [&](const perf::ListedShape& listed) { return listed.text == shape; });
}

void require_known(const char* option, const std::vector<std::string>& words,
                   const std::set<std::string>& known, const char* what) {
  for (const std::string& word : words)
    if (!known.contains(word))
      throw UsageError(fmt::format("{} {}: no such {}; there are: {}", option, word, what,
                                   fmt::join(known, ", ")));
}

// The rows of one case in the order of its variants and the backend's modes.
void add_rows(const World& world, const Operation& operation, Dtype dtype,
              const perf::ListedShape& shape, bool listed, std::vector<Row>& rows) {
  const perf::Case description = operation.make(dtype, Shape::parse(shape.text));
  for (const perf::Variant& variant : description.variants) {
    if (!variant.timed && !world.untimed) continue;
    for (const judge::Mode mode : world.modes) {
      Row row;
      row.registered.op = operation.name;
      row.registered.dtype = name(dtype);
      row.registered.key = {perf::case_id(operation, dtype, shape.text), variant.name, mode};
      row.registered.category = operation.category;
      row.registered.kind = variant.vendor ? judge::Kind::vendor : judge::Kind::ours;
      row.registered.selected = false;
      row.fast = shape.fast;
      row.listed = listed;
      row.canary = description.kind;
      row.work = description.work;
      row.tf32 = description.tf32;
      row.automatic = description.automatic;
      row.interleaved = description.interleaved;
      row.note = variant.note;
      row.compiled_at_run_time = variant.compiled_at_run_time;
      row.make = variant.make;
      rows.push_back(std::move(row));
    }
  }
}

std::vector<Row> listed_rows(const World& world) {
  std::vector<Row> rows;
  for (const Operation& operation : world.operations)
    for (const Dtype dtype : operation.dtypes)
      for (const perf::ListedShape& shape : operation.shapes)
        add_rows(world, operation, dtype, shape, true, rows);
  return rows;
}

std::string listed_shapes(const Operation& operation) {
  std::vector<std::string> texts;
  for (const perf::ListedShape& shape : operation.shapes) texts.push_back(shape.text);
  return fmt::format("{}", fmt::join(texts, ", "));
}

// Shapes that none of the filter's operations lists: a single operation may still run them.
void add_unlisted_rows(const World& world, const Filter& filter, std::vector<Row>& rows,
                       std::vector<std::string>& untimed) {
  std::vector<const Operation*> chosen;
  for (const Operation& operation : world.operations)
    if (admits(filter, operation)) chosen.push_back(&operation);
  for (const std::string& shape : filter.shapes) {
    if (std::any_of(chosen.begin(), chosen.end(),
                    [&](const Operation* operation) { return lists(*operation, shape); }))
      continue;
    if (chosen.size() != 1)
      throw UsageError(fmt::format("--shape {}: no operation lists it; to try a shape of your own, "
                                   "say which operation by --op",
                                   shape));
    const Operation& operation = *chosen.front();
    for (const Dtype dtype : operation.dtypes) {
      const std::string id = perf::case_id(operation, dtype, shape);
      const bool there = std::any_of(rows.begin(), rows.end(), [&](const Row& row) {
        return row.registered.key.case_id == id;
      });
      if (there || !admits(filter.dtypes, name(dtype))) continue;
      try {
        const std::size_t before = rows.size();
        add_rows(world, operation, dtype, {shape, true}, false, rows);
        if (rows.size() == before) untimed.push_back(id);
      } catch (const Error& error) {
        throw UsageError(fmt::format("--shape {}: {}; listed are: {}", shape, error.what(),
                                     listed_shapes(operation)));
      }
    }
  }
}

bool chooses(const Filter& filter, const Row& row) {
  const judge::Registered& about = row.registered;
  const std::size_t prefix = about.op.size() + about.dtype.size() + 2;
  return admits(filter.ops, about.op) && admits(filter.categories, about.category) &&
         admits(filter.dtypes, about.dtype) &&
         admits(filter.shapes, std::string_view(about.key.case_id).substr(prefix)) &&
         admits(filter.variants, about.key.variant) &&
         admits(filter.modes, judge::name(about.key.mode)) && (!filter.fast || row.fast);
}

void require_known_words(const World& world, const std::vector<Row>& rows, const Filter& filter) {
  std::set<std::string> ops, categories, dtypes, variants, modes;
  for (const Operation& operation : world.operations) {
    ops.insert(operation.name);
    categories.insert(operation.category);
    for (const Dtype dtype : operation.dtypes) dtypes.emplace(name(dtype));
  }
  for (const Row& row : rows) variants.insert(row.registered.key.variant);
  for (const judge::Mode mode : world.modes) modes.emplace(judge::name(mode));
  require_known("--op", filter.ops, ops, "operation");
  require_known("--category", filter.categories, categories, "category");
  require_known("--dtype", filter.dtypes, dtypes, "type");
  require_known("--variant", filter.variants, variants, "variant");
  require_known("--mode", filter.modes, modes,
                backend == Backend::host ? "mode on the CPU emulator" : "mode yet");
}

} // namespace

Selection select(const World& world, const std::vector<Filter>& filters) {
  std::vector<Row> rows = listed_rows(world);
  Selection selection;
  for (const Filter& filter : filters) {
    require_known_words(world, rows, filter);
    add_unlisted_rows(world, filter, rows, selection.untimed);
    selection.partial = selection.partial || filter.fast || !filter.shapes.empty() ||
                        !filter.variants.empty() || !filter.modes.empty();
    for (const Operation& operation : world.operations)
      if (admits(filter, operation)) selection.ops.insert(operation.name);
  }
  for (Row& row : rows) {
    if (!selection.ops.contains(row.registered.op)) continue;
    row.registered.selected = std::any_of(filters.begin(), filters.end(),
                                          [&](const Filter& f) { return chooses(f, row); });
    selection.selected += row.registered.selected;
    if (row.listed || row.registered.selected) selection.rows.push_back(std::move(row));
  }
  return selection;
}

Filter filter_of(const judge::Measured& row) {
  const std::size_t prefix = row.op.size() + row.dtype.size() + 2; // the dots
  Filter filter;
  filter.ops = {row.op};
  filter.dtypes = {row.dtype};
  filter.shapes = {row.key.case_id.substr(prefix)};
  filter.variants = {row.key.variant};
  return filter;
}

std::vector<const Row*> each_row_once(const Selection& selection) {
  std::vector<const Row*> rows;
  std::set<std::pair<std::string, std::string>> seen;
  for (const Row& row : selection.rows) {
    const judge::RowKey& key = row.registered.key;
    if (row.registered.selected && seen.emplace(key.case_id, key.variant).second)
      rows.push_back(&row);
  }
  return rows;
}

std::string nothing_selected(const World& world) {
  std::string text = "no rows: each word names something, but nothing has all of them. There are:";
  for (const Operation& operation : world.operations) {
    std::vector<std::string_view> dtypes;
    for (const Dtype dtype : operation.dtypes) dtypes.push_back(name(dtype));
    text += fmt::format("\n  {} ({}): {}, {} shapes", operation.name, operation.category,
                        fmt::join(dtypes, " "), operation.shapes.size());
  }
  return text + "\nSee `kernelgrade list --op <op>`.";
}

void say_untimed(const World& world, const Selection& selection) {
  if (!selection.untimed.empty())
    world.err << fmt::format("not timed here, since no variant is short enough: {}\n",
                             fmt::join(selection.untimed, ", "));
}

std::vector<judge::Registered> registered(const Selection& selection) {
  std::vector<judge::Registered> result;
  for (const Row& row : selection.rows)
    if (row.listed) result.push_back(row.registered);
  return result;
}

} // namespace kg::cli
