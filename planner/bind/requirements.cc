#include "planner/bind/requirements.h"

#include <algorithm>

#include "planner/bind/query_level.h"

namespace redquel::planner {

namespace {

/// Numbers of system columns in pg_attribute.
std::int16_t system_attribute(std::string_view column) {
  if (column == "ctid") return -1;
  if (column == "xmin") return -2;
  return -6;  // tableoid
}

}  // namespace

Requirement* RequirementList::add(sql::AclKind kind, sql::Oid object, sql::Rights rights) {
  if (is_exempt) return nullptr;
  all_.push_back({.kind = kind, .object = object, .rights = rights, .selected = {}, .inserted = {}, .updated = {}, .checked_as = bound_as, .depth = depth});
  return &all_.back();
}

void RequirementList::add_function(sql::Oid function) {
  const auto is_same = [&](const Requirement& one) { return one.kind == sql::AclKind::kFunction && one.object == function; };
  if (std::ranges::any_of(all_, is_same)) return;
  if (Requirement* added = add(sql::AclKind::kFunction, function, sql::right::kExecute)) added->checked_as = std::nullopt;
}

void RequirementList::pass_on(const Requirement* view, Requirement* base, std::vector<std::int16_t> columns) {
  if (view != nullptr && base != nullptr) passed_.push_back({view, base, std::move(columns)});
}

std::vector<Requirement> RequirementList::finish() {
  const auto translate = [](const std::set<std::int16_t>& numbers, const std::vector<std::int16_t>& columns) {
    std::set<std::int16_t> result;
    for (const std::int16_t number : numbers) {
      const auto place = static_cast<std::size_t>(number) - 1;
      if (number > 0 && place < columns.size() && columns[place] != 0) result.insert(columns[place]);
    }
    return result;
  };
  // A view is before what it writes to, so that what is passed to it is passed on.
  std::ranges::stable_sort(passed_, {}, [](const Passed& one) { return one.view->depth; });
  for (const Passed& one : passed_) {
    one.base->rights = one.view->rights;
    one.base->inserted = translate(one.view->inserted, one.columns);
    one.base->updated = translate(one.view->updated, one.columns);
  }
  std::vector<Requirement> all(all_.begin(), all_.end());
  // Names are looked up before relations are opened, and these before anything is computed.
  const auto stage = [](sql::AclKind kind) { return kind == sql::AclKind::kSchema ? 0 : kind == sql::AclKind::kTable ? 1 : 2; };
  std::ranges::stable_sort(all, {}, [&](const Requirement& one) { return std::pair(stage(one.kind), one.depth); });
  return all;
}

void mark_read(const RelationColumn& column) {
  if (column.requirement == nullptr) return;
  column.requirement->rights |= sql::right::kSelect;
  column.requirement->selected.insert(column.attribute);
}

void mark_read(const Relation& relation, std::string_view column) {
  for (const std::vector<RelationColumn>* columns : {&relation.columns, &relation.hidden}) {
    const auto found = std::ranges::find(*columns, column, &RelationColumn::name);
    if (found != columns->end()) return mark_read(*found);
  }
  if (relation.requirement == nullptr) return;
  relation.requirement->rights |= sql::right::kSelect;
  relation.requirement->selected.insert(system_attribute(column));
}

void mark_all_read(const Relation& relation) {
  for (const RelationColumn& column : relation.columns) mark_read(column);
}

void mark_row_read(const Relation& relation) {
  mark_all_read(relation);
  if (relation.requirement == nullptr) return;
  relation.requirement->rights |= sql::right::kSelect;
  relation.requirement->selected.insert(0);
}

}  // namespace redquel::planner
