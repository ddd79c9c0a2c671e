#pragma once

#include <string>

#include "executor/catalog/catalog_draft.h"
#include "parser/ast.h"

namespace redquel::executor {

/// DROP TRIGGER. 42704 if it does not exist; with IF EXISTS a notice.
void drop_triggers(CatalogDraft& draft, const parser::ast::Drop& statement);
/// ALTER TRIGGER … RENAME TO. 42710, 42704.
void rename_trigger(CatalogDraft& draft, const parser::ast::Rename& statement);
/// COMMENT ON TRIGGER.
void comment_on_trigger(CatalogDraft& draft, const parser::ast::ObjectName& name, const std::string& text);
/// ENABLE and DISABLE TRIGGER. 42704; 0A000 for the triggers of foreign keys.
void set_trigger_firing(const CatalogDraft& draft, sql::TableDef& table, const parser::ast::SetTriggerFiring& written);
/// Throws 0A000 "cannot alter type of a column used in a trigger definition".
void check_no_trigger_uses(const CatalogDraft& draft, const sql::TableDef& table, std::int16_t column);

}  // namespace redquel::executor
