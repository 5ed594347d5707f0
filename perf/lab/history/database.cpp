// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/lab/history/database.h"

#include "perf/format/schema.h"
#include "perf/format/sinks.h"
#include "runtime/atomic_file.h"
#include "runtime/error.h"

#include <chrono>
#include <fmt/format.h>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <sqlite3.h>

namespace kg::history {

// One prepared statement; values are bound by position, from 1 on.
class Database::Statement {
 public:
  Statement(const Database& database, const char* sql) : database_(database) {
    check(sqlite3_prepare_v2(database.connection_, sql, -1, &statement_, nullptr));
  }
  ~Statement() { sqlite3_finalize(statement_); }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  template <class... Values>
  Statement& with(const Values&... values) {
    check(sqlite3_reset(statement_));
    int place = 0;
    (bind(++place, values), ...);
    return *this;
  }
  // Whether there is a row.
  bool step() {
    const int code = sqlite3_step(statement_);
    if (code != SQLITE_ROW && code != SQLITE_DONE) check(code);
    return code == SQLITE_ROW;
  }
  std::string text(int column) const {
    const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
    return text ? text : "";
  }
  double number(int column) const { return sqlite3_column_double(statement_, column); }

 private:
  void bind(int place, const std::string& text) {
    check(sqlite3_bind_text(statement_, place, text.c_str(), -1, SQLITE_TRANSIENT));
  }
  void bind(int place, double number) { check(sqlite3_bind_double(statement_, place, number)); }
  void bind(int place, std::int64_t number) {
    check(sqlite3_bind_int64(statement_, place, number));
  }
  void check(int code) const {
    require(code == SQLITE_OK,
            fmt::format("{}: SQLite: {}", database_.file_, sqlite3_errmsg(database_.connection_)));
  }

  const Database& database_;
  sqlite3_stmt* statement_ = nullptr;
};

// Rolls back at the end of its scope unless committed.
class Database::Transaction {
 public:
  explicit Transaction(const Database& database) : database_(database) {
    database_.execute("BEGIN");
  }
  // If SQLite has already rolled back, as on a full disk, this has no effect, and the error has
  // been reported.
  ~Transaction() {
    if (!committed_) sqlite3_exec(database_.connection_, "ROLLBACK", nullptr, nullptr, nullptr);
  }
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  void commit() {
    database_.execute("COMMIT");
    committed_ = true;
  }

 private:
  const Database& database_;
  bool committed_ = false;
};

namespace {

// Returns at most `most` bytes; none if there is no file.
std::string first_bytes(const std::filesystem::path& file, std::size_t most) {
  std::ifstream stream(file, std::ios::binary);
  std::string bytes(most, '\0');
  stream.read(bytes.data(), static_cast<std::streamsize>(most));
  bytes.resize(static_cast<std::size_t>(stream.gcount()));
  return bytes;
}

// "2026-01-31" or "2026-01-31T23:59:59Z": a valid day and time.
bool is_utc(const std::string& text) {
  static const std::regex kForm(R"((\d{4})-(\d\d)-(\d\d)(T([01]\d|2[0-3]):[0-5]\d:[0-5]\dZ)?)");
  std::smatch parts;
  if (!std::regex_match(text, parts, kForm)) return false;
  return std::chrono::year_month_day(std::chrono::year(std::stoi(parts[1])),
                                     std::chrono::month(static_cast<unsigned>(std::stoi(parts[2]))),
                                     std::chrono::day(static_cast<unsigned>(std::stoi(parts[3]))))
      .ok();
}

// A row's time; nlohmann's get would accept any number.
double positive(const nlohmann::json& row, const char* member, const std::string& file) {
  const double value = row.at(member).get<double>();
  require(value > 0 && value <= judge::kGreatest,
          fmt::format("{}: {} of {} is {}, no time; measure again", file, member,
                      row.at("case").get<std::string>(), value));
  return value;
}

constexpr const char* kTables = R"(
  CREATE TABLE IF NOT EXISTS runs (
    id INTEGER PRIMARY KEY, source TEXT NOT NULL, date_utc TEXT NOT NULL, device TEXT NOT NULL,
    driver TEXT NOT NULL, environment TEXT NOT NULL, UNIQUE (source, date_utc, device));
  CREATE TABLE IF NOT EXISTS points (
    run INTEGER NOT NULL REFERENCES runs (id), case_id TEXT NOT NULL, variant TEXT NOT NULL,
    mode TEXT NOT NULL, median_ns REAL NOT NULL, ci_lo_ns REAL NOT NULL, ci_hi_ns REAL NOT NULL,
    baseline_ns REAL NOT NULL, verdict TEXT NOT NULL, identity TEXT NOT NULL,
    PRIMARY KEY (case_id, variant, mode, run)) WITHOUT ROWID;
)";

// The driver's version: "580.65.06" from the kernel module's line, which not every container shows;
// else the CUDA version that the driver supports, "13.0". Empty on the host.
std::string driver_of(const nlohmann::json& environment) {
  // Only the beginning: std::regex uses stack for every matching character.
  const std::string module = environment.value("nvidia_module", std::string()).substr(0, 1000);
  std::smatch version;
  if (std::regex_search(module, version, std::regex(R"(\d+(\.\d+)+)"))) return version.str();
  return environment.value("cuda_driver", std::string());
}

// "NVIDIA H200", or on the host "Intel(R) Xeon(R) Processor, 2 cores".
std::string machine_of(const nlohmann::json& environment) {
  const auto known = [&](const char* key) { return environment.value(key, std::string()); };
  if (known("device") != "host") return known("device_name");
  return known("cores").empty() ? known("cpu")
                                : fmt::format("{}, {} cores", known("cpu"), known("cores"));
}

} // namespace

Database::Database(const std::filesystem::path& file) : file_(file.string()) {
  require_writable(file); // SQLite would wait for the other end of a pipe
  // SQLite would also turn any file that is too short into a database.
  constexpr std::string_view kHeader("SQLite format 3", 16); // including the NUL
  const std::string begin = first_bytes(file, kHeader.size());
  require(
      begin.empty() || begin == kHeader,
      fmt::format("{}: it is not a database; name one that `kernelgrade history import` made, or a "
                  "new name",
                  file_));
  if (file.has_parent_path()) std::filesystem::create_directories(file.parent_path());
  const int code = sqlite3_open(file_.c_str(), &connection_);
  try {
    require(code == SQLITE_OK, fmt::format("{}: SQLite: {}", file_, sqlite3_errmsg(connection_)));
    Statement version(*this, "PRAGMA user_version");
    version.step();
    require(version.number(0) <= kDatabaseSchema,
            fmt::format("{}: schema {} is newer than this program's {}; use a newer kernelgrade",
                        file_, version.text(0), kDatabaseSchema));
    execute(kTables);
    execute(fmt::format("PRAGMA user_version = {}", kDatabaseSchema));
  } catch (...) {
    sqlite3_close(connection_);
    throw;
  }
}

Database::~Database() { sqlite3_close(connection_); }

void Database::execute(const std::string& sql) const {
  const int code = sqlite3_exec(connection_, sql.c_str(), nullptr, nullptr, nullptr);
  require(code == SQLITE_OK, // checked first: the message belongs to the previous call
          fmt::format("{}: SQLite: {}", file_, sqlite3_errmsg(connection_)));
}

bool Database::import(const std::filesystem::path& path) {
  const auto text = read_file(path);
  require(text.has_value(), fmt::format("{} does not exist; name a report.json", path.string()));
  nlohmann::json report;
  try {
    report = nlohmann::json::parse(*text);
  } catch (const nlohmann::json::exception& error) {
    fail(fmt::format("{}: {}", path.string(), error.what()));
  }
  require(report.is_object() && report.contains("rows") && report.contains("environment"),
          fmt::format("{}: no rows and no environment; name a report.json", path.string()));
  const auto environment = report["environment"];
  const auto known = [&](const char* key) { return environment.value(key, std::string()); };
  for (const char* key : {"source", "date_utc", "device"})
    require(!known(key).empty(),
            fmt::format("{}: the environment has no \"{}\"; measure again", path.string(), key));
  require(is_utc(known("date_utc")),
          fmt::format("{}: the environment's date_utc is \"{}\", no time such as "
                      "2026-01-31T12:00:00Z; measure again",
                      path.string(), known("date_utc")));
  try {
    Transaction transaction(*this);
    Statement run(*this,
                  "INSERT OR IGNORE INTO runs (source, date_utc, device, driver, environment) "
                  "VALUES (?, ?, ?, ?, ?)");
    run.with(known("source"), known("date_utc"), known("device"), driver_of(environment),
             judge::for_json(environment))
        .step();
    const bool is_new = sqlite3_changes(connection_) > 0;
    const std::int64_t id = sqlite3_last_insert_rowid(connection_);
    Statement point(*this, "INSERT INTO points VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    for (const auto& row : report["rows"]) {
      if (!is_new || !row.contains("median_ns")) continue;
      point
          .with(id, row.at("case").get<std::string>(), row.at("variant").get<std::string>(),
                row.at("mode").get<std::string>(), positive(row, "median_ns", path.string()),
                positive(row, "ci_lo_ns", path.string()), positive(row, "ci_hi_ns", path.string()),
                row.value("baseline_ns", 0.0) == 0 ? 0.0
                                                   : positive(row, "baseline_ns", path.string()),
                row.at("verdict").get<std::string>(), row.value("identity", std::string()))
          .step();
    }
    transaction.commit();
    return is_new;
  } catch (const nlohmann::json::exception& error) {
    fail(fmt::format("{}: {}", path.string(), error.what()));
  }
}

std::size_t Database::prune(std::size_t most) {
  std::vector<std::int64_t> older;
  {
    Transaction transaction(*this);
    Statement runs(*this, "SELECT id FROM runs ORDER BY date_utc DESC, id DESC LIMIT -1 OFFSET ?");
    for (runs.with(static_cast<std::int64_t>(most)); runs.step();)
      older.push_back(static_cast<std::int64_t>(runs.number(0)));
    Statement points(*this, "DELETE FROM points WHERE run = ?");
    Statement run(*this, "DELETE FROM runs WHERE id = ?");
    for (const std::int64_t id : older) {
      points.with(id).step();
      run.with(id).step();
    }
    transaction.commit();
  }
  if (!older.empty()) execute("VACUUM");
  return older.size();
}

std::vector<Series> Database::series(const std::string& case_part,
                                     const std::string& variant) const {
  Statement query(*this, "SELECT DISTINCT case_id, variant, mode, device FROM points JOIN runs ON "
                         "run = id WHERE instr(case_id, ?) > 0 AND (? = '' OR variant = ?) "
                         "ORDER BY case_id, variant, mode, device");
  query.with(case_part, variant, variant);
  std::vector<Series> found;
  while (query.step())
    found.push_back({query.text(0), query.text(1), query.text(2), query.text(3)});
  return found;
}

const std::string& Database::machine_of(std::int64_t run) const {
  const auto [at, is_new] = machines_.try_emplace(run);
  if (!is_new) return at->second;
  Statement query(*this, "SELECT environment FROM runs WHERE id = ?");
  if (query.with(run).step())
    at->second = history::machine_of(nlohmann::json::parse(query.text(0)));
  return at->second;
}

std::vector<Point> Database::points(const Series& series) const {
  Statement query(
      *this,
      "SELECT date_utc, source, device, driver, median_ns, ci_lo_ns, ci_hi_ns, "
      "baseline_ns, verdict, identity, run FROM points JOIN runs ON run = id WHERE case_id = "
      "? AND variant = ? AND mode = ? AND device = ? ORDER BY date_utc, id");
  query.with(series.case_id, series.variant, series.mode, series.device);
  std::vector<Point> points;
  while (query.step())
    points.push_back({query.text(0), query.text(1), query.text(2),
                      machine_of(static_cast<std::int64_t>(query.number(10))), query.text(3),
                      query.number(4), query.number(5), query.number(6), query.number(7),
                      query.text(8), query.text(9)});
  return points;
}

} // namespace kg::history
