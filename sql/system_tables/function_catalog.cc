#include "sql/system_tables/function_catalog.h"

#include <algorithm>
#include <deque>
#include <unordered_map>
#include <unordered_set>

#include "sql/functions/polymorphic.h"
#include "sql/functions/quote.h"
#include "sql/functions/window_function.h"
#include "sql/system_tables/facts.h"
#include "sql/system_tables/type_layout.h"
#include "sql/types/range_value.h"
#include "sql/types/type_oids.h"

namespace redquel::sql {
namespace {

/// Returns the schema in front of a name of redquel's own; empty: it is another name.
std::string_view schema_of_own(std::string_view name) {
  for (const std::string_view schema : {std::string_view("redis"), std::string_view("redquel")}) {
    if (name.starts_with(schema) && name.substr(schema.size()).starts_with('.')) return schema;
  }
  return {};
}

constexpr TypeFunctions kArrayFunctions{750, 751, 2400, 2401};

constexpr Oid kFirstOwnFunction = 14000;

/// The places of pg_proc's columns in function_facts().
struct FactColumns {
  std::size_t supports, oid, name, variadic, kind, strict, returns_set, volatility, default_count, result, arguments,
      all_types, modes, names, defaults;
};
const FactColumns& fact_columns() {
  static const FactColumns columns = [] {
    const FactTable& t = function_facts();
    return FactColumns{t.column("supports"),    t.column("oid"),           t.column("proname"),     t.column("provariadic"),
                       t.column("prokind"),     t.column("proisstrict"),   t.column("proretset"),   t.column("provolatile"),
                       t.column("pronargdefaults"), t.column("prorettype"), t.column("proargtypes"), t.column("proallargtypes"),
                       t.column("proargmodes"), t.column("proargnames"),    t.column("proargdefaults")};
  }();
  return columns;
}

bool is_any_type(Oid type) { return is_polymorphic(type) || type == oid::kAny || type == oid::kRecord; }

/// A parameter of PostgreSQL's function takes what one of redquel's does: that may be one of several for the types of a polymorphic one.
bool takes_the_same(Oid theirs, Oid own) {
  if (theirs == oid::kNodeTree) return own == oid::kText;
  return theirs == own || is_any_type(theirs) || is_any_type(own);
}

/// redquel has a function that answers these calls.
class OwnFunctions {
 public:
  OwnFunctions() {
    for (const ScalarFunction& function : all_functions()) add(function.name, function.arguments, function.variadic);
    for (const AggregateFunction& aggregate : all_aggregates()) add(aggregate.name, aggregate.arguments, false);
    for (const WindowFunction& function : all_window_functions()) add(function.name, function.arguments, false);
    for (const TableFunction& function : all_table_functions()) add(function.name, function.arguments, false);
  }

  /// The last `defaults` arguments may be left out.
  bool answer(const CatalogFunction& theirs, std::size_t defaults) const {
    std::vector<Oid> wanted = theirs.arguments;
    if (theirs.variadic != 0) wanted.back() = theirs.variadic;
    const auto [begin, end] = by_name_.equal_range(theirs.name);
    return std::any_of(begin, end, [&](const auto& entry) {
      const std::vector<Oid>& own = entry.second->arguments;
      const bool any_count = entry.second->variadic || theirs.variadic != 0;
      if (!any_count && (own.size() > wanted.size() || own.size() + defaults < wanted.size())) return false;
      for (std::size_t i = 0; i < std::min(own.size(), wanted.size()); ++i) {
        if (!takes_the_same(wanted[i], own[i])) return false;
      }
      return true;
    });
  }

 private:
  struct Signature {
    std::vector<Oid> arguments;
    bool variadic;
  };
  void add(std::string_view name, const std::vector<Oid>& arguments, bool variadic) {
    signatures_.push_back({arguments, variadic});
    by_name_.emplace(std::string(name), &signatures_.back());
  }

  std::deque<Signature> signatures_;
  std::unordered_multimap<std::string, const Signature*> by_name_;
};

CatalogFunction read_function(std::string_view line, const std::vector<FactValue>& row) {
  const FactColumns& at = fact_columns();
  CatalogFunction function;
  function.oid = fact_oid(row[at.oid]);
  function.name = *row[at.name];
  function.arguments = fact_oids(row[at.arguments]);
  function.result = fact_oid(row[at.result]);
  function.kind = row[at.kind]->front();
  function.volatility = static_cast<Volatility>(row[at.volatility]->front());
  function.strict = row[at.strict] == "t";
  function.variadic = fact_oid(row[at.variadic]);
  function.returns_set = row[at.returns_set] == "t";
  function.facts = line;
  return function;
}

class Collector {
 public:
  std::vector<CatalogFunction> collect() {
    const FactTable& facts = function_facts();
    const OwnFunctions own;
    for (const std::string_view line : facts.lines()) {
      const std::vector<FactValue> row = facts.values(line);
      CatalogFunction function = read_function(line, row);
      const bool supports = row[fact_columns().supports] == "t";
      const bool is_there = supports || own.answer(function, fact_oid(row[fact_columns().default_count]));
      if (is_there && has_listed_types(function)) functions_.push_back(std::move(function));
    }
    for (const ScalarFunction& function : all_functions()) add_scalar(function);
    for (const TableFunction& function : all_table_functions()) add_table_function(function);
    return std::move(functions_);
  }

 private:
  /// pg_type has a row for each: programs look them up there.
  static bool has_listed_types(const CatalogFunction& function) {
    static const std::unordered_set<Oid> listed = [] {
      std::unordered_set<Oid> oids;
      for (const TypeInfo& type : all_types()) oids.insert(type.oid);
      return oids;
    }();
    return listed.contains(function.result) && std::ranges::all_of(function.arguments, [](Oid type) { return listed.contains(type); });
  }

  /// Functions in a schema of redquel's. The others that PostgreSQL does not know are words of SQL (current_date), or one of its
  /// functions for each type.
  static bool is_own(std::string_view name) { return !schema_of_own(name).empty(); }

  void add_scalar(const ScalarFunction& function) {
    if (!is_own(function.name)) return;
    functions_.push_back({.oid = next_++, .name = std::string(function.name), .arguments = function.arguments, .result = function.result,
                          .volatility = function.volatility, .strict = function.strict,
                          .variadic = function.variadic ? function.arguments.back() : 0, .output_columns = {}, .facts = {}});
  }

  void add_table_function(const TableFunction& function) {
    if (!is_own(function.name)) return;
    CatalogFunction made{.oid = next_++, .name = std::string(function.name), .arguments = function.arguments, .returns_set = true,
                         .output_columns = {}, .facts = {}};
    made.result = function.columns.size() == 1 ? function.columns.front().second : oid::kRecord;
    if (function.columns.size() > 1) {
      for (const auto& [name, type] : function.columns) made.output_columns.emplace_back(name, type);
    }
    functions_.push_back(std::move(made));
  }

  std::vector<CatalogFunction> functions_;
  Oid next_ = kFirstOwnFunction;
};

struct Functions {
  std::vector<CatalogFunction> rows;
  std::unordered_map<Oid, const CatalogFunction*> by_oid;
  std::unordered_multimap<std::string_view, const CatalogFunction*> by_name;
};

const Functions& functions() {
  static const Functions instance = [] {
    Functions built{.rows = Collector().collect(), .by_oid = {}, .by_name = {}};
    for (const CatalogFunction& function : built.rows) {
      built.by_oid[function.oid] = &function;
      built.by_name.emplace(function.name, &function);
    }
    return built;
  }();
  return instance;
}

std::string type_text(Oid type) {
  switch (type) {
    case oid::kCstring: return "cstring";
    case oid::kInternal: return "internal";
    case 1263: return "cstring[]";
    default: return find_type(type) == nullptr ? std::to_string(type) : format_type(Type{type});
  }
}

/// 'x'::text, false: what stands between commas that are in no brackets or quotes.
std::vector<std::string> default_texts(std::string_view list) {
  std::vector<std::string> texts;
  int depth = 0;
  bool quoted = false;
  for (const char c : list) {
    if (texts.empty()) texts.emplace_back();
    if (c == '\'') quoted = !quoted;
    if (!quoted && (c == '(' || c == '[')) ++depth;
    if (!quoted && (c == ')' || c == ']')) --depth;
    if (c == ',' && !quoted && depth == 0) {
      texts.emplace_back();
    } else if (c != ' ' || !texts.back().empty()) {
      texts.back() += c;
    }
  }
  return texts;
}

struct OrderedSet {
  std::size_t direct_arguments = 0;
};
/// Aggregates with a WITHIN GROUP.
const std::unordered_map<Oid, OrderedSet>& ordered_sets() {
  static const std::unordered_map<Oid, OrderedSet> sets = [] {
    std::unordered_map<Oid, OrderedSet> found;
    const FactTable& facts = aggregate_facts();
    const std::size_t function = facts.column("aggfnoid"), kind = facts.column("aggkind"), count = facts.column("aggnumdirectargs");
    for (const std::string_view line : facts.lines()) {
      const std::vector<FactValue> row = facts.values(line);
      if (row[kind] != "n") found[fact_oid(row[function])] = {fact_oid(row[count])};
    }
    return found;
  }();
  return sets;
}

/// The parameters of a function of PostgreSQL's, as print_function_arguments() lists them.
class ArgumentWriter {
 public:
  explicit ArgumentWriter(const CatalogFunction& function) : function_(function) {
    const std::vector<FactValue> row = function_facts().values(function.facts);
    const FactColumns& at = fact_columns();
    types_ = row[at.all_types] ? fact_oids(row[at.all_types]) : function.arguments;
    modes_ = fact_texts(row[at.modes]);
    names_ = fact_texts(row[at.names]);
    defaults_ = default_texts(row[at.defaults].value_or(""));
  }

  std::string write(bool with_defaults) {
    std::string text;
    std::size_t printed = 0, inputs = 0;
    const std::size_t without_default = function_.arguments.size() - std::min(defaults_.size(), function_.arguments.size());
    const auto set = ordered_sets().find(function_.oid);
    for (std::size_t i = 0; i < types_.size(); ++i) {
      const bool starts_order = set != ordered_sets().end() && printed == set->second.direct_arguments;
      if (starts_order) text += printed > 0 ? " ORDER BY " : "ORDER BY ";
      if (!starts_order && printed > 0) text += ", ";
      append_parameter(i, text);
      const bool is_input = mode(i) != "o";
      const bool has_default = is_input && inputs >= without_default && inputs < function_.arguments.size();
      if (has_default && with_defaults) text += " DEFAULT " + defaults_[inputs - without_default];
      inputs += is_input ? 1 : 0;
      ++printed;
      // The direct arguments of a variadic one are those of the order, too.
      const bool is_repeated = set != ordered_sets().end() && printed == set->second.direct_arguments && i + 1 == types_.size();
      if (is_repeated) --i;
    }
    return text;
  }

 private:
  std::string_view mode(std::size_t i) const { return i < modes_.size() ? std::string_view(modes_[i]) : "i"; }

  void append_parameter(std::size_t i, std::string& text) const {
    if (mode(i) == "o") text += "OUT ";
    if (mode(i) == "b") text += "INOUT ";
    if (mode(i) == "v") text += "VARIADIC ";
    if (i < names_.size() && !names_[i].empty()) text += quote_identifier(names_[i]) + " ";
    text += type_text(types_[i]);
  }

  const CatalogFunction& function_;
  std::vector<Oid> types_;
  std::vector<std::string> modes_, names_, defaults_;
};

}  // namespace

std::pair<std::string_view, std::string_view> own_schema_and_name(const CatalogFunction& function) {
  const std::string_view name = function.name, schema = schema_of_own(name);
  return schema.empty() ? std::pair(std::string_view("pg_catalog"), name) : std::pair(schema, name.substr(schema.size() + 1));
}

std::span<const CatalogFunction> all_catalog_functions() { return functions().rows; }

const CatalogFunction* find_catalog_function(Oid function) {
  const auto found = functions().by_oid.find(function);
  return found == functions().by_oid.end() ? nullptr : found->second;
}

std::vector<const CatalogFunction*> find_catalog_functions(std::string_view name) {
  std::vector<const CatalogFunction*> found;
  const auto [begin, end] = functions().by_name.equal_range(name);
  for (auto at = begin; at != end; ++at) found.push_back(at->second);
  return found;
}

std::string function_arguments(const CatalogFunction& function, bool with_defaults) {
  if (!function.facts.empty()) return ArgumentWriter(function).write(with_defaults);
  std::string text;
  for (std::size_t i = 0; i < function.arguments.size(); ++i) {
    if (i > 0) text += ", ";
    text += type_text(function.arguments[i]);
  }
  for (const auto& [name, type] : function.output_columns) {
    text += (text.empty() ? "OUT " : ", OUT ") + name + " " + type_text(type);
  }
  return text;
}

std::string function_result(const CatalogFunction& function) {
  return (function.returns_set ? "SETOF " : "") + type_text(function.result);
}

TypeFunctions functions_of_type(const TypeInfo& type) {
  if (const TypeFacts* known = find_type_facts(type.oid)) {
    return {known->input, known->output, known->receive, known->send, known->modifier_input, known->modifier_output};
  }
  // User-made ranges have the functions of the built-in ones.
  if (is_range_type(type.oid)) return functions_of_type(type_info(oid::kInt4Range));
  if (is_multirange_type(type.oid)) return functions_of_type(type_info(oid::kInt4Multirange));
  return is_true_array(type) ? kArrayFunctions : TypeFunctions{};
}

}  // namespace redquel::sql
