#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "sql/discovery/column_inference.h"
#include "sql/discovery/field_names.h"
#include "sql/discovery/finish_proposal.h"
#include "sql/discovery/frameworks/framework.h"
#include "sql/discovery/keyspace_entry.h"
#include "sql/discovery/relation_types.h"
#include "sql/discovery/template_names.h"
#include "sql/discovery/written_values.h"
#include "sql/types/byte_text.h"
#include "sql/types/shown_text.h"

namespace redquel::sql {
namespace {

/// A table of rows with one key column, beside which structures may stand.
struct Entity {
  std::size_t table = 0;      // in the proposal
  KeyPieces base;             // emp, before :{id}
  std::string slot;           // name of the key column
  PieceKind kind = PieceKind::kWord;
  bool is_complete = false;   // all ids are known
  std::set<std::string> ids;
  /// By column: values by id, as far as they were sampled.
  std::map<std::string, std::map<std::string, std::string>> values;
};

/// Forms with slots of which tables and structures are proposed, and further tables of elements and single keys.
constexpr std::size_t kMostForms = 500, kMostElements = 250;

bool starts_with(const KeyPieces& pieces, const KeyPieces& base) {
  return pieces.size() >= base.size() && std::equal(base.begin(), base.end(), pieces.begin());
}

class Proposer {
 public:
  explicit Proposer(std::vector<SampledShape> shapes) {
    proposal_.frameworks = take_frameworks(shapes);
    entries_ = entries_of(std::move(shapes), proposal_.notes);
    merge_few_words(entries_);
  }

  Proposal run() {
    // A template without a word would take every key.
    for (KeyspaceEntry& entry : entries_) {
      entry.is_used = std::ranges::all_of(entry.pieces, [](const KeyPiece& piece) { return piece.is_slot || piece.text.empty(); });
      if (entry.is_used) {
        proposal_.left_out.push_back(left_out_of(entry, "no word in common"));
      }
    }
    leave_out_smallest(unused_entries(entries_, true), kMostForms, proposal_.left_out);
    for (KeyspaceEntry& entry : entries_) {
      if (!entry.is_used && entry.type == "hash" && entry.has_slot() && has_row_fields(entry)) propose_hash(entry);
    }
    propose_strings();
    for (KeyspaceEntry& entry : entries_) {
      if (!entry.is_used) entry.is_used = is_structure(entry);
    }
    leave_out_single_strings(entries_, proposal_.left_out);
    leave_out_smallest(unused_entries(entries_, false), kMostElements, proposal_.left_out);
    for (KeyspaceEntry& entry : entries_) {
      if (!entry.is_used) propose_elements(entry);
    }
    agree_on_types(proposal_.tables, relations());
    finish_proposal(proposal_, known_);
    return std::move(proposal_);
  }

 private:
  // ---- tables ----

  ProposedTable& add_table(const KeyspaceEntry& entry, std::string layout) {
    ProposedTable table;
    table.layout = std::move(layout);
    note_keys(table, entry);
    known_.names.push_back(table_names(entry.pieces, table.layout));
    proposal_.tables.push_back(std::move(table));
    return proposal_.tables.back();
  }

  static ProposedColumn column(std::string name, const Values& values, bool complete) {
    const InferredColumn inferred = infer_column(name, values, complete);
    ProposedColumn made{.name = std::move(name), .type = inferred.type, .not_null = !inferred.nullable, .doubt = inferred.doubt};
    if (!inferred.format.empty()) made.options.emplace_back("format", inferred.format);
    if (inferred.empties_are_null) made.options.emplace_back("absent", "empty");
    return made;
  }

  /// The key's columns, and the key with their names in its slots. `names`: of the slots, in order. Gives what stands in the slots.
  static std::vector<std::string> add_slots(ProposedTable& table, const KeyspaceEntry& entry, const std::vector<std::string>& names) {
    std::vector<Values> values(names.size());
    std::vector<std::string> written = names;
    for (const KeySample& sample : entry.samples) {
      const std::vector<std::string> found = slot_values(entry.pieces, sample.key);
      for (std::size_t i = 0; i < std::min(found.size(), names.size()); ++i) values[i].emplace_back(found[i]);
    }
    for (std::size_t i = 0; i < names.size(); ++i) {
      ProposedColumn made = column(names[i], values[i], true);
      const bool has_format = !made.options.empty() && made.options[0].first == "format";
      const bool is_number = has_format && made.options[0].second != "json" && made.options[0].second != "raw";
      if (is_number) made.type = "bigint";  // of Unix time, or a flag
      made.options.clear();                 // a slot holds a value's text form
      if (made.type == "numeric") made.type = "text";
      read_back(made, values[i]);
      made.not_null = true;
      if (const std::size_t width = padded_width(values[i])) {
        made.type = "bigint";
        written[i] += ":" + std::to_string(width);
      }
      table.columns.push_back(std::move(made));
    }
    table.key = template_text(entry.pieces, written);
    return written;
  }

  // ---- hashes that are rows ----

  void propose_hash(KeyspaceEntry& entry) {
    const bool is_uniques = entry.pieces.back().text == "_uniques" || entry.pieces.back().text == "_indices";
    if (is_uniques) return;
    entry.is_used = true;
    std::vector<std::string> order;
    std::map<std::string, std::size_t> seen;
    for (const KeySample& sample : entry.samples) {
      for (const auto& [field, value] : sample.parts) {
        if (seen[field]++ == 0) order.push_back(field);
      }
    }
    std::ranges::stable_sort(order, {}, [&](const std::string& field) { return std::pair(entry.samples.size() - seen[field], field); });
    ProposedTable& table = add_table(entry, "hash");
    leave_out_fields(order, table);
    std::vector<std::string> slots = slot_names(entry.pieces);
    // A row may hold its key once more as a field.
    bool repeats_key = false;
    for (std::string& slot : slots) {
      if (std::ranges::find(order, slot) == order.end()) continue;
      const bool same = slots.size() == 1 && std::ranges::all_of(entry.samples, [&](const KeySample& sample) {
        const std::vector<std::string> values = slot_values(entry.pieces, sample.key);
        return std::ranges::all_of(sample.parts, [&](const auto& part) { return part.first != slot || part.second == values[0]; });
      });
      if (same) {
        table.doubts.push_back("field " + slot + " repeats the key: " + (seen[slot] == entry.samples.size() ? "new rows get it, too" : "it is left out"));
        repeats_key = seen[slot] == entry.samples.size();
        std::erase(order, slot);
      } else {
        slot += "_key";
      }
    }
    add_slots(table, entry, slots);
    if (repeats_key) table.columns.front().options.emplace_back("field", slots.front());
    Entity entity = entity_of(entry, slots[0]);
    const bool whole = std::ranges::all_of(entry.samples, &KeySample::is_whole);
    std::set<std::string> taken(slots.begin(), slots.end());
    for (const std::string& field : order) {
      Values values;
      std::string name = unique_name(column_name(field), taken);
      for (const KeySample& sample : entry.samples) {
        const auto part = std::ranges::find(sample.parts, field, &std::pair<std::string, std::string>::first);
        values.push_back(part == sample.parts.end() ? std::nullopt : std::optional(part->second));
        if (part != sample.parts.end()) entity.values[name][slot_values(entry.pieces, sample.key)[0]] = part->second;
      }
      ProposedColumn made = column(name, values, entry.is_complete() && whole);
      if (name != field) made.options.emplace(made.options.begin(), "field", field);
      table.columns.push_back(std::move(made));
    }
    if (!whole) table.doubts.push_back("only some fields of large hashes were read");
    if (slots.size() == 1) entities_.push_back(std::move(entity));
  }

  Entity entity_of(const KeyspaceEntry& entry, std::string slot) const {
    Entity entity{.table = proposal_.tables.size() - 1, .slot = std::move(slot), .kind = entry.pieces[entry.first_slot()].kind,
                  .is_complete = entry.is_complete()};
    entity.base = base_pieces(entry.pieces);
    for (const KeySample& sample : entry.samples) entity.ids.insert(slot_values(entry.pieces, sample.key)[0]);
    return entity;
  }

  // ---- strings: one per column ----

  /// login:{word}:id, user:username:{word}:userid: a value that leads to an id.
  bool may_be_lookup(const KeyspaceEntry& entry) const {
    if (entry.slot_count() != 1 || entry.type != "string" || entry.pieces.back().is_slot) return false;
    const std::string& last = entry.last_text();
    if (last != "id" && !is_key_name(last)) return false;
    const std::size_t slot = entry.first_slot();
    const auto has_rows = [&](const KeyspaceEntry& other) {
      const std::size_t own = other.first_slot();
      if (&other == &entry || other.pieces.size() <= own || own == 0 || other.pieces[own].kind == PieceKind::kWord) return false;
      if (own == slot) {
        const bool same_place = std::equal(entry.pieces.begin(), entry.pieces.begin() + static_cast<std::ptrdiff_t>(slot), other.pieces.begin());
        if (same_place && entry.pieces[slot].kind == PieceKind::kWord) return true;
      }
      return other.pieces[own - 1].text == last && starts_with(entry.pieces, base_pieces(other.pieces));
    };
    return std::ranges::any_of(entries_, has_rows);
  }

  void propose_strings() {
    std::map<std::string, std::vector<KeyspaceEntry*>> groups;
    for (KeyspaceEntry& entry : entries_) {
      if (entry.is_used || entry.type != "string" || !entry.has_slot()) continue;
      const std::optional<std::size_t> field = field_piece(entry.pieces);
      if (!field || may_be_lookup(entry)) continue;
      KeyPieces wild = entry.pieces;
      wild[*field].text = kFieldSlot;
      groups[shape_text(wild)].push_back(&entry);
    }
    for (auto& [wild, members] : groups) propose_string_columns(members);
  }

  void propose_string_columns(const std::vector<KeyspaceEntry*>& members) {
    const auto largest = *std::ranges::max_element(members, {}, [](const KeyspaceEntry* entry) { return entry->count; });
    const std::size_t field = *field_piece(largest->pieces);
    ProposedTable& table = add_table(*largest, "strings");
    table.keys = 0;
    table.examples.clear();
    const std::vector<std::string> slots = slot_names(largest->pieces);
    const std::vector<std::string> written = add_slots(table, *largest, slots);
    KeyPieces wild = largest->pieces;
    wild[field].text = kFieldSlot;
    table.key = template_text(wild, written);
    known_.names.back() = table_names(wild, "strings");
    Entity entity = entity_of(*largest, slots[0]);
    std::set<std::string> taken(slots.begin(), slots.end());
    for (KeyspaceEntry* entry : members) {
      entry->is_used = true;
      note_keys(table, *entry);
      const std::string& part = entry->pieces[field].text;
      if (!is_field_name(part)) {
        table.doubts.push_back("strings whose names are no UTF-8 text are left out, for example " + shown_key(*entry));
        continue;
      }
      const std::string name = unique_name(column_name(part), taken);
      Values values;
      for (const KeySample& sample : entry->samples) {
        const std::string id = slot_values(entry->pieces, sample.key)[0];
        values.emplace_back(sample.parts.empty() ? "" : sample.parts[0].second);
        entity.values[name][id] = *values.back();
        entity.ids.insert(id);
      }
      ProposedColumn made = column(name, values, entry->is_complete());
      made.not_null = made.not_null && entry->count == largest->count;
      if (name != part) made.options.emplace(made.options.begin(), "field", part);
      table.columns.push_back(std::move(made));
    }
    if (slots.size() == 1) entities_.push_back(std::move(entity));
  }

  // ---- structures beside rows ----

  ProposedTable& table_of(const Entity& entity) { return proposal_.tables[entity.table]; }

  /// Returns true if these values lead to rows of the table. Some may be stale.
  static bool are_ids(const Entity& entity, const std::vector<std::string>& values) {
    if (values.empty()) return false;
    const auto known = static_cast<std::size_t>(std::ranges::count_if(values, [&](const std::string& value) { return entity.ids.contains(value); }));
    if (entity.is_complete) return known * 2 >= values.size();
    return std::ranges::all_of(values, [&](const std::string& value) { return looks_like(entity.kind, value); });
  }

  bool has_column(const Entity& entity, const std::string& name) const { return entity.values.contains(name); }

  /// The column that a word names: itself, or its singular.
  std::optional<std::string> column_named(const Entity& entity, const std::string& word) const {
    const std::string name = column_name(word);
    if (has_column(entity, name)) return name;
    if (name.ends_with('s') && has_column(entity, name.substr(0, name.size() - 1))) return name.substr(0, name.size() - 1);
    return std::nullopt;
  }

  static std::vector<std::string> elements_of(const KeyspaceEntry& entry, bool second = false) {
    std::vector<std::string> elements;
    for (const KeySample& sample : entry.samples) {
      for (const auto& part : sample.parts) elements.push_back(second ? part.second : part.first);
    }
    return elements;
  }

  bool is_structure(const KeyspaceEntry& entry) {
    // The longest base first: sys:user before sys.
    std::vector<const Entity*> candidates;
    for (const Entity& entity : entities_) {
      if (starts_with(entry.pieces, entity.base) && entry.pieces.size() > entity.base.size()) candidates.push_back(&entity);
    }
    std::ranges::stable_sort(candidates, std::ranges::greater{}, [](const Entity* entity) { return entity->base.size(); });
    return std::ranges::any_of(candidates, [&](const Entity* entity) { return is_structure_of(*entity, entry); });
  }

  bool is_structure_of(const Entity& entity, const KeyspaceEntry& entry) {
    const KeyPieces rest(entry.pieces.begin() + static_cast<std::ptrdiff_t>(entity.base.size()), entry.pieces.end());
    if (is_note_of_ohm(entity, entry, rest.back().text)) return true;
    if (entry.type == "string") return entry.has_slot() ? is_lookup(entity, entry) : is_counter(entity, entry, rest);
    if (entry.type == "hash") return is_lookup_hash(entity, entry, rest);
    if (entry.type == "set") return entry.has_slot() ? is_index_set(entity, entry, rest) : is_key_set(entity, entry, rest);
    if (entry.type == "zset" && !entry.has_slot()) return is_order(entity, entry, rest);
    return entry.type == "list" && !entry.has_slot() && is_order_list(entity, entry);
  }

  /// Beside the rows are notes of what the library Ohm has indexed of them.
  bool is_note_of_ohm(const Entity& entity, const KeyspaceEntry& entry, const std::string& word) {
    if ((word != "_uniques" && word != "_indices") || entry.slot_count() != 1) return false;
    ProposedTable& table = table_of(entity);
    if (table.layout == "hash" && table.key.ends_with(":{" + entity.slot + "}") && std::ranges::count(table.key, '{') == 1) table.layout = "ohm";
    if (table.layout == "ohm") table.comment = "Ohm: objects of the model " + shown_text(entity.base.back().text, kShownKeyBytes);
    return true;
  }

  bool is_counter(const Entity& entity, const KeyspaceEntry& entry, const KeyPieces& rest) {
    const bool is_number = !entry.samples.empty() && !entry.samples[0].parts.empty() && looks_like(PieceKind::kInteger, entry.samples[0].parts[0].second);
    if (rest.size() != 1 || !is_number || !is_counter_word(rest[0].text) || entity.kind != PieceKind::kInteger) return false;
    ProposedTable& table = table_of(entity);
    if (table.counter.empty() && is_valid_utf8(entry.samples[0].key)) table.counter = entry.samples[0].key;
    return true;
  }

  /// `ids`: what stands for rows in the structure.
  void add_index(const Entity& entity, std::string method, std::vector<std::string> columns, std::string key, const std::vector<std::string>& ids,
                 std::string doubt = {}) {
    const std::size_t width = member_width(Values(ids.begin(), ids.end()), Values(entity.ids.begin(), entity.ids.end()));
    std::string member = width == 0 ? "" : "{" + entity.slot + ":" + std::to_string(width) + "}";
    table_of(entity).indexes.push_back({std::move(method), std::move(columns), std::move(key), std::move(doubt), std::move(member)});
  }

  bool is_lookup(const Entity& entity, const KeyspaceEntry& entry) {
    if (entry.slot_count() != 1 || !may_be_lookup(entry) || !are_ids(entity, elements_of(entry, true))) return false;
    const std::size_t slot = entry.first_slot();
    std::optional<std::string> found;
    if (slot > 0) found = column_named(entity, entry.pieces[slot - 1].text);
    std::string doubt;
    if (!found) {
      // The column that has the word, in the row that the word leads to.
      std::map<std::string, std::size_t> hits;
      for (const KeySample& sample : entry.samples) {
        const std::string word = slot_values(entry.pieces, sample.key)[0];
        for (const auto& [name, values] : entity.values) {
          const auto row = values.find(sample.parts[0].second);
          if (row != values.end() && row->second == word) ++hits[name];
        }
      }
      for (const auto& [name, count] : hits) {
        if (!found || count > hits[*found]) found = name;
      }
    }
    if (!found) {
      std::vector<std::string> texts;
      for (const ProposedColumn& made : table_of(entity).columns) {
        if (made.type == "text" && made.name != entity.slot) texts.push_back(made.name);
      }
      if (texts.size() != 1) return false;
      found = texts[0];
      doubt = "no sampled row shows that it is this column";
    }
    add_index(entity, "lookup", {*found}, template_text(entry.pieces, {*found}), elements_of(entry, true), std::move(doubt));
    return true;
  }

  bool is_lookup_hash(const Entity& entity, const KeyspaceEntry& entry, const KeyPieces& rest) {
    if (entry.has_slot() || !are_ids(entity, elements_of(entry, true))) return false;
    std::vector<std::string> columns;
    for (const KeyPiece& piece : rest) {
      if (const auto found = column_named(entity, piece.text)) columns.push_back(*found);
      else if (!is_structure_word(piece.text)) return false;
    }
    if (columns.empty()) return false;
    add_index(entity, "lookup", columns, template_text(entry.pieces, {}), elements_of(entry, true));
    return true;
  }

  /// emp:indices:mgr_id:{mgr_id}, theme:owner:{owner}
  bool is_index_set(const Entity& entity, const KeyspaceEntry& entry, const KeyPieces& rest) {
    std::vector<std::string> columns;
    for (std::size_t i = 0; i < rest.size(); ++i) {
      if (rest[i].is_slot) {
        const std::optional<std::string> found = i == 0 ? std::nullopt : column_named(entity, rest[i - 1].text);
        if (!found) return false;
        columns.push_back(*found);
      }
    }
    if (columns.empty() || !rest.back().is_slot || !are_ids(entity, elements_of(entry))) return false;
    add_index(entity, "set", columns, template_text(entry.pieces, columns), elements_of(entry));
    return true;
  }

  /// emp:all: the rows' keys; emp:indices:mgr_id: the values that have a set.
  bool is_key_set(const Entity& entity, const KeyspaceEntry& entry, const KeyPieces& rest) {
    if (rest.size() >= 2 && is_index_word(rest[0].text)) {
      table_of(entity).doubts.push_back(shown_key(entry) + " holds values of an index");
      return true;
    }
    if (rest.size() != 1 || !is_structure_word(rest[0].text) || !are_ids(entity, elements_of(entry))) return false;
    table_of(entity).doubts.push_back(shown_key(entry) + " holds the keys of all rows");
    return true;
  }

  /// login:login_times, emp:zset:salary: rows in order of a column.
  bool is_order(const Entity& entity, const KeyspaceEntry& entry, const KeyPieces& rest) {
    if (!are_ids(entity, elements_of(entry))) return false;
    const std::string key = template_text(entry.pieces, {});
    const auto column = column_named(entity, rest.back().text);
    if (column && !is_score(table_of(entity), *column)) return false;
    if (column) add_index(entity, "zset", {*column}, key, elements_of(entry));
    if (column) return true;
    if (rest.size() != 1 || rest[0].text != "zset") return false;
    // The scores say which column it is, if it is one.
    std::size_t plain = 0, seen = 0;
    std::map<std::string, std::size_t> hits, checked;
    for (const KeySample& sample : entry.samples) {
      for (const auto& [member, score] : sample.parts) {
        ++seen;
        plain += score == "0" || score == member ? 1 : 0;
        for (const auto& [name, values] : entity.values) {
          const auto row = values.find(member);
          if (row == values.end()) continue;
          ++checked[name];
          hits[name] += row->second == score ? 1 : 0;
        }
      }
    }
    for (const auto& [name, count] : hits) {
      if (count < 2 || count != checked[name] || !is_score(table_of(entity), name)) continue;
      add_index(entity, "zset", {name}, key, elements_of(entry));
      return true;
    }
    if (plain != seen) return false;
    table_of(entity).doubts.push_back(shown_key(entry) + " holds the keys of all rows");
    return true;
  }

  bool is_order_list(const Entity& entity, const KeyspaceEntry& entry) {
    if (!are_ids(entity, elements_of(entry))) return false;
    const auto found = column_named(entity, entry.last_text());
    if (!found) return false;
    add_index(entity, "list", {*found}, template_text(entry.pieces, {}), elements_of(entry));
    return true;
  }

  // ---- tables of elements ----

  void propose_elements(KeyspaceEntry& entry) {
    entry.is_used = true;
    if (entry.type == "string") return propose_string(entry);
    static const std::map<std::string, std::string> kLayouts = {
        {"hash", "hash_fields"}, {"set", "set"}, {"zset", "zset"}, {"list", "list"}, {"stream", "stream"}};
    const auto layout = kLayouts.find(entry.type);
    if (layout == kLayouts.end()) {
      proposal_.left_out.push_back(left_out_of(entry, "no layout for this type"));
      return;
    }
    ProposedTable& table = add_table(entry, layout->second);
    std::vector<std::string> slots = relation_slot_names(entry.pieces);
    add_slots(table, entry, slots);
    note_parent(entry);
    const std::size_t number = proposal_.tables.size() - 1;
    for (std::size_t i = 0; i < entities_.size(); ++i) {
      if (!slots.empty() && entities_[i].base == base_pieces(entry.pieces)) references_.push_back({i, number, 0});
    }
    std::set<std::string> taken(slots.begin(), slots.end());
    const auto add = [&](std::string name, const Values& values, std::string role) {
      ProposedColumn made = column(unique_name(std::move(name), taken), values, true);
      std::erase_if(made.options, [](const auto& option) { return option.first == "absent"; });
      if (const std::size_t width = padded_width(values)) {
        made.type = "bigint";
        made.options.emplace_back("width", std::to_string(width));
      }
      if (role == "member" || role == "field") read_back(made, values);
      made.options.insert(made.options.begin(), {"role", std::move(role)});
      made.not_null = true;
      table.columns.push_back(std::move(made));
    };
    Values first, second;
    for (std::string& text : elements_of(entry)) first.emplace_back(std::move(text));
    for (std::string& text : elements_of(entry, true)) second.emplace_back(std::move(text));
    if (entry.type == "stream") return add_stream_columns(table, entry, taken);
    if (entry.type == "list") {
      table.columns.push_back({"position", "bigint", {{"role", "position"}}, true, {}});
      taken.insert("position");
    }
    if (entry.type == "hash") {
      add("field", first, "field");
      add("value", second, "value");
      return;
    }
    const std::optional<std::size_t> entity = element_entity(entry);
    if (entity) references_.push_back({*entity, number, table.columns.size()});
    if (entry.type == "set" && entry.slot_count() == 1) known_.relations.push_back({&entry, number});
    add(entity ? column_name(entities_[*entity].base.back().text) + "_id" : element_name(entry), first, entry.type == "list" ? "value" : "member");
    if (entry.type == "zset") {
      table.columns.push_back({unique_name("score", taken), "double precision", {{"role", "score"}}, true, {}});
    }
  }

  /// Notes of the newest table that its keys (theme:{id}:product) or its members (theme:zset) belong to the rows of another one.
  void note_parent(const KeyspaceEntry& entry) {
    for (const Entity& entity : entities_) {
      if (!starts_with(entry.pieces, entity.base)) continue;
      const std::size_t next = entity.base.size();
      const bool is_slot = entry.slot_count() == 1 && entry.pieces.size() > next + 1 && entry.pieces[next].is_slot && entry.pieces[next].kind == entity.kind;
      const bool has_members = !entry.has_slot() && entry.pieces.size() == next + 1 && (entry.type == "set" || entry.type == "zset");
      if (is_slot) known_.parents.push_back({proposal_.tables.size() - 1, 0, entity.table});
      else if (has_members && are_ids(entity, elements_of(entry))) known_.parents.push_back({proposal_.tables.size() - 1, 0, entity.table});
    }
  }

  /// The rows that elements lead to: of a table with the name of the last word, or of the one that they stand beside.
  std::optional<std::size_t> element_entity(const KeyspaceEntry& entry) const {
    const std::string& last = entry.last_text();
    if (last.empty() || entry.pieces.back().is_slot) return std::nullopt;
    for (std::size_t i = 0; i < entities_.size(); ++i) {
      const Entity& entity = entities_[i];
      if (entity.base.empty()) continue;
      const std::string& own = entity.base.back().text;
      if ((own == last || own + "s" == last) && are_ids(entity, elements_of(entry))) return i;
      // theme:zset, product:list
      const bool beside = starts_with(entry.pieces, entity.base) && entry.pieces.size() == entity.base.size() + 1 && !entry.has_slot();
      if (beside && are_ids(entity, elements_of(entry))) return i;
    }
    return std::nullopt;
  }

  /// Returns the column name of elements that lead to no rows.
  static std::string element_name(const KeyspaceEntry& entry) {
    const std::string plain = entry.type == "list" ? "value" : "member";
    const std::string& last = entry.last_text();
    if (last.empty() || entry.pieces.back().is_slot || is_structure_word(last)) return plain;
    return entry.has_slot() || is_key_name(last) ? column_name(last) : plain;
  }

  static void add_stream_columns(ProposedTable& table, const KeyspaceEntry& entry, std::set<std::string>& taken) {
    table.columns.push_back({unique_name("entry_id", taken), "text", {{"role", "id"}}, true, {}});
    table.columns.push_back({unique_name("entry_time", taken), "timestamptz", {{"role", "time"}}, true, {}});
    std::map<std::string, Values> fields;
    std::vector<std::string> order;
    for (const KeySample& sample : entry.samples) {
      for (const auto& [field, value] : sample.parts) {
        if (!fields.contains(field)) order.push_back(field);
        fields[field].emplace_back(value);
      }
    }
    leave_out_fields(order, table);
    for (const std::string& field : order) {
      const std::string name = unique_name(column_name(field), taken);
      ProposedColumn made = column(name, fields[field], false);
      made.not_null = false;
      if (name != field) made.options.emplace(made.options.begin(), "field", field);
      table.columns.push_back(std::move(made));
    }
  }

  void propose_string(KeyspaceEntry& entry) {
    ProposedTable& table = add_table(entry, "string");
    const std::vector<std::string> slots = slot_names(entry.pieces);
    add_slots(table, entry, slots);
    Values values;
    for (const KeySample& sample : entry.samples) values.emplace_back(sample.parts.empty() ? "" : sample.parts[0].second);
    std::set<std::string> taken(slots.begin(), slots.end());
    ProposedColumn made = column(unique_name("value", taken), values, true);
    std::erase_if(made.options, [](const auto& option) { return option.first == "absent"; });
    made.options.insert(made.options.begin(), {"role", "value"});
    made.not_null = true;
    table.columns.push_back(std::move(made));
  }

  /// Both sides of relations: the keys of entities, and the columns that lead to them.
  std::vector<ProposedRelation> relations() const {
    std::vector<ProposedRelation> relations;
    for (std::size_t i = 0; i < entities_.size(); ++i) {
      const Entity& entity = entities_[i];
      ProposedRelation relation{entity.table, entity.slot, {}, entity.base.empty() ? "" : column_name(entity.base.back().text) + "_id"};
      for (const Reference& reference : references_) {
        if (reference.entity == i) relation.references.push_back({reference.table, reference.column});
      }
      relations.push_back(std::move(relation));
    }
    return relations;
  }

  Proposal proposal_;
  KnownOfTables known_;
  std::vector<KeyspaceEntry> entries_;
  std::vector<Entity> entities_;
  /// A column whose values are ids of an entity.
  struct Reference {
    std::size_t entity, table, column;
  };
  std::vector<Reference> references_;
};

}  // namespace

Proposal propose_tables(std::vector<SampledShape> shapes) { return Proposer(std::move(shapes)).run(); }

}  // namespace redquel::sql
