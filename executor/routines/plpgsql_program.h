#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "executor/engine/engine.h"
#include "executor/engine/routine.h"
#include "executor/runtime/plpgsql_declarations.h"
#include "sql/expressions/expression.h"
#include "sql/expressions/scalar_program.h"

namespace redquel::executor {

/// A use of a variable in a text, as the variables' types are now.
struct BoundUse {
  std::size_t variable = 0;
  std::optional<std::size_t> field;
  sql::Type type;

  friend bool operator==(const BoundUse&, const BoundUse&) = default;
};

/// A text of SQL that is ready to run with variables of certain types.
struct TextPlan {
  sql::CatalogPtr catalog;
  std::vector<BoundUse> uses;  // the parameters of the statement, in order
  bool is_fixed = false;       // no use can get another type
  /// A simple expression, over the slots of the frame. Null: `statement` is run.
  sql::ExpressionPtr value;
  std::optional<sql::ScalarProgram> program;  // of `value`, if it has only integers and booleans
  bool copies_fields = false;  // some of `uses` are fields or whole rows, which are put into their slots first
  std::vector<std::uint32_t> slots;  // of `uses`, for `value`
  PreparedPtr statement;
};
using TextPlanPtr = std::shared_ptr<const TextPlan>;

/// A routine in PL/pgSQL.
class PlpgsqlRoutine final : public Routine, public PlpgsqlDeclarations {
 public:
  boost::asio::awaitable<std::vector<sql::Batch>> run(RoutineCall& call) const override;

  std::string signature;  // as CONTEXT names it: "f(integer)"
  bool is_trigger = false;
  /// The plans that calls have made, by the numbers of texts.
  mutable std::vector<TextPlanPtr> plans;
  /// Conversions of values: from a type (by oid and modifier) to a type or domain. A null pointer: none is needed.
  struct Conversion {
    sql::CatalogPtr catalog;
    sql::ExpressionPtr value;
  };
  struct ConversionKey {
    sql::Type from, to;
    sql::Oid domain = 0;
    friend auto operator<=>(const ConversionKey& a, const ConversionKey& b) {
      const auto words = [](const ConversionKey& key) { return std::tuple(key.from.oid, key.from.modifier, key.to.oid, key.to.modifier, key.domain); };
      return words(a) <=> words(b);
    }
    friend bool operator==(const ConversionKey& a, const ConversionKey& b) { return (a <=> b) == 0; }
  };
  mutable std::map<ConversionKey, Conversion> conversions;
  /// The slot of each use of a field or of a whole row, behind those of the variables.
  mutable std::map<std::pair<std::size_t, std::size_t>, std::uint32_t> extra_slots;
};

}  // namespace redquel::executor
