#include "sql/types/row_value.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "sql/ascii.h"
#include "sql/error.h"
#include "sql/sqlstate.h"
#include "sql/types/part_text.h"
#include "sql/types/record_header.h"
#include "sql/types/type_oids.h"
#include "sql/types/user_types.h"

namespace redquel::sql {
namespace {

SqlError corrupt() { return SqlError(sqlstate::kDataCorrupted, "a value of a row type cannot be read"); }

/// Reads what stands between the parentheses, field by field. The messages are record_in's.
class RowReader {
 public:
  explicit RowReader(std::string_view text) : text_(text) {}

  void open() {
    skip_space();
    if (!next_is('(')) fail("Missing left parenthesis.");
    ++at_;
  }

  std::optional<std::string> field() {
    if (at_end()) fail("Unexpected end of input.");
    const auto is_end = [](char c) { return c == ',' || c == ')'; };
    if (is_end(text_[at_])) return std::nullopt;
    return read_part(text_, at_, is_end, [this](std::string detail) { fail(std::move(detail)); });
  }

  bool next_is(char c) const { return !at_end() && text_[at_] == c; }
  void skip() { ++at_; }

  void close() {
    skip_space();
    if (!at_end()) fail("Junk after right parenthesis.");
  }

  [[noreturn]] void fail(std::string detail) const {
    throw SqlError(sqlstate::kInvalidTextRepresentation, fmt::format("malformed record literal: \"{}\"", text_)).detail(std::move(detail));
  }

 private:
  bool at_end() const { return at_ >= text_.size(); }
  void skip_space() {
    while (!at_end() && is_blank(text_[at_])) ++at_;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

// In front of a record: 23,25:name. What could be taken for its signs is %HH in a name.

void append_name(std::string_view name, std::string& out) {
  for (const char c : name) {
    if (c == '%' || c == ',' || c == '(') {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
}

std::string read_name(std::string_view text) {
  std::string name;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      name += text[i];
      continue;
    }
    unsigned byte = 0;
    const char* const digits = text.data() + i + 1;
    if (text.size() - i < 3 || std::from_chars(digits, digits + 2, byte, 16).ec != std::errc()) throw corrupt();
    name += static_cast<char>(byte);
    i += 2;
  }
  return name;
}

/// Calls `use` with type and name of each field; the name is as `append_name` wrote it.
template <class Use>
void read_header(std::string_view header, const Use& use) {
  while (!header.empty()) {
    const std::string_view item = header.substr(0, header.find(','));
    header.remove_prefix(std::min(item.size() + 1, header.size()));
    Oid oid = 0;
    const auto [end, error] = std::from_chars(item.data(), item.data() + item.size(), oid);
    if (error != std::errc() || find_type(oid) == nullptr) throw corrupt();
    const std::string_view name = item.substr(static_cast<std::size_t>(end - item.data()));
    use(Type{oid}, name.substr(name.empty() ? 0 : 1));
  }
}

std::size_t end_of_header(std::string_view record) {
  const std::size_t open = record.find('(');
  if (open == std::string_view::npos) throw corrupt();
  return open;
}

std::vector<std::optional<std::string>> split(RowReader& reader, std::size_t fields) {
  reader.open();
  std::vector<std::optional<std::string>> values;
  values.reserve(fields);
  for (std::size_t i = 0; i < fields; ++i) {
    if (i > 0) {
      if (!reader.next_is(',')) reader.fail("Too few columns.");
      reader.skip();
    }
    values.push_back(reader.field());
  }
  if (!reader.next_is(')')) reader.fail("Too many columns.");
  reader.skip();
  reader.close();
  return values;
}

TypeCategory category(Oid type) {
  const TypeInfo* info = type < kFirstUserOid ? nullptr : find_type(type);
  return info == nullptr ? TypeCategory::kUnknown : info->category;
}

}  // namespace

void RowValue::add(Type type, std::optional<std::string_view> field, std::string name) {
  types.push_back(type);
  names.push_back(std::move(name));
  if (field) {
    if (!memory) memory = std::make_shared<Arena>();
    field = memory->store(*field);
  }
  fields.push_back(field);
}

std::string RowValue::name_of(std::size_t field) const {
  return names[field].empty() ? fmt::format("f{}", field + 1) : names[field];
}

bool is_composite_type(Oid type) { return category(type) == kCompositeCategory; }
bool is_row_type(Oid type) { return type == oid::kRecord || is_composite_type(type); }
bool is_enum_type(Oid type) { return category(type) == kEnumCategory; }

std::vector<std::optional<std::string>> split_row_literal(std::string_view text, std::size_t fields) {
  RowReader reader(text);
  return split(reader, fields);
}

RowValue read_row(Oid type, std::string_view text) {
  RowValue shape;
  const std::size_t open = type == oid::kRecord ? end_of_header(text) : 0;
  if (type == oid::kRecord) {
    read_header(text.substr(0, open), [&](Type field, std::string_view name) {
      shape.types.push_back(field);
      shape.names.push_back(read_name(name));
    });
  } else {
    const UserType& composite = user_type(type);
    for (const CompositeField& field : composite.fields) {
      shape.types.push_back(Type{field.type.oid});
      shape.names.push_back(field.name);
    }
  }
  RowReader reader(text.substr(open));
  const std::vector<std::optional<std::string>> values = split(reader, shape.types.size());
  RowValue row;
  row.types.reserve(values.size());
  row.names.reserve(values.size());
  row.fields.reserve(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) row.add(shape.types[i], values[i], std::move(shape.names[i]));
  return row;
}

RecordHeader read_record_header(std::string_view record) {
  RecordHeader header;
  header.length = end_of_header(record);
  read_header(record.substr(0, header.length), [&](Type field, std::string_view) { header.types.push_back(field); });
  return header;
}

void append_plain_row(const RowValue& row, std::string& out) {
  out += '(';
  for (std::size_t i = 0; i < row.fields.size(); ++i) {
    if (i > 0) out += ',';
    if (row.fields[i]) append_part(*row.fields[i], kRowSigns, out);
  }
  out += ')';
}

void append_row(Oid type, const RowValue& row, std::string& out) {
  if (type == oid::kRecord) {
    for (std::size_t i = 0; i < row.types.size(); ++i) {
      if (i > 0) out += ',';
      out += std::to_string(row.types[i].oid);
      if (row.names[i].empty()) continue;
      out += ':';
      append_name(row.names[i], out);
    }
  }
  append_plain_row(row, out);
}

std::string row_text(Oid type, const RowValue& row) {
  std::string text;
  append_row(type, row, text);
  return text;
}

}  // namespace redquel::sql
