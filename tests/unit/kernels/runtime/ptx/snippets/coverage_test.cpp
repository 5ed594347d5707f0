// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The table is whole: every form in the PTX that nvcc made of the kernels of this build has a
// snippet, and ptxas takes every snippet.
#include "runtime/atomic_file.h"
#include "runtime/environment.h"
#include "runtime/ptx/fatbin.h"
#include "runtime/ptx/module.h"
#include "runtime/temporary_folder.h"
#include "tests/unit/kernels/runtime/ptx/snippets/table.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <map>
#include <set>

namespace kg::test::snippets {
namespace {

namespace fs = std::filesystem;

// Where each form was met first.
std::map<std::string, std::string> forms_of(const fs::path& folder) {
  std::map<std::string, std::string> forms;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".fatbin") continue;
    const std::string file = read_file(entry.path()).value();
    for (const FatbinEntry& code : read_fatbin(file, entry.path().string())) {
      if (code.kind != FatbinEntry::Kind::ptx) continue;
      const ptx_run::Module module = ptx_run::parse(code.ptx(), entry.path().stem().string());
      for (const auto* const list : {&module.entries, &module.functions})
        for (const ptx_run::Entry& kernel : *list)
          for (const ptx_run::Statement& each : kernel.statements)
            if (each.kind == ptx_run::Statement::Kind::instruction)
              forms.emplace(each.instruction.opcode,
                            fmt::format("{}, line {}, {}", entry.path().string(),
                                        each.instruction.ptx_line, kernel.name));
    }
  }
  return forms;
}

TEST(InstructionTable, HasEveryFormOfTheKernels) {
  const fs::path folder = KERNELGRADE_FATBINS;
  const std::string nvcc = KERNELGRADE_PTXAS;
  const std::map<std::string, std::string> used =
      fs::is_directory(folder) ? forms_of(folder) : std::map<std::string, std::string>();
  if (used.empty()) {
    const std::string why =
        nvcc.empty() ? "nvcc not found, which compiles kernels"
                     : "no fat binary is in " + folder.string() + "; build the target fatbins";
    if (is_set("KERNELGRADE_STRICT") || !nvcc.empty()) FAIL() << why;
    GTEST_SKIP() << why;
  }
  std::set<std::string> known;
  for (const Snippet& each : table()) known.insert(each.form);
  for (const auto& [form, why] : exempt()) {
    EXPECT_FALSE(why.empty()) << form;
    EXPECT_TRUE(known.insert(form).second) << form << " has a snippet and is exempt as well";
  }
  for (const auto& [form, place] : used)
    EXPECT_TRUE(known.contains(form)) << form << " has no snippet (" << place << ")";
  std::printf("%zu forms in the kernels, %zu snippets, %zu exempt\n", used.size(), table().size(),
              exempt().size());
}

TEST(InstructionTable, IsTakenByPtxas) {
  const std::string ptxas = KERNELGRADE_PTXAS;
  if (ptxas.empty()) {
    const std::string why = "ptxas not found; it comes with the CUDA toolkit";
    if (is_set("KERNELGRADE_STRICT")) FAIL() << why;
    GTEST_SKIP() << why;
  }
  const TemporaryFolder folder;
  for (const int target : {80, 90}) {
    std::vector<const Snippet*> chosen;
    for (const Snippet& each : table())
      if (each.target == target) chosen.push_back(&each);
    const fs::path text = folder.path() / fmt::format("sm_{}.ptx", target);
    write_file(text, module_of(chosen));
    const std::string command =
        fmt::format("'{}' -O0 -arch=sm_{} -o /dev/null '{}' 2>&1", ptxas, target, text.string());
    FILE* const pipe = popen(command.c_str(), "r");
    ASSERT_NE(pipe, nullptr);
    std::string said;
    for (char line[512]; std::fgets(line, sizeof line, pipe) != nullptr;) said += line;
    EXPECT_EQ(pclose(pipe), 0) << said;
  }
}

} // namespace
} // namespace kg::test::snippets
