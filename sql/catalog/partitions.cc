#include "sql/catalog/partitions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "sql/error.h"
#include "sql/functions/quote.h"
#include "sql/sqlstate.h"
#include "sql/types/compare.h"
#include "sql/types/structured_compare.h"
#include "sql/types/text_io.h"

namespace redquel::sql {

namespace {

using Kind = PartitionBoundDef::Value::Kind;
using Strategy = PartitionKeyDef::Strategy;
using TablePtr = std::shared_ptr<const TableDef>;

/// Trees of stored definitions are no deeper; PostgreSQL's grow by hand, too.
constexpr int kMostLevels = 32;

SqlError damaged(const TableDef& table) {
  return SqlError(sqlstate::kDataCorrupted, fmt::format("the partitions of table \"{}\" in redquel:catalog cannot be read", table.name));
}

/// The order of two ends of ranges: the least one, values, the greatest one.
int compare_values(Type type, const PartitionRouter::Value& a, const PartitionRouter::Value& b) {
  const auto rank = [](Kind kind) { return kind == Kind::kMinimum ? -1 : kind == Kind::kMaximum ? 1 : 0; };
  if (rank(a.kind) != rank(b.kind)) return rank(a.kind) < rank(b.kind) ? -1 : 1;
  return rank(a.kind) != 0 ? 0 : compare(type, a.value, b.value);
}

bool within(Type type, const Datum& value, const PartitionKeyLimits& limits) {
  if (is_null(value)) return !limits.not_null && !limits.equal && !limits.lower && !limits.upper;
  if (limits.only_null) return false;
  if (limits.equal && std::ranges::none_of(*limits.equal, [&](const Datum& one) { return equal(type, one, value); })) return false;
  if (limits.lower) {
    const int order = compare(type, value, limits.lower->value);
    if (order < 0 || (order == 0 && !limits.lower->inclusive)) return false;
  }
  if (limits.upper) {
    const int order = compare(type, value, limits.upper->value);
    if (order > 0 || (order == 0 && !limits.upper->inclusive)) return false;
  }
  return true;
}

bool allows_null(const PartitionKeyLimits& limits) { return within(Type{}, Datum{}, limits); }

/// The lowest and the highest value that the limits allow; none: there is no end.
struct Ends {
  std::optional<PartitionKeyLimits::End> lower, upper;
};

Ends ends_of(Type type, const PartitionKeyLimits& limits) {
  Ends ends{limits.lower, limits.upper};
  if (!limits.equal) return ends;
  for (const Datum& value : *limits.equal) {
    if (!within(type, value, limits)) continue;
    if (!ends.lower || &value == &limits.equal->front() || compare(type, value, ends.lower->value) < 0) ends.lower = {value, true};
    if (!ends.upper || &value == &limits.equal->front() || compare(type, value, ends.upper->value) > 0) ends.upper = {value, true};
  }
  return ends;
}

/// Returns every key within the limits; nullopt: they do not name the values of each column, or there are more than a thousand.
std::optional<std::vector<std::vector<Datum>>> keys_within(std::span<const PartitionKeyLimits> limits) {
  std::vector<std::vector<Datum>> keys{{}};
  for (const PartitionKeyLimits& column : limits) {
    if (!column.equal && !column.only_null) return std::nullopt;
    std::vector<std::vector<Datum>> longer;
    for (const std::vector<Datum>& key : keys) {
      for (const Datum& value : column.only_null ? std::vector<Datum>{Datum{}} : *column.equal) {
        longer.push_back(key);
        longer.back().push_back(value);
      }
    }
    keys = std::move(longer);
    if (keys.size() > 1000) return std::nullopt;
  }
  return keys;
}

}  // namespace

PartitionRouter::PartitionRouter(const TableDef& table, const std::vector<TablePtr>& children) : strategy_(table.partition_key->strategy) {
  for (const PartitionKeyDef::Part& part : table.partition_key->parts) {
    const ColumnDef* column = table.find_column(part.column);
    if (column == nullptr) throw damaged(table);
    columns_.push_back(part.column);
    positions_.push_back(table.position(part.column));
    types_.push_back(column->type);
  }
  for (const TablePtr& child : children) {
    const PartitionBoundDef& bound = child->partition->bound;
    const std::size_t ends = strategy_ == Strategy::kRange && !bound.is_default ? types_.size() : 0;
    const bool is_hash = strategy_ == Strategy::kHash;
    if (bound.from.size() != ends || bound.to.size() != ends || (is_hash && (bound.modulus <= 0 || bound.remainder < 0)) || types_.empty()) throw damaged(table);
    Child made{.table = child, .values = {}, .from = parsed(bound.from), .to = parsed(bound.to)};
    for (const PartitionBoundDef::Value& value : bound.values) made.values.push_back(parsed({value}).front());
    std::ranges::stable_sort(made.values, [&](const Value& a, const Value& b) {
      if (a.kind != b.kind) return a.kind < b.kind;
      return a.kind == Kind::kValue && compare(types_[0], a.value, b.value) < 0;
    });
    if (bound.is_default) default_ = std::move(made);
    else children_.push_back(std::move(made));
  }
  std::ranges::stable_sort(children_, [&](const Child& a, const Child& b) {
    if (strategy_ == Strategy::kRange) return compare_bounds(a.from, b.from) < 0;
    if (strategy_ == Strategy::kList) {
      if (a.values.empty() || b.values.empty()) return b.values.size() > a.values.size();
      const Value &first = a.values.front(), &second = b.values.front();
      if (first.kind != second.kind) return first.kind < second.kind;
      return first.kind == Kind::kValue && compare(types_[0], first.value, second.value) < 0;
    }
    const PartitionBoundDef &first = a.table->partition->bound, &second = b.table->partition->bound;
    return std::pair(first.modulus, first.remainder) < std::pair(second.modulus, second.remainder);
  });
  const auto number = [&](Child& child) {
    child.first_part = parts_.size();
    if (child.table->partition_key) parts_.insert(parts_.end(), child.table->parts.begin(), child.table->parts.end());
    else parts_.push_back(child.table);
    child.parts = parts_.size() - child.first_part;
  };
  std::ranges::for_each(children_, number);
  if (default_) number(*default_);
  all_columns_ = columns_;
  for (const TablePtr& child : children) {
    if (child->router) all_columns_.insert(all_columns_.end(), child->router->columns().begin(), child->router->columns().end());
  }
  std::ranges::sort(all_columns_);
  all_columns_.erase(std::ranges::unique(all_columns_).begin(), all_columns_.end());
}

std::vector<PartitionRouter::Value> PartitionRouter::parsed(const std::vector<PartitionBoundDef::Value>& values) const {
  std::vector<Value> made;
  for (std::size_t i = 0; i < values.size(); ++i) {
    Value value{values[i].kind, {}};
    if (value.kind == Kind::kValue) value.value = parse_value(types_[i], values[i].text, {});
    made.push_back(std::move(value));
  }
  return made;
}

int PartitionRouter::compare_bounds(std::span<const Value> a, std::span<const Value> b) const {
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (const int order = compare_values(types_[i], a[i], b[i]); order != 0) return order;
    if (a[i].kind != Kind::kValue) return 0;  // what follows an end means nothing
  }
  return 0;
}

int PartitionRouter::compare_with_key(std::span<const Value> bound, std::span<const Datum> key) const {
  for (std::size_t i = 0; i < bound.size(); ++i) {
    if (bound[i].kind == Kind::kMinimum) return -1;
    if (bound[i].kind == Kind::kMaximum) return 1;
    if (const int order = compare(types_[i], bound[i].value, key[i]); order != 0) return order;
  }
  return 0;
}

std::uint64_t PartitionRouter::hash_of(std::span<const Datum> key) const {
  // PostgreSQL's, so that its partitions and these have the same rows.
  constexpr std::uint64_t kSeed = 0x7A5B22367996DCFD, kMixed = 0x49a0f4dd15e5a8e3;
  std::uint64_t hash = 0;
  for (std::size_t i = 0; i < key.size(); ++i) {
    if (is_null(key[i])) continue;
    hash ^= postgres_hash_of(types_[i], key[i], HashSeed{kSeed, true}) + kMixed + (hash << 54) + (hash >> 7);
  }
  return hash;
}

bool PartitionRouter::takes(const Child& child, std::span<const Datum> key) const {
  const PartitionBoundDef& bound = child.table->partition->bound;
  switch (strategy_) {
    case Strategy::kHash: return hash_of(key) % static_cast<std::uint64_t>(bound.modulus) == static_cast<std::uint64_t>(bound.remainder);
    case Strategy::kRange:
      if (std::ranges::any_of(key, [](const Datum& value) { return is_null(value); })) return false;
      return compare_with_key(child.from, key) <= 0 && compare_with_key(child.to, key) > 0;
    case Strategy::kList:
      return std::ranges::any_of(child.values, [&](const Value& value) {
        if (is_null(key[0])) return value.kind == Kind::kNull;
        return value.kind == Kind::kValue && equal(types_[0], value.value, key[0]);
      });
  }
  return false;
}

std::vector<Datum> PartitionRouter::key_of(std::span<const Datum> row) const {
  std::vector<Datum> key;
  for (const std::size_t position : positions_) key.push_back(row[position]);
  return key;
}

const PartitionRouter::Child* PartitionRouter::child_of(std::span<const Datum> key) const {
  const Child* found = nullptr;
  if (strategy_ == Strategy::kRange) {
    if (std::ranges::none_of(key, [](const Datum& value) { return is_null(value); })) {
      const auto above = std::ranges::partition_point(children_, [&](const Child& child) { return compare_with_key(child.from, key) <= 0; });
      if (above != children_.begin() && takes(*std::prev(above), key)) found = &*std::prev(above);
    }
  } else {
    const auto child = std::ranges::find_if(children_, [&](const Child& one) { return takes(one, key); });
    if (child != children_.end()) found = &*child;
  }
  return found != nullptr ? found : default_child();
}

std::optional<std::size_t> PartitionRouter::part_of_row(std::span<const Datum> row) const {
  const Child* child = child_of(key_of(row));
  if (child == nullptr) return std::nullopt;
  if (!child->table->partition_key) return child->first_part;
  if (!child->table->router) return std::nullopt;
  const auto below = child->table->router->part_of_row(row);
  return below ? std::optional(child->first_part + *below) : std::nullopt;
}

bool PartitionRouter::may_take(const Child& child, std::span<const PartitionKeyLimits> limits) const {
  switch (strategy_) {
    case Strategy::kList:
      return std::ranges::any_of(child.values, [&](const Value& value) { return within(types_[0], value.kind == Kind::kNull ? Datum{} : value.value, limits[0]); });
    case Strategy::kRange: {
      // While the columns before have one value, which is also that of both ends, the next column decides.
      bool at_lower = true, at_upper = true;
      for (std::size_t i = 0; i < limits.size(); ++i) {
        if (limits[i].only_null) return false;
        const Ends ends = ends_of(types_[i], limits[i]);
        const Value &from = child.from[i], &to = child.to[i];
        const bool is_last = i + 1 == limits.size();
        if (at_lower && from.kind == Kind::kMaximum) return false;
        if (at_lower && from.kind == Kind::kValue && ends.upper) {
          const int order = compare(types_[i], ends.upper->value, from.value);
          if (order < 0 || (order == 0 && !ends.upper->inclusive)) return false;
        }
        if (at_upper && to.kind == Kind::kMinimum) return false;
        if (at_upper && to.kind == Kind::kValue && ends.lower) {
          const int order = compare(types_[i], ends.lower->value, to.value);
          if (order > 0 || (order == 0 && (is_last || !ends.lower->inclusive))) return false;
        }
        if (limits[i].equal && ((at_lower && from.kind == Kind::kValue) || (at_upper && to.kind == Kind::kValue))) {
          const bool has_one = std::ranges::any_of(*limits[i].equal, [&](const Datum& value) {
            if (!within(types_[i], value, limits[i])) return false;
            if (at_lower && from.kind == Kind::kValue && compare(types_[i], value, from.value) < 0) return false;
            const int order = at_upper && to.kind == Kind::kValue ? compare(types_[i], value, to.value) : -1;
            return order < 0 || (order == 0 && !is_last);
          });
          if (!has_one) return false;
        }
        const bool is_one = limits[i].equal && limits[i].equal->size() == 1;
        at_lower = at_lower && is_one && from.kind == Kind::kValue && equal(types_[i], limits[i].equal->front(), from.value);
        at_upper = at_upper && is_one && to.kind == Kind::kValue && equal(types_[i], limits[i].equal->front(), to.value);
        if (!at_lower && !at_upper) return true;
      }
      return true;
    }
    case Strategy::kHash: return true;  // see parts_within
  }
  return true;
}

bool PartitionRouter::default_may_take(std::span<const PartitionKeyLimits> limits) const {
  if (strategy_ == Strategy::kHash) return false;
  // Other partitions may take all of them.
  const auto keys = keys_within(limits);
  return !keys || std::ranges::any_of(*keys, [&](const std::vector<Datum>& key) { return child_of(key) == default_child(); });
}

std::vector<std::size_t> PartitionRouter::parts_within(const Limits& limits_of) const {
  std::vector<PartitionKeyLimits> limits;
  for (const std::int16_t column : columns_) limits.push_back(limits_of(column));
  std::set<const Child*> of_hash;
  const auto keys = strategy_ == Strategy::kHash ? keys_within(limits) : std::nullopt;
  for (const std::vector<Datum>& key : keys.value_or(std::vector<std::vector<Datum>>())) of_hash.insert(child_of(key));
  const bool has_nothing = std::ranges::any_of(limits, [](const PartitionKeyLimits& one) {
    return (one.equal && one.equal->empty()) || (one.only_null && !allows_null(one));
  });
  std::vector<std::size_t> parts;
  const auto take = [&](const Child& child) {
    if (!child.table->partition_key) {
      parts.push_back(child.first_part);
    } else if (child.table->router) {
      for (const std::size_t part : child.table->router->parts_within(limits_of)) parts.push_back(child.first_part + part);
    }
  };
  if (has_nothing) return parts;
  for (const Child& child : children_) {
    if (keys ? of_hash.contains(&child) : may_take(child, limits)) take(child);
  }
  if (default_ && default_may_take(limits)) take(*default_);
  return parts;
}

const PartitionRouter::Child* PartitionRouter::overlapping(const PartitionBoundDef& bound) const {
  if (bound.is_default) return default_child();
  for (const Child& child : children_) {
    if (strategy_ == Strategy::kHash) {
      // Moduli are factors of each other: rows of the larger one's remainder are among those of the smaller one's.
      const PartitionBoundDef& other = child.table->partition->bound;
      const int least = std::min(bound.modulus, other.modulus);
      if (bound.remainder % least == other.remainder % least) return &child;
    } else if (strategy_ == Strategy::kRange) {
      if (compare_bounds(parsed(bound.from), child.to) < 0 && compare_bounds(child.from, parsed(bound.to)) < 0) return &child;
    } else {
      for (const PartitionBoundDef::Value& text : bound.values) {
        const Value value = parsed({text}).front();
        const std::vector<Datum> key{value.kind == Kind::kNull ? Datum{} : value.value};
        if (takes(child, key)) return &child;
      }
    }
  }
  return nullptr;
}

bool PartitionRouter::is_empty_range(const PartitionBoundDef& bound) const { return compare_bounds(parsed(bound.from), parsed(bound.to)) >= 0; }

bool have_same_columns(const TableDef& a, const TableDef& b) {
  return std::ranges::equal(a.columns, b.columns, [](const ColumnDef& one, const ColumnDef& other) {
    return one.number == other.number && one.name == other.name && one.field == other.field && one.type == other.type;
  });
}

bool are_read_alike(const TableDef& table) {
  return std::ranges::all_of(table.parts, [&](const TablePtr& part) {
    if (part->is_mapped() || part->managed().presence != table.managed().presence || part->managed().stores_key != table.managed().stores_key) return false;
    return std::ranges::equal(table.columns, part->columns, [](const ColumnDef& a, const ColumnDef& b) { return a.missing == b.missing; });
  });
}

namespace {

/// `table` by value: what the snapshot has of it may go while it is changed.
TablePtr linked(CatalogSnapshot& catalog, TablePtr table, int level) {
  if (!table->partition_key) return table;
  if (level > kMostLevels) throw damaged(*table);
  std::vector<TablePtr> children;
  for (const TablePtr& child : catalog.partitions_of(table->oid)) {
    children.push_back(linked(catalog, child, level + 1));
  }
  auto changed = std::make_shared<TableDef>(*table);
  changed->router = std::make_shared<const PartitionRouter>(*table, children);
  changed->parts = changed->router->parts();
  catalog.tables.insert_or_assign(table->oid, changed);
  return changed;
}

}  // namespace

void link_partitions(CatalogSnapshot& catalog, std::span<const Oid> changed) {
  std::set<Oid> roots;
  for (const Oid oid : changed) {
    const TablePtr* table = catalog.tables.get(oid);
    int level = 0;
    while (table != nullptr && (*table)->partition) {
      if (++level > kMostLevels) throw damaged(**table);
      table = catalog.tables.get((*table)->partition->parent);
    }
    if (table != nullptr && (*table)->partition_key) roots.insert((*table)->oid);
  }
  for (const Oid root : roots) linked(catalog, catalog.tables.at(root), 0);
}

void check_partitions(const CatalogSnapshot& catalog, std::span<const Oid> changed) {
  const auto check = [&](const TableDef& parent, const TableDef& child) {
    if (!have_same_columns(parent, child) || parent.primary_key != child.primary_key) throw damaged(parent);
  };
  for (const Oid oid : changed) {
    const TablePtr* table = catalog.tables.get(oid);
    if (table == nullptr) continue;
    if ((*table)->partition) {
      const TablePtr* parent = catalog.tables.get((*table)->partition->parent);
      if (parent == nullptr || !(*parent)->partition_key) throw damaged(**table);
      check(**parent, **table);
    }
    if (!(*table)->partition_key) continue;
    for (const TablePtr& child : catalog.partitions_of(oid)) check(**table, *child);
  }
}

void link_all_partitions(CatalogSnapshot& catalog) {
  std::vector<Oid> roots;
  for (const auto& [oid, table] : catalog.tables) {
    if (table->partition_key && !table->partition) roots.push_back(oid);
  }
  for (const Oid root : roots) linked(catalog, catalog.tables.at(root), 0);
}

bool partition_takes(const CatalogSnapshot& catalog, const TableDef& partition, std::span<const Datum> row) {
  const TableDef* table = &partition;
  for (int level = 0; table->partition && level <= kMostLevels; ++level) {
    const TablePtr* parent = catalog.tables.get(table->partition->parent);
    if (parent == nullptr || !(*parent)->router) return false;
    const PartitionRouter& router = *(*parent)->router;
    const PartitionRouter::Child* child = router.child_of(router.key_of(row));
    if (child == nullptr || child->table->oid != table->oid) return false;
    table = parent->get();
  }
  return true;
}

std::string partition_key_text(const TableDef& table) {
  constexpr std::string_view kNames[] = {"LIST", "RANGE", "HASH"};
  std::string text = fmt::format("{} (", kNames[static_cast<std::size_t>(table.partition_key->strategy)]);
  for (const PartitionKeyDef::Part& part : table.partition_key->parts) {
    if (!text.ends_with('(')) text += ", ";
    text += quote_identifier(table.find_column(part.column)->name);
    if (!part.operator_class.empty()) text.append(" ").append(part.operator_class);
  }
  return text += ")";
}

namespace {

/// The value as PostgreSQL writes a constant without a cast.
std::string constant_text(Type type, const PartitionRouter::Value& value, const SessionSettings& settings) {
  if (value.kind == Kind::kNull) return "NULL";
  if (value.kind != Kind::kValue) return value.kind == Kind::kMinimum ? "MINVALUE" : "MAXVALUE";
  if (type.oid == oid::kBool) return std::get<bool>(value.value) ? "true" : "false";
  const std::string text = format_value(type, value.value, settings);
  const bool is_number = type.oid == oid::kInt4 ? !text.starts_with('-')
                                                : type.oid == oid::kNumeric && std::isdigit(static_cast<unsigned char>(text.front())) != 0 && text.find('.') != std::string::npos;
  if (is_number) return text;
  std::string quoted = text.find('\\') == std::string::npos ? "'" : "E'";
  for (const char c : text) quoted.append(c == '\'' || c == '\\' ? 2 : 1, c);
  return quoted += "'";
}

}  // namespace

std::string partition_bound_text(const TableDef& parent, const TableDef& partition, const SessionSettings& settings) {
  const PartitionBoundDef& bound = partition.partition->bound;
  if (bound.is_default) return "DEFAULT";
  if (parent.partition_key->strategy == Strategy::kHash) return fmt::format("FOR VALUES WITH (modulus {}, remainder {})", bound.modulus, bound.remainder);
  const auto list = [&](const std::vector<PartitionBoundDef::Value>& values) {
    std::string text;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const Type type = parent.find_column(parent.partition_key->parts[parent.partition_key->strategy == Strategy::kList ? 0 : i].column)->type;
      PartitionRouter::Value value{values[i].kind, {}};
      if (value.kind == Kind::kValue) value.value = parse_value(type, values[i].text, {});
      if (i != 0) text += ", ";
      text += constant_text(type, value, settings);
    }
    return text;
  };
  if (parent.partition_key->strategy == Strategy::kList) return fmt::format("FOR VALUES IN ({})", list(bound.values));
  return fmt::format("FOR VALUES FROM ({}) TO ({})", list(bound.from), list(bound.to));
}

namespace {

/// A comparison with a value, which is written with its type where PostgreSQL writes that.
std::string typed_constant(Type type, const PartitionBoundDef::Value& value, const SessionSettings& settings) {
  PartitionRouter::Value parsed{value.kind, parse_value(type, value.text, {})};
  const std::string text = constant_text(type, parsed, settings);
  const bool is_bare = type.oid == oid::kBool || (text.front() != '\'' && text.front() != 'E');
  return is_bare ? text : text + "::" + format_type(Type{type.oid});
}

std::string joined(const std::vector<std::string>& terms, std::string_view word) {
  if (terms.size() == 1) return terms.front();
  std::string text = "(";
  for (std::size_t i = 0; i < terms.size(); ++i) text.append(i == 0 ? "" : word).append(terms[i]);
  return text + ")";
}

/// (a > 1) OR ((a = 1) AND (b >= 2)): a row behind the lower end of a range, or before the upper one.
std::string beside_end(const std::vector<std::string>& names, const std::vector<Type>& types, const std::vector<PartitionBoundDef::Value>& end, bool is_lower,
                       const SessionSettings& settings) {
  std::vector<std::string> ways;
  for (std::size_t last = 0; last < end.size(); ++last) {
    std::vector<std::string> terms;
    bool is_finite = true;
    for (std::size_t i = 0; i <= last; ++i) {
      if (end[i].kind != Kind::kValue) {
        is_finite = false;
        break;
      }
      const bool is_end = last + 1 == end.size() || end[last + 1].kind != Kind::kValue;
      const bool is_inclusive = is_lower ? (last + 1 == end.size() || (is_end && end[last + 1].kind == Kind::kMinimum))
                                         : (last + 1 < end.size() && is_end && end[last + 1].kind == Kind::kMaximum);
      const std::string_view operation = i < last ? " = " : is_lower ? (is_inclusive ? " >= " : " > ") : (is_inclusive ? " <= " : " < ");
      terms.push_back("(" + names[i] + std::string(operation) + typed_constant(types[i], end[i], settings) + ")");
    }
    if (!is_finite) break;
    ways.push_back(joined(terms, " AND "));
  }
  return ways.empty() ? std::string() : joined(ways, " OR ");
}

}  // namespace

std::string partition_condition_text(const CatalogSnapshot& catalog, const TableDef& partition, const SessionSettings& settings) {
  const TablePtr parent = partition.partition ? catalog.find_table(partition.partition->parent) : nullptr;
  if (!parent || !parent->partition_key || !parent->router) return {};
  std::vector<std::string> terms, names;
  if (parent->partition) {
    if (std::string above = partition_condition_text(catalog, *parent, settings); !above.empty()) {
      const bool is_list = above.starts_with("(") && above.ends_with(")") && above.find(" AND ") != std::string::npos;
      terms.push_back(is_list ? above.substr(1, above.size() - 2) : above);
    }
  }
  std::vector<Type> types;
  for (const PartitionKeyDef::Part& part : parent->partition_key->parts) {
    const ColumnDef& column = *parent->find_column(part.column);
    names.push_back(quote_identifier(column.name));
    types.push_back(column.type);
  }
  const PartitionBoundDef& bound = partition.partition->bound;
  const auto add_list = [&](const std::vector<PartitionBoundDef::Value>& values) {
    std::vector<std::string> texts;
    bool has_null = false;
    for (const PartitionBoundDef::Value& value : values) {
      if (value.kind == Kind::kNull) has_null = true;
      else texts.push_back(typed_constant(types[0], value, settings));
    }
    std::string test;
    if (texts.size() == 1) test = "(" + names[0] + " = " + texts[0] + ")";
    if (texts.size() > 1) test = fmt::format("({} = ANY (ARRAY[{}]))", names[0], fmt::join(texts, ", "));
    if (!has_null) {
      terms.push_back("(" + names[0] + " IS NOT NULL)");
      terms.push_back(test);
    } else {
      terms.push_back(test.empty() ? "(" + names[0] + " IS NULL)" : "((" + names[0] + " IS NULL) OR " + test + ")");
    }
  };
  switch (parent->partition_key->strategy) {
    case Strategy::kHash:
      terms.push_back(fmt::format("satisfies_hash_partition('{}'::oid, {}, {}, {})", parent->oid, bound.modulus, bound.remainder, fmt::join(names, ", ")));
      break;
    case Strategy::kList:
      if (!bound.is_default) add_list(bound.values);
      break;
    case Strategy::kRange:
      if (bound.is_default) break;
      for (const std::string& name : names) terms.push_back("(" + name + " IS NOT NULL)");
      for (const bool is_lower : {true, false}) {
        if (std::string text = beside_end(names, types, is_lower ? bound.from : bound.to, is_lower, settings); !text.empty()) terms.push_back(std::move(text));
      }
      break;
  }
  if (bound.is_default) {
    // The rows that no other partition takes.
    std::vector<std::string> others;
    for (const PartitionRouter::Child& child : parent->router->children()) {
      TableDef other = *child.table;
      other.partition->parent = parent->oid;
      CatalogSnapshot above = catalog;
      TableDef top = *parent;
      top.partition.reset();
      above.tables.insert_or_assign(top.oid, std::make_shared<const TableDef>(std::move(top)));
      others.push_back(partition_condition_text(above, other, settings));
    }
    if (!others.empty()) terms.push_back("(NOT " + joined(others, " OR ") + ")");
  }
  if (terms.empty()) return {};
  return joined(terms, " AND ");
}

}  // namespace redquel::sql
