#pragma once

#include "sql/extensions/extension.h"

namespace redquel::sql {

// The extensions, one file each; extension.cc puts them together.

Extension citext_extension();
Extension fuzzystrmatch_extension();
Extension pg_trgm_extension();
Extension pgcrypto_extension();
Extension unaccent_extension();
Extension uuid_ossp_extension();

/// The operators of citext. They are among the built-in ones: without the extension there are no values of the type.
std::vector<ScalarFunction> citext_operators();

}  // namespace redquel::sql
