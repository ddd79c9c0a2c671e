#pragma once

#include "sql/system_tables/row_writer.h"

namespace redquel::sql {

// Rows of the tables about user mappings. ShownMappingPasswords has their passwords.

void user_mapping_rows(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext& context);   // pg_user_mapping
void user_mapping_view(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext& context);   // pg_user_mappings
void user_mapping_base(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext& context);   // information_schema._pg_user_mappings
void information_user_mappings(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext& context);
void information_user_mapping_options(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext& context);

}  // namespace redquel::sql
