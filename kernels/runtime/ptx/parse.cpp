// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/error.h"
#include "runtime/host/virtual_device.h"
#include "runtime/murmur_hash.h"
#include "runtime/ptx/lexer.h"
#include "runtime/ptx/module.h"

#include <array>
#include <cctype>
#include <charconv>
#include <fmt/format.h>
#include <map>
#include <utility>

namespace kg::ptx_run {
namespace {

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(separator, at), text.size());
    parts.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

class Parser : private Lexer {
 public:
  // Positions of entries, by name. A parser given such a map fills it, and skips the bodies.
  using Places = std::map<std::string, Mark, std::less<>>;

  Parser(std::string_view text, const std::string& name, Places* unread = nullptr)
      : Lexer(text, name), unread_(unread) {
    module_.name = name;
    module_.id = MurmurHash().field(text).hex();
  }

  // Continues after another parser, which has read everything except the entries.
  Parser(std::string_view text, Module module)
      : Lexer(text, module.name), module_(std::move(module)) {}

  Module run() {
    while (skip_space()) directive();
    return std::move(module_);
  }

  Module run(const Mark& at) {
    go_to(at);
    entry();
    return std::move(module_);
  }

 private:
  // --- Module level

  void directive() {
    const std::string first = word();
    if (first == ".version" || first == ".address_size" || first == ".pragma") {
      rest_of_line();
    } else if (first == ".target") {
      module_.target = word();
      rest_of_line();
    } else if (first == ".file") {
      const auto index = static_cast<int>(number());
      expect('"');
      std::string path;
      while (peek() != '"') path += take();
      module_.files[index] = path;
      rest_of_line();
    } else if (first == ".section") {
      word();
      skip_braces();
    } else {
      declaration(first);
    }
  }

  void declaration(std::string keyword) {
    bool external = false;
    while (keyword == ".visible" || keyword == ".extern" || keyword == ".weak" ||
           keyword == ".common") {
      external |= keyword == ".extern";
      keyword = word();
    }
    if (keyword == ".entry") return entry();
    if (keyword == ".func") return function();
    if (keyword == ".global" || keyword == ".const" || keyword == ".shared") {
      module_.variables.push_back(variable(keyword.substr(1), external));
      return;
    }
    refuse("the directive " + keyword + " is not known");
  }

  // .func (.param .b32 func_retval0) name(.param .b64 name_param_0) { ... }, or a declaration.
  void function() {
    Entry function;
    skip_space();
    if (accept('(')) parameters(function.results);
    function.name = word();
    if (accept('(')) parameters(function.parameters);
    while (skip_space() && peek() != '{' && peek() != ';') take(); // .noreturn and similar
    if (accept(';')) return;
    body(function);
    module_.functions.push_back(std::move(function));
  }

  void parameters(std::vector<Parameter>& list) {
    while (!accept(')')) {
      list.push_back(parameter());
      accept(',');
    }
  }

  Variable variable(const std::string& space, bool external) {
    Variable result;
    result.space = space;
    result.external = external;
    std::string at = word();
    for (; at.starts_with("."); at = word()) {
      if (at == ".align")
        result.alignment = static_cast<std::size_t>(number());
      else if (const std::string type = at.substr(1); size_of(type) != 0)
        result.type = type;
      else if (at == ".attribute") // .managed: the host reads all memory
        skip_brackets();
      else
        refuse("a variable with " + at + " is not executed");
    }
    result.name = at;
    std::size_t count = 1;
    while (accept('[')) {
      count *= peek() == ']' ? 0 : static_cast<std::size_t>(number());
      expect(']');
    }
    result.bytes = count * size_of(result.type);
    result.alignment = std::max(result.alignment, size_of(result.type));
    if (accept('=')) initialiser(result);
    expect(';');
    return result;
  }

  void initialiser(Variable& variable) {
    const bool list = accept('{');
    do variable.values.push_back(operand_text());
    while (list && accept(','));
    if (list) expect('}');
  }

  std::string operand_text() {
    skip_space();
    std::string text;
    while (peek() != ',' && peek() != '}' && peek() != ';') text += take();
    while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0)
      text.pop_back();
    return text;
  }

  // .reqnctapercluster 2, 1, 1, without blanks; omitted extents are 1.
  std::optional<std::array<unsigned, 3>> cluster_of(std::string_view directives) const {
    constexpr std::string_view kName = ".reqnctapercluster";
    const std::size_t at = directives.find(kName);
    if (at == std::string_view::npos) return std::nullopt;
    std::string_view left = directives.substr(at + kName.size());
    std::array<unsigned, 3> extents = {1, 1, 1};
    for (unsigned& extent : extents) {
      const auto [end, error] = std::from_chars(left.data(), left.data() + left.size(), extent);
      if (error != std::errc{} || extent < 1 || extent > unsigned{host::kMaxClusterBlocks})
        refuse(fmt::format("a cluster has 1 to {} blocks", host::kMaxClusterBlocks));
      left.remove_prefix(static_cast<std::size_t>(end - left.data()));
      if (!left.starts_with(',')) break;
      left.remove_prefix(1);
    }
    return extents;
  }

  void entry() {
    Entry entry;
    const Mark begin = mark();
    entry.name = word();
    if (accept('(')) parameters(entry.parameters);
    std::string directives; // .maxntid and similar, for ptxas
    while (skip_space() && peek() != '{') directives += take();
    if (unread_) {
      unread_->emplace(entry.name, begin);
      return skip_braces();
    }
    entry.cluster = cluster_of(directives);
    entry.has_register_count = directives.find(".maxnreg") != std::string::npos ||
                               directives.find(".minnctapersm") != std::string::npos;
    body(entry);
    module_.entries.push_back(std::move(entry));
  }

  Parameter parameter() {
    Parameter result;
    std::size_t element = 0;
    std::string at = word();
    for (; at.starts_with("."); at = word()) {
      if (at == ".align")
        result.alignment = static_cast<std::size_t>(number());
      else if (const std::size_t size = size_of(std::string_view(at).substr(1)); size != 0)
        element = size;
    }
    result.name = at;
    result.bytes = element;
    if (accept('[')) {
      result.bytes = element * static_cast<std::size_t>(number());
      expect(']');
    }
    result.alignment = std::max(result.alignment, element);
    return result;
  }

  // --- Bodies

  static Statement& add(Entry& entry, Statement::Kind kind) {
    entry.statements.emplace_back();
    entry.statements.back().kind = kind;
    return entry.statements.back();
  }
  static Operand of_kind(Operand::Kind kind) { return {kind, "", 0, false, {}}; }

  void body(Entry& entry) {
    expect('{');
    place_ = {};
    located_.clear();
    for (int depth = 1; depth > 0;) {
      skip_space();
      if (accept('{')) {
        ++depth;
        add(entry, Statement::Kind::open_scope);
      } else if (accept('}')) {
        if (--depth > 0) add(entry, Statement::Kind::close_scope);
      } else {
        statement(entry);
      }
    }
  }

  void statement(Entry& entry) {
    if (peek() == '@') return instruction(entry);
    const int begin = line();
    std::string first = word();
    if (first.ends_with(':') || accept(':')) { // "prototype_0 : .callprototype ..."
      if (first.ends_with(':')) first.pop_back();
      add(entry, Statement::Kind::label).label = first;
    } else if (first == ".loc") {
      location();
    } else if (first.starts_with(".reg")) { // inline assembly may omit the following blank
      registers(entry, first == ".reg" ? word() : first.substr(4));
    } else if (first == ".local" || first == ".shared") {
      entry.variables.push_back(variable(first.substr(1), false));
    } else if (first == ".pragma" || first == ".branchtargets" || first == ".callprototype") {
      skip_statement();
    } else if (first == ".param") {
      add(entry, Statement::Kind::parameter).parameter = parameter();
      expect(';');
    } else {
      Instruction made;
      made.ptx_line = begin;
      made.opcode = std::move(first);
      finish(made, entry);
    }
  }

  // .loc 3 402 3, function_name $L__info_string0, inlined_at 1 45 2
  // Line 0 marks code without a source line: it counts for the previous location.
  void location() {
    Place place;
    place.file = static_cast<int>(number());
    place.line = static_cast<int>(number());
    const int column = static_cast<int>(number());
    const std::string rest = rest_of_line();
    constexpr std::string_view kMark = "inlined_at ";
    if (const std::size_t at = rest.find(kMark); at != std::string::npos) {
      Lexer caller(std::string_view(rest).substr(at + kMark.size()), module_.name);
      Place outer;
      outer.file = static_cast<int>(caller.number());
      outer.line = static_cast<int>(caller.number());
      // If the caller was inlined as well, one of its own .loc directives came before.
      const auto known = located_.find({outer.file, outer.line, static_cast<int>(caller.number())});
      module_.callers.push_back(known == located_.end() ? outer : known->second);
      place.caller = static_cast<int>(module_.callers.size());
    }
    located_[{place.file, place.line, column}] = place;
    if (place.line != 0) place_ = place;
  }

  void registers(Entry& entry, const std::string& type) { // ".b32"
    Registers result;
    result.type = type.substr(1);
    do {
      result.name = word();
      result.count = 0;
      if (accept('<')) {
        result.count = static_cast<int>(number());
        expect('>');
      }
      add(entry, Statement::Kind::registers).registers = result;
    } while (accept(','));
    expect(';');
  }

  void instruction(Entry& entry) {
    Instruction made;
    made.ptx_line = line();
    expect('@');
    made.guard_negated = accept('!');
    made.guard = word();
    made.opcode = word();
    finish(made, entry);
  }

  // Parses the operands of an instruction whose opcode has been read.
  void finish(Instruction& made, Entry& entry) {
    made.place = place_;
    made.parts = split(made.opcode, '.');
    if (made.parts[0] == "call") {
      call(made);
    } else {
      while (!accept(';')) {
        made.operands.push_back(operand());
        accept(',');
      }
    }
    add(entry, Statement::Kind::instruction).instruction = std::move(made);
  }

  // call.uni (result), name, (parameters). A function with neither has no lists.
  void call(Instruction& made) {
    while (!accept(';')) {
      Operand list = of_kind(Operand::Kind::vector);
      skip_space();
      if (accept('(')) {
        while (!accept(')')) {
          list.parts.push_back(operand());
          accept(',');
        }
        made.operands.push_back(std::move(list));
      } else {
        made.operands.push_back(operand());
      }
      accept(',');
    }
  }

  Operand operand() {
    skip_space();
    if (accept('{')) {
      Operand result = of_kind(Operand::Kind::vector);
      while (!accept('}')) {
        result.parts.push_back(operand());
        accept(',');
      }
      return result;
    }
    if (accept('[')) return memory();
    if (accept('!')) {
      Operand result = operand();
      result.negated = true;
      return result;
    }
    Operand result;
    if (peek() == '-' || std::isdigit(static_cast<unsigned char>(peek())) != 0) {
      result.kind = Operand::Kind::immediate;
      if (accept('-')) result.text = "-";
      result.text += word();
      return result;
    }
    result.text = word();
    if (accept('|')) {
      Operand pair = of_kind(Operand::Kind::pair);
      pair.parts = {result, operand()};
      return pair;
    }
    if (accept('+')) result.offset = number(); // offset from a variable's address
    return result;
  }

  Operand memory() {
    Operand result = of_kind(Operand::Kind::memory);
    skip_space();
    if (peek() == '-' || std::isdigit(static_cast<unsigned char>(peek())) != 0) {
      result.offset = number();
    } else {
      result.text = word();
      if (accept('+'))
        result.offset = number();
      else if (peek() == '-')
        result.offset = number();
    }
    if (accept(',')) result.parts.push_back(operand()); // coordinates
    expect(']');
    return result;
  }

  Places* unread_ = nullptr;
  Place place_;
  std::map<std::array<int, 3>, Place> located_; // by file, line and column
  Module module_;
};

} // namespace

Module parse(std::string_view text, const std::string& name) { return Parser(text, name).run(); }

Program::Program(std::string_view text, const std::string& name) : text_(text) {
  rest_ = Parser(text, name, &entries_).run();
}

Module Program::with(std::string_view entry) const {
  const auto found = entries_.find(entry);
  return found == entries_.end() ? rest_ : Parser(text_, rest_).run(found->second);
}

} // namespace kg::ptx_run
