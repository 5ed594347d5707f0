// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/code/identity/object_code.h"

#include "perf/code/identity/elf.h"
#include "runtime/atomic_file.h"
#include "runtime/error.h"
#include "tests/unit/perf/code/identity/file.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace kg::identity {
namespace {

using test::contents_of;

std::string hash_of(const std::string& library) {
  return hash_archive(contents_of(library), library);
}

TEST(ObjectCode, TheSameCodeHasTheSameHash) {
  EXPECT_EQ(hash_of("debug.a"), hash_of("plain.a")) << "debug information is not code";
  EXPECT_EQ(hash_of("commented.a"), hash_of("plain.a")) << "nor is a comment";
  EXPECT_EQ(hash_of("elsewhere.a"), hash_of("plain.a")) << "nor the folder";
}

// They depend on what g++ has read before.
TEST(ObjectCode, TheNumbersOfTheCompilersOwnNamesDoNotMatter) {
  EXPECT_NE(contents_of("numbered.a"), contents_of("numbered_otherwise.a"));
  EXPECT_EQ(hash_of("numbered.a"), hash_of("numbered_otherwise.a"));
}

TEST(ObjectCode, AnotherConstantIsAnotherHash) {
  EXPECT_NE(hash_of("changed.a"), hash_of("plain.a"));
}

TEST(ObjectCode, TheOrderOfMembersDoesNotMatterButTheirNumberDoes) {
  EXPECT_NE(contents_of("two.a"), contents_of("two_reversed.a"));
  EXPECT_EQ(hash_of("two.a"), hash_of("two_reversed.a"));
  EXPECT_NE(hash_of("two.a"), hash_of("plain.a"));
}

// Its code is part of every row's identity on the host, and a row must be known in any folder.
TEST(ObjectCode, TheRuntimeDoesNotNameItsFolder) {
  const std::string library = *read_file(KERNELGRADE_RUNTIME_LIBRARY);
  std::size_t sections = 0;
  for (const std::string_view object : objects_in(library, "runtime")) {
    const Elf elf(object, "runtime");
    for (const ElfSection& section : elf.sections()) {
      if (!is_code(section)) continue;
      ++sections;
      const std::size_t at = section.contents.find(KERNELGRADE_SOURCE_FOLDER);
      EXPECT_EQ(at, section.contents.npos)
          << section.name << ": " << section.contents.substr(at, 100);
    }
  }
  EXPECT_GT(sections, 100u);
}

TEST(ObjectCode, BrokenFilesAreNamed) {
  EXPECT_THROW(hash_archive("no archive at all", "x.a"), Error);
  const std::string whole = contents_of("plain.a");
  for (const std::size_t size : {whole.size() / 2, whole.size() - 3, std::size_t{20}}) {
    try {
      hash_archive(whole.substr(0, size), "x.a");
      ADD_FAILURE() << "read " << size << " of " << whole.size() << " bytes";
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()).rfind("x.a", 0), 0u) << error.what();
    }
  }
}

TEST(Elf, ReadsSectionsSymbolsAndRelocations) {
  const std::string object = contents_of("plain.o");
  const Elf elf(object, "plain.o");
  ASSERT_NE(elf.find(".text"), nullptr);
  EXPECT_FALSE(elf.find(".text")->contents.empty());
  EXPECT_EQ(elf.find(".no_such_section"), nullptr);
  const std::vector<ElfSymbol> symbols = elf.symbols();
  const auto symbol = [&](std::string_view name) {
    return std::find_if(symbols.begin(), symbols.end(),
                        [&](const ElfSymbol& one) { return one.name == name; });
  };
  ASSERT_NE(symbol("_ZN2kg4tiny5scaleEf"), symbols.end());
  EXPECT_EQ(symbol("_ZN2kg4tiny5scaleEf")->type, 2u);
  ASSERT_NE(symbol("sinf"), symbols.end());
  EXPECT_EQ(symbol("sinf")->section, 0u);
  const ElfSection* rela = elf.find(".rela.text");
  ASSERT_NE(rela, nullptr);
  const auto relocations = elf.relocations(*rela);
  EXPECT_TRUE(std::any_of(relocations.begin(), relocations.end(), [&](const ElfRelocation& one) {
    return symbols.at(one.symbol).name == "sinf";
  }));
}

// Whatever is cut off or overwritten: an error or a result, never a read beyond the end (which the
// preset host-asan would show).
TEST(Elf, NoDamageMakesItReadBeyondTheEnd) {
  const std::string object = contents_of("plain.o");
  for (std::size_t at = 0; at < object.size(); at += 7) {
    for (const char damage : {'\0', '\x7f', '\xff'}) {
      std::string damaged = object;
      damaged[at] = damage;
      try {
        hash_object(std::string(damaged), "damaged.o");
      } catch (const Error&) {
      }
    }
    EXPECT_THROW(hash_object(object.substr(0, std::min(at, object.size() - 1)), "cut.o"), Error);
  }
}

} // namespace
} // namespace kg::identity
