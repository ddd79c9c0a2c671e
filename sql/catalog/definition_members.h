#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "sql/catalog/catalog.h"
#include "sql/catalog/mapping.h"
#include "sql/catalog/stored_place.h"
#include "sql/catalog/stored_words.h"

namespace redquel::sql {

// One function per struct of the catalog lists its members once, for both directions: a visitor either writes them into an object or reads
// them (Visitor::kWrites). The names are stored data: docs/data-in-redis.md.

template <typename Visitor>
void visit(Visitor& visitor, Type& type) {
  visitor.member("oid", type.oid);
  visitor.member("modifier", type.modifier);
}

template <typename Visitor>
void visit(Visitor& visitor, ColumnDef& column) {
  visitor.member("number", column.number);
  visitor.member("name", column.name);
  visitor.member("field", column.field);
  visitor.member("type", column.type);
  visitor.member("domain", column.domain);
  visitor.member("not_null", column.not_null);
  visitor.member("default", column.default_sql);
  visitor.member("generated", column.generated_sql);
  visitor.word("identity", column.identity, kIdentityNames);
  visitor.member("sequence", column.sequence);
  visitor.member("missing", column.missing);
  visitor.member("hidden", column.hidden);
  visitor.member("collation", column.collation);
  visitor.member("comment", column.comment);
  visitor.member("acl", column.acl);
}

template <typename Visitor>
void visit(Visitor& visitor, IndexDef::Part& part) {
  visitor.member("column", part.column);
  visitor.member("descending", part.descending);
  visitor.member("nulls_first", part.nulls_first);
  visitor.member("shown_column", part.shown_column);
  visitor.member("expression", part.expression_sql);
  visitor.member("operator_class", part.operator_class);
}

template <typename Visitor>
void visit(Visitor& visitor, IndexDef& index) {
  // The members of the constraint lie among the others, its kind as two flags.
  using enum IndexConstraint::Kind;
  IndexConstraint constraint = index.constraint.value_or(IndexConstraint());
  bool is_constraint = index.constraint.has_value(), is_primary = constraint.kind == kPrimaryKey, is_exclusion = constraint.kind == kExclusion;
  visitor.member("oid", index.oid);
  visitor.member("name", index.name);
  visitor.word("method", index.method, kMethodNames);
  visitor.word("state", index.state, kStateNames);
  visitor.member("rebuilding", index.rebuilding);
  visitor.member("unique", index.unique);
  visitor.member("primary", is_primary);
  visitor.member("constraint", is_constraint);
  visitor.member("exclusion", is_exclusion);
  visitor.member("nulls_not_distinct", index.nulls_not_distinct);
  visitor.member("deferrable", constraint.deferrable);
  visitor.member("initially_deferred", constraint.initially_deferred);
  visitor.member("parts", index.parts);
  visitor.member("predicate", index.predicate_sql);
  visitor.member("included", index.included);
  visitor.member("short_members", index.short_members);
  visitor.member("definition_suffix", index.definition_suffix);
  bool keeps_entries = Visitor::kWrites && index.method == IndexMethod::kGin && !index.is_remembered();
  visitor.member("keeps_entries", keeps_entries);
  const auto* mapped = std::get_if<MappedIndex>(&index.storage);
  MappedIndex structure = mapped == nullptr ? MappedIndex() : *mapped;
  if (mapped != nullptr || index.method > IndexMethod::kHash) {
    visitor.member("key", structure.key);
    visitor.member("maintained", structure.maintained);
    visitor.member("length", structure.length);
    visitor.member("entry", structure.member);
    visitor.member("field", structure.field);
  }
  if constexpr (!Visitor::kWrites) {
    if (!structure.key.empty()) index.storage = std::move(structure);
    else if (is_remembered(index.method) && !index.unique) index.storage = RememberedIndex();
    else if (index.method == IndexMethod::kGin && !keeps_entries) index.storage = RememberedIndex();  // of a redquel that kept none
  }
  visitor.member("comment", index.comment);
  visitor.member("constraint_comment", constraint.comment);
  if constexpr (!Visitor::kWrites) {
    constraint.kind = is_primary ? kPrimaryKey : is_exclusion ? kExclusion : kUnique;
    if (is_constraint) index.constraint = std::move(constraint);
  }
}

template <typename Visitor>
void visit(Visitor& visitor, CheckDef& check) {
  visitor.member("name", check.name);
  visitor.member("expression", check.expression_sql);
  visitor.member("comment", check.comment);
  visitor.member("no_inherit", check.no_inherit);
  visitor.member("not_valid", check.not_valid);
}

template <typename Visitor>
void visit(Visitor& visitor, ForeignKeyDef& key) {
  visitor.member("oid", key.oid);
  visitor.member("name", key.name);
  visitor.member("columns", key.columns);
  visitor.member("referenced", key.referenced);
  visitor.member("referenced_columns", key.referenced_columns);
  visitor.member("referenced_index", key.referenced_index);
  visitor.member("index", key.index);
  visitor.member("match_full", key.match_full);
  visitor.word("on_delete", key.on_delete, kActionNames);
  visitor.word("on_update", key.on_update, kActionNames);
  visitor.member("set_columns", key.set_columns);
  visitor.member("deferrable", key.deferrable);
  visitor.member("initially_deferred", key.initially_deferred);
  visitor.member("not_valid", key.not_valid);
  visitor.member("comment", key.comment);
}

template <typename Visitor>
void visit(Visitor& visitor, Mapping::Column& column) {
  visitor.member("number", column.number);
  if constexpr (!Visitor::kWrites) column.role = Mapping::Role::kSlot;  // what is not written
  visitor.word("role", column.role, kRoleNames);
  visitor.member("field", column.field);
  visitor.word("format", column.format, kFormatNames);
  visitor.member("delimiter", column.delimiter);
  visitor.word("absent", column.absent, kAbsentNames);
  visitor.member("default", column.default_text);
  visitor.member("repeats_key", column.repeats_key);
  visitor.member("parent", column.parent);
  visitor.member("width", column.width);
}

template <typename Visitor>
void visit(Visitor& visitor, Mapping::Option& option) {
  visitor.member("column", option.column);
  visitor.member("name", option.name);
  visitor.member("value", option.value);
}

template <typename Visitor>
void visit(Visitor& visitor, KeyTemplate& key) {
  std::string text = key.parts().empty() ? std::string() : key.stored_text();
  visitor.member("template", text);
  if (!text.empty()) key = KeyTemplate::parse_stored(text);
}

template <typename Visitor>
void visit(Visitor& visitor, Mapping& mapping) {
  visitor.word("layout", mapping.layout, kLayoutNames);
  visitor.member("key", mapping.key);
  visitor.member("ohm", mapping.ohm);
  visitor.member("database", mapping.database);
  if (mapping.versions != 0 || !Visitor::kWrites) {
    visitor.member("versions", mapping.versions);
    visitor.member("version", mapping.version);
  }
  visitor.member("counter", mapping.counter);
  visitor.word("parts", mapping.parts, kPartsNames);
  visitor.member("delimiter", mapping.delimiter);
  visitor.member("columns", mapping.columns);
  visitor.member("options", mapping.options);
}

template <typename Visitor>
void visit(Visitor& visitor, PolicyDef::Reference& reference) {
  visitor.member("relation", reference.relation);
  visitor.member("columns", reference.columns);
}

template <typename Visitor>
void visit(Visitor& visitor, PolicyDef& policy) {
  visitor.member("oid", policy.oid);
  visitor.member("name", policy.name);
  visitor.member("restrictive", policy.restrictive);
  visitor.word("command", policy.command, kPolicyCommandNames);
  visitor.member("roles", policy.roles);
  visitor.member("using", policy.using_sql);
  visitor.member("check", policy.check_sql);
  visitor.member("references", policy.references);
  visitor.member("comment", policy.comment);
}

template <typename Visitor>
void visit(Visitor& visitor, TriggerDef& trigger) {
  visitor.member("oid", trigger.oid);
  visitor.member("name", trigger.name);
  visitor.member("function", trigger.function);
  visitor.word("timing", trigger.timing, kTriggerTimingNames);
  visitor.member("for_each_row", trigger.for_each_row);
  visitor.member("events", trigger.events);
  visitor.member("columns", trigger.columns);
  visitor.member("when", trigger.when_sql);
  visitor.member("arguments", trigger.arguments);
  visitor.member("old_table", trigger.old_table);
  visitor.member("new_table", trigger.new_table);
  visitor.member("constraint", trigger.constraint);
  visitor.member("deferrable", trigger.deferrable);
  visitor.member("initially_deferred", trigger.initially_deferred);
  visitor.word("firing", trigger.firing, kTriggerFiringNames);
  visitor.member("references", trigger.references);
  visitor.member("comment", trigger.comment);
}

template <typename Visitor>
void visit(Visitor& visitor, PartitionKeyDef::Part& part) {
  visitor.member("column", part.column);
  visitor.member("operator_class", part.operator_class);
}

template <typename Visitor>
void visit(Visitor& visitor, PartitionKeyDef& key) {
  visitor.word("strategy", key.strategy, kPartitionStrategyNames);
  visitor.member("parts", key.parts);
}

template <typename Visitor>
void visit(Visitor& visitor, PartitionBoundDef::Value& value) {
  visitor.word("kind", value.kind, kPartitionValueNames);
  visitor.member("text", value.text);
}

template <typename Visitor>
void visit(Visitor& visitor, PartitionDef& partition) {
  visitor.member("parent", partition.parent);
  visitor.member("default", partition.bound.is_default);
  visitor.member("values", partition.bound.values);
  visitor.member("from", partition.bound.from);
  visitor.member("to", partition.bound.to);
  visitor.member("modulus", partition.bound.modulus);
  visitor.member("remainder", partition.bound.remainder);
}

template <typename Visitor>
void visit(Visitor& visitor, TableDef& table) {
  // The members of both kinds of storage lie among the others: `mapping` decides which of them the table has.
  ManagedRows managed;
  MappedRows mapped;
  std::visit(Overloaded{[&](const ManagedRows& rows) { managed = rows; }, [&](const MappedRows& rows) { mapped = rows; }}, table.storage);
  visitor.member("oid", table.oid);
  visitor.member("row_type", table.row_type);
  if (table.row_array != 0 || !Visitor::kWrites) visitor.member("row_array", table.row_array);
  visitor.member("schema", table.schema);
  visitor.member("name", table.name);
  visit_place(visitor, "prefix", table.prefix);
  visitor.member("version", table.version);
  visitor.member("columns", table.columns);
  visitor.member("next_column", table.next_column);
  visitor.member("used_fields", table.used_fields);
  visitor.member("primary_key", table.primary_key);
  visitor.member("primary_key_name", table.primary_key_index.name);
  visitor.member("primary_key_included", table.primary_key_index.included);
  visitor.member("primary_key_oid", table.primary_key_index.oid);
  visitor.member("primary_key_comment", table.primary_key_index.comment);
  visitor.member("primary_key_constraint_comment", table.primary_key_index.constraint_comment);
  visitor.member("presence", managed.presence);
  visitor.member("stores_key", managed.stores_key);
  visitor.member("indexes", table.indexes);
  visitor.member("checks", table.checks);
  visitor.member("foreign_keys", table.foreign_keys);
  visitor.member("referencing", table.referencing);
  visitor.member("comment", table.comment);
  visitor.member("owner", table.owner);
  visitor.word("on_commit", table.on_commit, kOnCommitNames);
  visitor.member("mapping", mapped.mapping);
  visitor.member("computed", table.computed);
  visitor.member("next_computed", table.next_computed);
  visitor.member("ttl", managed.expiry.written);
  visitor.member("ttl_milliseconds", managed.expiry.milliseconds);
  visitor.member("ttl_column", managed.expiry.column);
  visitor.member("cache", table.cache);
  visitor.member("materialized", table.materialized);
  if (table.materialized) {  // what is not written is false
    if constexpr (!Visitor::kWrites) table.populated = false;
    visitor.member("populated", table.populated);
  }
  visitor.member("acl", table.acl);
  visitor.member("row_security", table.security.enabled);
  visitor.member("force_row_security", table.security.forced);
  visitor.member("policies", table.security.policies);
  visitor.member("triggers", table.triggers);
  visitor.word("replica_identity", table.replica_identity, kReplicaIdentityNames);
  visitor.member("spread", table.spread);
  visitor.member("partition_key", table.partition_key);
  visitor.member("partition", table.partition);
  if constexpr (!Visitor::kWrites) {
    if (mapped.mapping) {
      table.storage = std::move(mapped);
    } else {
      table.storage = std::move(managed);
      // Older versions copied structures of foreign tables (LIKE … INCLUDING INDEXES).
      for (IndexDef& index : table.indexes) {
        if (std::holds_alternative<MappedIndex>(index.storage)) index.storage = ManagedIndex();
      }
    }
  }
}

template <typename Visitor>
void visit(Visitor& visitor, SequenceDef& sequence) {
  visitor.member("oid", sequence.oid);
  visitor.member("schema", sequence.schema);
  visitor.member("name", sequence.name);
  if (Visitor::kWrites && sequence.foreign) visitor.member("key", sequence.key);
  else visit_place(visitor, "key", sequence.key);
  visitor.member("type", sequence.type);
  visitor.member("start", sequence.start);
  visitor.member("increment", sequence.increment);
  visitor.member("minimum", sequence.minimum);
  visitor.member("maximum", sequence.maximum);
  visitor.member("cache", sequence.cache);
  visitor.member("cycle", sequence.cycle);
  visitor.member("owner_table", sequence.owner_table);
  visitor.member("owner_column", sequence.owner_column);
  visitor.member("foreign", sequence.foreign);
  if (!Visitor::kWrites || sequence.changes != 0) visitor.member("changes", sequence.changes);
  visitor.member("comment", sequence.comment);
  visitor.member("owner", sequence.owner);
  visitor.member("acl", sequence.acl);
}

template <typename Visitor>
void visit(Visitor& visitor, ViewDef::Column& column) {
  visitor.member("name", column.name);
  visitor.member("type", column.type);
  visitor.member("comment", column.comment);
  visitor.member("default", column.default_sql);
  visitor.member("updatable", column.updatable);
  visitor.member("acl", column.acl);
}

template <typename Visitor>
void visit(Visitor& visitor, ViewDef::Reference& reference) {
  visitor.member("relation", reference.relation);
  visitor.member("columns", reference.columns);
}

template <typename Visitor>
void visit(Visitor& visitor, ViewDef& view) {
  visitor.member("oid", view.oid);
  visitor.member("row_type", view.row_type);
  visitor.member("rule", view.rule);
  visitor.member("schema", view.schema);
  visitor.member("name", view.name);
  visitor.member("columns", view.columns);
  visitor.member("query", view.query);
  visitor.member("definition", view.definition);
  visitor.member("pretty_definition", view.pretty_definition);
  visitor.member("references", view.references);
  visitor.word("check_option", view.check_option, kCheckOptionNames);
  visitor.member("base", view.base);
  visitor.member("options", view.options);
  visitor.member("comment", view.comment);
  visitor.member("owner", view.owner);
  visitor.member("acl", view.acl);
  visitor.member("triggers", view.triggers);
}

template <typename Visitor>
void visit(Visitor& visitor, EnumLabel& label) {
  visitor.member("oid", label.oid);
  visitor.member("name", label.name);
  visitor.member("order", label.order);
}

template <typename Visitor>
void visit(Visitor& visitor, CompositeField& field) {
  visitor.member("name", field.name);
  visitor.member("type", field.type);
  visitor.member("domain", field.domain);
  visitor.member("comment", field.comment);
}

template <typename Visitor>
void visit(Visitor& visitor, RangeParts& parts) {
  visitor.member("multirange", parts.multirange);
  visitor.member("multirange_array", parts.multirange_array);
  visitor.member("multirange_name", parts.multirange_name);
  visitor.member("collation", parts.collation);
  visitor.member("subtype_diff", parts.subtype_diff);
}

template <typename Visitor>
void visit(Visitor& visitor, UserType& type) {
  visitor.member("oid", type.oid);
  visitor.member("array", type.array);
  visitor.member("schema", type.schema);
  visitor.member("name", type.name);
  visitor.member("owner", type.owner);
  visitor.member("comment", type.comment);
  visitor.word("kind", type.kind, kTypeKindNames);
  visitor.member("labels", type.labels);
  visitor.member("fields", type.fields);
  visitor.member("relation", type.relation);
  visitor.member("base", type.base);
  visitor.member("base_domain", type.base_domain);
  if (type.kind == UserType::Kind::kRange) visitor.member("range", type.range);
  if (type.kind == UserType::Kind::kDomain) visitor.member("collation", type.range.collation);
  visitor.member("not_null", type.not_null);
  visitor.member("default", type.default_sql);
  visitor.member("checks", type.checks);
  visitor.member("acl", type.acl);
}

template <typename Visitor>
void visit(Visitor& visitor, SchemaDef& schema) {
  visitor.member("oid", schema.oid);
  visitor.member("name", schema.name);
  visitor.member("owner", schema.owner);
  visitor.member("comment", schema.comment);
  visitor.member("acl", schema.acl);
}

template <typename Visitor>
void visit(Visitor& visitor, ExtensionDef& extension) {
  visitor.member("oid", extension.oid);
  visitor.member("name", extension.name);
  visitor.member("schema", extension.schema);
  visitor.member("version", extension.version);
  visitor.member("owner", extension.owner);
  visitor.member("comment", extension.comment);
}

template <typename Visitor>
void visit(Visitor& visitor, PublicationDef::Member& member) {
  visitor.member("oid", member.oid);
  visitor.member("object", member.object);
}

/// Members that are not written are false.
template <typename Visitor>
void visit(Visitor& visitor, PublicationDef& publication) {
  if constexpr (!Visitor::kWrites) publication.inserts = publication.updates = publication.deletes = publication.truncates = false;
  visitor.member("oid", publication.oid);
  visitor.member("name", publication.name);
  visitor.member("owner", publication.owner);
  visitor.member("comment", publication.comment);
  visitor.member("all_tables", publication.all_tables);
  visitor.member("insert", publication.inserts);
  visitor.member("update", publication.updates);
  visitor.member("delete", publication.deletes);
  visitor.member("truncate", publication.truncates);
  visitor.member("tables", publication.tables);
  visitor.member("schemas", publication.schemas);
}

template <typename Visitor>
void visit(Visitor& visitor, DefaultAclDef& definition) {
  visitor.member("oid", definition.oid);
  visitor.member("role", definition.role);
  visitor.member("schema", definition.schema);
  std::string kind(1, definition.kind);
  visitor.member("kind", kind);
  definition.kind = kind.empty() ? 'r' : kind.front();
  visitor.member("acl", definition.acl);
}

/// The list of an object that every database has.
struct StoredAcl {
  Acl acl;
};

template <typename Visitor>
void visit(Visitor& visitor, StoredAcl& stored) {
  visitor.member("acl", stored.acl);
}

template <typename Visitor>
void visit(Visitor& visitor, UserMappingDef& mapping) {
  visitor.member("oid", mapping.oid);
  visitor.member("role", mapping.role);
  visitor.member("user", mapping.user);
  visitor.word("maker", mapping.maker, kMappingMakerNames);
  visitor.member("has_password", mapping.has_password);
}

template <typename Visitor>
void visit(Visitor& visitor, ForeignServerDef& server) {
  visitor.member("owner", server.owner);
  visitor.member("acl", server.acl);
  visitor.member("comment", server.comment);
  visitor.member("mappings", server.mappings);
}

template <typename Visitor>
void visit(Visitor& visitor, FunctionDef::Parameter& parameter) {
  visitor.member("name", parameter.name);
  visitor.member("type", parameter.type);
  visitor.member("default", parameter.default_sql);
  visitor.word("mode", parameter.mode, kParameterModeNames);
}

template <typename Visitor>
void visit(Visitor& visitor, FunctionDef::Column& column) {
  visitor.member("name", column.name);
  visitor.member("type", column.type);
}

template <typename Visitor>
void visit(Visitor& visitor, FunctionDef& function) {
  visitor.member("oid", function.oid);
  visitor.member("schema", function.schema);
  visitor.member("name", function.name);
  visitor.member("parameters", function.parameters);
  visitor.member("result", function.result);
  if (function.result_relation != 0 || !Visitor::kWrites) visitor.member("result_relation", function.result_relation);
  visitor.member("procedure", function.procedure);
  visitor.member("columns", function.columns);
  visitor.member("returns_set", function.returns_set);
  visitor.member("table_syntax", function.table_syntax);
  if (function.language != "sql" || !Visitor::kWrites) visitor.member("language", function.language);
  visitor.member("body", function.body);
  visitor.member("standard_body", function.standard_body);
  visitor.member("atomic_body", function.atomic_body);
  visitor.member("strict", function.strict);
  visitor.member("window", function.window);
  visitor.word("volatility", function.volatility, kVolatilityNames);
  visitor.member("options", function.options);
  if (function.extension != 0 || !Visitor::kWrites) visitor.member("extension", function.extension);
  visitor.member("comment", function.comment);
  visitor.member("owner", function.owner);
  visitor.member("acl", function.acl);
}

}  // namespace redquel::sql
