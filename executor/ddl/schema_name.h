#pragma once

#include <string>

#include "executor/catalog/catalog_draft.h"

namespace redquel::executor {

/// 42939 for names that begin with pg_, 42P06 `schema "s" already exists`.
void check_new_schema_name(const CatalogDraft& draft, const std::string& name);

}  // namespace redquel::executor
