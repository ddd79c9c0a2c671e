#include "executor/tables/structure_entries.h"

#include <cstdlib>

#include "sql/catalog/mapping.h"

namespace redquel::executor {

using sql::IndexMethod;

namespace {

/// Elements of a list that are looked at for a row.
constexpr int kListElements = 10'000;

/// Scores compare as numbers: "30.50" is 30.5.
bool is_same_score(const std::string& a, const std::string& b) { return std::strtod(a.c_str(), nullptr) == std::strtod(b.c_str(), nullptr); }

}  // namespace

std::string_view method_name(IndexMethod method) {
  switch (method) {
    case IndexMethod::kSet: return "set";
    case IndexMethod::kLookup: return "lookup";
    case IndexMethod::kZset: return "zset";
    default: return "list";
  }
}

std::string_view type_name(const sql::IndexDef& index) {
  if (index.method == IndexMethod::kLookup) return sql::is_hash_lookup(index) ? "hash" : "string";
  return method_name(index.method);
}

void append_question(CommandBatch& batch, const sql::IndexDef& index, const MappedEntry& entry) {
  switch (index.method) {
    case IndexMethod::kSet: batch.add("SISMEMBER", entry.key, entry.member); break;
    case IndexMethod::kZset: batch.add("ZSCORE", entry.key, entry.member); break;
    case IndexMethod::kList: batch.add("LPOS", entry.key, entry.member, "MAXLEN", kListElements); break;
    default:
      if (sql::is_hash_lookup(index)) batch.add("HGET", entry.key, entry.field);
      else batch.add("GET", entry.key);
  }
}

std::optional<std::string> stored_text(const sql::IndexDef& index, const Reply& reply) {
  if (reply.is_error()) return "another type of key";
  if (index.method == IndexMethod::kSet) return reply.integer == 1 ? std::optional<std::string>("") : std::nullopt;
  return reply.is_text() ? std::optional(std::string(reply.text)) : std::nullopt;
}

std::string expected_text(const sql::IndexDef& index, const MappedEntry& entry) {
  return index.method == IndexMethod::kZset ? entry.value.value_or("") : index.method == IndexMethod::kLookup ? entry.member : "";
}

bool holds(const sql::IndexDef& index, const MappedEntry& entry, const Reply& reply) {
  if (reply.is_error()) return false;
  const std::optional<std::string> stored = stored_text(index, reply);
  if (!stored) return false;
  return index.method == IndexMethod::kZset ? is_same_score(*stored, expected_text(index, entry)) : *stored == expected_text(index, entry);
}

}  // namespace redquel::executor
