// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/support/case.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runtime/error.h"
#include "tests/oracle/random.h"

namespace kg::test {

CaseId::CaseId(std::string text) : text_(std::move(text)) {
  const bool legal = std::all_of(text_.begin(), text_.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.';
  });
  require(legal && !text_.empty(),
          fmt::format("case id '{}': use letters, digits, '_' and '.' only", text_));
}

std::string CaseId::dtype() const {
  const std::size_t start = op().size() + 1;
  return start > text_.size() ? "" : text_.substr(start, text_.find('.', start) - start);
}

std::string failure_context(const CaseContext& context) {
  const std::string strides = context.strides.empty()
                                  ? std::string("dense")
                                  : fmt::format("[{}]", fmt::join(context.strides, ", "));
  return fmt::format("  case   {}, variant {}, fill {}\n"
                     "  shape  [{}], strides {}, seed {}\n"
                     "  again  {}\n",
                     context.id.text(), context.variant, context.fill,
                     fmt::join(context.shape, ", "), strides, seed(), reproduction_command());
}

std::string from_project_root(std::string_view program) {
  const std::size_t build = program.rfind("/build/");
  return build == std::string_view::npos ? std::string(program)
                                         : "." + std::string(program.substr(build));
}

std::string reproduction_command() {
  std::error_code no_link;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", no_link);
  std::string command = fmt::format("KERNELGRADE_SEED={} ", seed());
  for (const char* name : {"KERNELGRADE_THREAD_ORDER", "KERNELGRADE_VIRTUAL_DEVICE"})
    if (const char* value = std::getenv(name)) command += fmt::format("{}={} ", name, value);
  command += no_link ? "<this test program>" : from_project_root(program.string());
  const testing::TestInfo* test = testing::UnitTest::GetInstance()->current_test_info();
  if (test != nullptr)
    command += fmt::format(" --gtest_filter={}.{}", test->test_suite_name(), test->name());
  return command;
}

namespace {

void enter(const Comparison& comparison, const CaseContext& context) {
  if (comparison.compared == 0) return;
  const VariantId id{context.id.op(), context.id.dtype(), context.variant};
  record(id, comparison.exact ? Evidence::exact : Evidence::oracle);
  if (comparison.special > 0) record(id, Evidence::special);
}

} // namespace

testing::AssertionResult verdict(const Comparison& comparison, const CaseContext& context) {
  enter(comparison, context);
  if (comparison.passed()) return testing::AssertionSuccess();
  return testing::AssertionFailure() << comparison.text() << failure_context(context);
}

testing::AssertionResult verdict(const VendorComparison& comparison, const CaseContext& context) {
  enter(comparison.ours, context);
  if (comparison.direct.compared > 0)
    record({context.id.op(), context.id.dtype(), context.variant}, Evidence::vendor);
  if (!comparison.passed())
    return testing::AssertionFailure() << comparison.text() << failure_context(context);
  if (comparison.vendor_inaccurate) {
    testing::Test::RecordProperty("vendor_inaccurate", context.id.text());
    fmt::print("{}{}", comparison.text(), failure_context(context));
  }
  return testing::AssertionSuccess();
}

} // namespace kg::test
