// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/judge/sources_file.h"

#include "perf/format/csv.h"
#include "perf/format/schema.h"
#include "perf/judge/parts.h"
#include "runtime/atomic_file.h"
#include "runtime/error.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <utility>

namespace kg::judge {
namespace {

constexpr int kSourcesSchema = 1;

const Schema& sources_schema() {
  static const Schema schema = {"sources",
                                kSourcesSchema,
                                {{"op", an_id, true},
                                 {"compiler", any_text},
                                 {"commit", any_text},
                                 {"hash", an_id},
                                 {"files", any_text}}};
  return schema;
}

SourcesFile parse(const std::string& contents, const std::filesystem::path& path) {
  SourcesFile file{path, {}, ""};
  const Table table = read_table(sources_schema(), contents, path.string());
  if (!table.problems.empty()) file.problem = text(table.problems.front());
  for (const TableRow& row : table.rows)
    file.ops[row.fields[0]] = {row.fields[1], row.fields[2], row.fields[3],
                               parts_of(row.fields[4], ';')};
  return file;
}

} // namespace

SourcesFile load_sources(const std::filesystem::path& path) {
  try {
    const auto contents = read_file(path);
    return contents ? parse(*contents, path) : SourcesFile{path, {}, ""};
  } catch (const Error& error) {
    return {path, {}, error.what()};
  }
}

void save_sources(const SourcesFile& file) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& [op, sources] : file.ops)
    rows.push_back({op, sources.compiler, sources.commit, sources.hash,
                    fmt::format("{}", fmt::join(sources.files, ";"))});
  const std::string contents = write_table(sources_schema(), std::move(rows));
  const SourcesFile read = parse(contents, file.path);
  require(read.problem.empty() && read.ops == file.ops,
          fmt::format("{}: these sources could not be read again; {}", file.path.string(),
                      read.problem.empty() ? "names of files hold ';'" : read.problem));
  write_file(file.path, contents);
}

std::string drop_removed(SourcesFile& file, const std::filesystem::path& ops) {
  std::string text;
  std::erase_if(file.ops, [&](const auto& one) {
    const std::filesystem::path folder = ops / one.first;
    if (std::filesystem::is_directory(folder)) return false;
    text += fmt::format("{}: its line in {} is dropped, because there is no folder {}\n", one.first,
                        file.path.filename().string(), folder.string());
    return true;
  });
  return text;
}

void bless_sources(SourcesFile& file, const std::string& op, Sources now) {
  Sources& known = file.ops[op];
  if (known.hash == now.hash && known.compiler == now.compiler) now.commit = known.commit;
  known = std::move(now);
}

} // namespace kg::judge
