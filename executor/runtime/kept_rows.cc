#include "executor/runtime/kept_rows.h"

#include <algorithm>
#include <cassert>
#include <iterator>

#include "sql/expressions/row_selection.h"

namespace redquel::executor {

namespace {

constexpr std::uint32_t kMostPages = (1U << (32 - PagedColumn::kPageBits)) - 1;  // the last page has kNoRow

}  // namespace

void PagedColumn::add(sql::ColumnSourcePtr source, std::uint32_t pages) {
  const auto first = static_cast<RowNumber>(part_of_page_.size());
  parts_.push_back({std::move(source), first << kPageBits, (first + pages) << kPageBits});
  part_of_page_.insert(part_of_page_.end(), pages, static_cast<std::uint32_t>(parts_.size() - 1));
}

sql::Column PagedColumn::gather(std::span<const RowNumber> rows) const {
  const auto part_of = [&](RowNumber row) { return part_of_page_[row >> kPageBits]; };
  if (!rows.empty() && rows[0] != kNoRow) {
    const Part& part = parts_[part_of(rows[0])];
    const RowNumber first = part.first, end = part.end;
    std::vector<RowNumber> inner(rows.size());
    bool are_of_part = true;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      inner[i] = rows[i] - first;
      are_of_part &= rows[i] >= first && rows[i] < end;
    }
    if (are_of_part) return part.source->gather(inner);
  }
  std::vector<sql::Piece> pieces;
  std::vector<std::vector<RowNumber>> rows_of_pieces;
  std::vector<std::size_t> piece_of_part(parts_.size(), parts_.size());
  std::vector<std::uint32_t> parts;  // of pieces
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i] == kNoRow) continue;
    const std::uint32_t part = part_of(rows[i]);
    if (piece_of_part[part] == parts_.size()) {
      piece_of_part[part] = pieces.size();
      pieces.emplace_back();
      rows_of_pieces.emplace_back();
      parts.push_back(part);
    }
    pieces[piece_of_part[part]].rows.push_back(static_cast<std::uint32_t>(i));
    rows_of_pieces[piece_of_part[part]].push_back(rows[i] - parts_[part].first);
  }
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    pieces[i].values = std::make_shared<const sql::Column>(parts_[parts[i]].source->gather(rows_of_pieces[i]));
  }
  return sql::assembled(type_, rows.size(), pieces);
}

KeptRows::KeptRows(std::span<const sql::Type> types) : types_(types.begin(), types.end()) {
  for (const sql::Type type : types) columns_.push_back({.values = RowStore({&type, 1})});
}

void KeptRows::choose_groups(std::span<const sql::ColumnPtr> columns) {
  std::vector<const void*> selections;  // of groups
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (!is_borrowed(*columns[i])) continue;
    const void* const selection = columns[i]->unread()->rows.get();
    const auto known = std::ranges::find(selections, selection);
    columns_[i].group = static_cast<std::size_t>(known - selections.begin());
    if (known == selections.end()) {
      selections.push_back(selection);
      groups_.emplace_back();
    }
    Group& group = groups_[columns_[i].group];
    group.columns.push_back(i);
    group.paged.push_back(std::make_shared<PagedColumn>(types_[i]));
  }
}

bool KeptRows::append_positions(Group& group, std::span<const sql::ColumnPtr> columns, std::span<const RowNumber> rows) {
  const sql::Selection* selection = nullptr;
  for (const std::size_t column : group.columns) {
    if (!is_borrowed(*columns[column])) return false;
    const sql::Selection& own = columns[column]->unread()->rows;
    if (selection != nullptr && *selection != own) return false;
    selection = &own;
  }
  const std::size_t before = group.positions.size();
  if (group.positions.capacity() < before + rows.size()) group.positions.reserve(std::max(before + rows.size(), 2 * before));
  RowNumber last = 0;
  for (const RowNumber row : rows) {
    const RowNumber position = (**selection)[row];
    group.positions.push_back(position);
    if (position != kNoRow) last = std::max(last, position);
  }
  const std::uint32_t pages = (last >> PagedColumn::kPageBits) + 1;
  const auto is_known = [&](const Group::Run& run) {
    if (run.pages < pages) return false;
    for (std::size_t i = 0; i < group.columns.size(); ++i) {
      if (run.sources[i] != columns[group.columns[i]]->unread()->source) return false;
    }
    return true;
  };
  auto run = std::find_if(group.runs.rbegin(), group.runs.rend(), is_known);  // mostly the last one
  if (run == group.runs.rend()) {
    if (group.pages + pages > kMostPages) {
      group.positions.resize(before);
      return false;
    }
    Group::Run added{.sources = {}, .first_page = group.pages, .pages = pages};
    for (std::size_t i = 0; i < group.columns.size(); ++i) {
      added.sources.push_back(columns[group.columns[i]]->unread()->source);
      group.paged[i]->add(added.sources.back(), pages);
    }
    group.pages += pages;
    group.runs.push_back(std::move(added));
    run = group.runs.rbegin();
  }
  const RowNumber first = run->first_page << PagedColumn::kPageBits;
  for (std::size_t i = before; i < group.positions.size(); ++i) {
    if (group.positions[i] != kNoRow) group.positions[i] += first;
  }
  return true;
}

void KeptRows::dissolve(std::size_t number) {
  Group& group = groups_[number];
  for (std::size_t i = 0; i < group.columns.size(); ++i) {
    Kept& kept = columns_[group.columns[i]];
    for (std::size_t first = 0; first < group.positions.size(); first += sql::kBatchRows) {
      const std::size_t count = std::min(sql::kBatchRows, group.positions.size() - first);
      const sql::ColumnPtr values = std::make_shared<const sql::Column>(group.paged[i]->gather(std::span(group.positions).subspan(first, count)));
      kept.values.append({&values, 1}, row_range(0, count));
    }
    kept.group = kNone;
  }
  group = {};
}

void KeptRows::append(std::span<const sql::ColumnPtr> columns, std::span<const RowNumber> rows) {
  assert(columns.size() == columns_.size());
  if (rows_ == 0 && groups_.empty()) choose_groups(columns);
  for (std::size_t group = 0; group < groups_.size(); ++group) {
    if (!groups_[group].columns.empty() && !append_positions(groups_[group], columns, rows)) dissolve(group);
  }
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns_[i].group == kNone) columns_[i].values.append(columns.subspan(i, 1), rows);
  }
  rows_ += rows.size();
}

void KeptRows::append_nulls() {
  for (Group& group : groups_) group.positions.push_back(kNoRow);
  for (Kept& kept : columns_) {
    if (kept.group == kNone) kept.values.append_nulls();
  }
  ++rows_;
}

void KeptRows::keep(std::span<const RowNumber> rows) {
  for (Group& group : groups_) {
    std::vector<RowNumber> positions;
    positions.reserve(rows.size());
    if (!group.columns.empty()) std::ranges::transform(rows, std::back_inserter(positions), [&](RowNumber row) { return group.positions[row]; });
    group.positions = std::move(positions);
  }
  for (Kept& kept : columns_) {
    if (kept.group == kNone) kept.values.keep(rows);
  }
  rows_ = rows.size();
}

void KeptRows::finish() {
  for (Kept& kept : columns_) {
    if (kept.group == kNone && !kept.finished) kept.finished = kept.values.take().columns[0];
  }
}

std::size_t KeptRows::memory() const {
  std::size_t bytes = 0;
  for (const Kept& kept : columns_) bytes += kept.finished ? kept.finished->memory() : kept.values.memory();
  for (const Group& group : groups_) bytes += group.positions.capacity() * sizeof(RowNumber);
  return bytes;
}

sql::Column KeptRows::gather(std::size_t column, std::span<const RowNumber> rows) const {
  const Kept& kept = columns_[column];
  if (kept.finished) return kept.finished->gather(rows);
  if (kept.group == kNone) return kept.values.columns()[0].gather(rows);
  const Group& group = groups_[kept.group];
  std::vector<RowNumber> positions(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) positions[i] = group.positions[rows[i]];
  const std::shared_ptr<PagedColumn>& paged = group.paged[static_cast<std::size_t>(std::ranges::find(group.columns, column) - group.columns.begin())];
  sql::Column gathered = paged->gather(positions);
  gathered.keep_alive(paged);
  return gathered;
}

sql::Batch KeptRows::gather(std::span<const RowNumber> rows) const {
  constexpr std::size_t kLeastSelected = 32;  // fewer values are copied as fast
  sql::Batch batch;
  batch.rows = rows.size();
  batch.columns.resize(columns_.size());
  for (const Group& group : groups_) {
    if (group.columns.empty() || rows.size() < kLeastSelected) continue;
    auto positions = std::make_shared<std::vector<RowNumber>>(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) (*positions)[i] = group.positions[rows[i]];
    for (std::size_t i = 0; i < group.columns.size(); ++i) {
      batch.columns[group.columns[i]] = std::make_shared<const sql::Column>(sql::Column::selected(group.paged[i], positions));
    }
  }
  sql::Selection selection;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (batch.columns[i]) continue;
    if (!columns_[i].finished || rows.size() < kLeastSelected) {
      batch.columns[i] = std::make_shared<const sql::Column>(gather(i, rows));
      continue;
    }
    if (!selection) selection = std::make_shared<const std::vector<RowNumber>>(rows.begin(), rows.end());
    batch.columns[i] = std::make_shared<const sql::Column>(sql::Column::selected(columns_[i].finished, selection));
  }
  return batch;
}

bool is_borrowed(const sql::Column& column) {
  const sql::Column::Selected* const unread = column.unread();
  return unread != nullptr && unread->source->is_lasting();
}

std::size_t unread_memory(const sql::Batch& batch) {
  std::size_t bytes = sizeof(sql::Batch);
  for (const sql::ColumnPtr& column : batch.columns) bytes += is_borrowed(*column) ? sizeof(sql::Column) + column->size() * sizeof(RowNumber) : column->memory();
  return bytes;
}

}  // namespace redquel::executor
