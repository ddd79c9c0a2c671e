#include "sql/system_tables/leakproof.h"

#include <map>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "sql/system_tables/facts.h"

namespace redquel::sql {

namespace {

using Signature = std::pair<std::string_view, std::vector<Oid>>;

/// The leakproof functions of pg_proc, by oid and by name and arguments; operators stand by their own names.
struct Leakproof {
  std::unordered_set<Oid> functions;
  std::map<Signature, bool> signatures;

  Leakproof() {
    const FactTable& procedures = function_facts();
    const std::size_t oid = procedures.column("oid"), name = procedures.column("proname"), leakproof = procedures.column("proleakproof"),
                      arguments = procedures.column("proargtypes");
    for (const std::string_view line : procedures.lines()) {
      const std::vector<FactValue> row = procedures.values(line);
      if (row[leakproof] != "t") continue;
      functions.insert(fact_oid(row[oid]));
      signatures[{*row[name], fact_oids(row[arguments])}] = true;
    }
    const FactTable& operators = operator_facts();
    const std::size_t symbol = operators.column("oprname"), left = operators.column("oprleft"), right = operators.column("oprright"),
                      code = operators.column("oprcode");
    for (const std::string_view line : operators.lines()) {
      const std::vector<FactValue> row = operators.values(line);
      if (!functions.contains(fact_oid(row[code]))) continue;
      std::vector<Oid> types{fact_oid(row[right])};
      if (const Oid type = fact_oid(row[left]); type != 0) types.insert(types.begin(), type);
      signatures[{*row[symbol], std::move(types)}] = true;
    }
  }
};

const Leakproof& leakproof() {
  static const Leakproof facts;
  return facts;
}

}  // namespace

bool is_leakproof(const ScalarFunction& function) { return leakproof().signatures.contains({function.name, function.arguments}); }

bool is_leakproof(const CastFunction& cast) {
  static const std::map<std::pair<Oid, Oid>, bool> kCasts = [] {
    std::map<std::pair<Oid, Oid>, bool> casts;
    const FactTable& facts = cast_facts();
    const std::size_t source = facts.column("castsource"), target = facts.column("casttarget"), function = facts.column("castfunc");
    for (const std::string_view line : facts.lines()) {
      const std::vector<FactValue> row = facts.values(line);
      const Oid called = fact_oid(row[function]);
      casts[{fact_oid(row[source]), fact_oid(row[target])}] = called == 0 || leakproof().functions.contains(called);
    }
    return casts;
  }();
  const auto found = kCasts.find({cast.source, cast.target});
  return cast.kernel == nullptr || (found != kCasts.end() && found->second);
}

}  // namespace redquel::sql
