#include "executor/replication/pgoutput.h"

#include <fmt/format.h>

#include <concepts>

namespace redquel::executor {

using Kind = TableChange::Kind;

namespace {

template <std::integral Integer>
void put(std::string& out, Integer number) {
  for (int shift = static_cast<int>(sizeof(Integer)) * 8 - 8; shift >= 0; shift -= 8) {
    out.push_back(static_cast<char>(static_cast<std::uint64_t>(number) >> shift & 0xff));
  }
}
void put_text(std::string& out, std::string_view text) {
  out.append(text);
  out.push_back('\0');
}

void put_row(std::string& out, const TableChange& change, bool only_key) {
  put(out, static_cast<std::int16_t>(change.values.size()));
  for (std::size_t column = 0; column < change.values.size(); ++column) {
    const ChangedValue& value = change.values[column];
    const bool is_left_out = only_key && !change.table->is_key(column);
    if (is_left_out || value.kind == ChangedValue::Kind::kNull) {
      out.push_back('n');
    } else if (value.kind == ChangedValue::Kind::kText) {
      out.push_back('t');
      put(out, static_cast<std::int32_t>(value.text.size()));
      out.append(value.text);
    } else {
      out.push_back('u');
    }
  }
}

bool is_published(const TableChange& change) {
  const PublishedTable::Kinds& kinds = change.table->kinds();
  switch (change.kind) {
    case Kind::kInsert: return kinds.inserts;
    case Kind::kUpdate: return kinds.updates && change.table->has_identity();
    case Kind::kDelete: return kinds.deletes && change.table->has_identity();
    case Kind::kTruncate: return kinds.truncates;
    case Kind::kReadTable:
    case Kind::kReadRow: return false;
  }
  return false;
}

std::string body_of(const TableChange& change) {
  const sql::Oid oid = change.table->definition().oid;
  std::string body;
  switch (change.kind) {
    case Kind::kInsert:
      body.push_back('I'), put(body, oid), body.push_back('N');
      put_row(body, change, false);
      break;
    case Kind::kUpdate:
      body.push_back('U'), put(body, oid), body.push_back('N');
      put_row(body, change, false);
      break;
    case Kind::kDelete:
      body.push_back('D'), put(body, oid), body.push_back('K');
      put_row(body, change, true);
      break;
    case Kind::kTruncate:
      body.push_back('T'), put(body, std::int32_t{1}), body.push_back('\0'), put(body, oid);
      break;
    case Kind::kReadTable:
    case Kind::kReadRow: break;
  }
  return body;
}

}  // namespace

std::string lsn_text(Lsn lsn) { return fmt::format("{:X}/{:X}", lsn >> 32, lsn & 0xffffffff); }

void PgoutputEncoder::describe(const PublishedTablePtr& table, std::vector<std::string>& bodies) {
  const sql::TableDef& definition = table->definition();
  PublishedTablePtr& described = described_[definition.oid];
  if (described == table) return;
  described = table;
  for (const sql::ColumnDef* column : table->columns()) {
    const sql::Oid type = column->domain != 0 ? column->domain : column->type.oid;
    if (type < sql::kFirstUserOid) continue;
    // Subscribers go by the types of their own columns; the name is for messages.
    std::string body = "Y";
    put(body, type);
    put_text(body, definition.schema);
    put_text(body, column->name);
    bodies.push_back(std::move(body));
  }
  std::string body = "R";
  put(body, definition.oid);
  put_text(body, definition.schema);
  put_text(body, definition.name);
  body.push_back(definition.replica_identity == sql::TableDef::ReplicaIdentity::kNothing ? 'n' : 'd');
  put(body, static_cast<std::int16_t>(table->columns().size()));
  for (std::size_t index = 0; index < table->columns().size(); ++index) {
    const sql::ColumnDef& column = *table->columns()[index];
    body.push_back(table->is_key(index) ? '\1' : '\0');
    put_text(body, column.name);
    put(body, column.domain != 0 ? column.domain : column.type.oid);
    put(body, column.type.modifier);
  }
  bodies.push_back(std::move(body));
}

std::vector<ReplicationMessage> PgoutputEncoder::encode(const StreamTransaction& transaction, Lsn base, std::int64_t time) {
  std::vector<std::string> bodies;
  for (const TableChange& change : transaction.changes) {
    if (!is_published(change)) continue;
    describe(change.table, bodies);
    bodies.push_back(body_of(change));
  }
  if (bodies.empty()) return {};
  const Lsn commit = base + transaction.start, end = base + transaction.end;
  std::string begin = "B";
  put(begin, commit), put(begin, time), put(begin, static_cast<std::uint32_t>(transaction.end & 0x7fffffff) | 8u);
  std::string finish = "C";
  finish.push_back('\0');
  put(finish, commit), put(finish, end), put(finish, time);
  std::vector<ReplicationMessage> messages;
  messages.reserve(bodies.size() + 2);
  messages.push_back({commit, commit, std::move(begin)});
  for (std::string& body : bodies) messages.push_back({commit, commit, std::move(body)});
  messages.push_back({commit, end, std::move(finish)});
  return messages;
}

}  // namespace redquel::executor
