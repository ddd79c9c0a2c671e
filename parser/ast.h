#pragma once

#include "parser/ast_expression.h"
#include "parser/ast_query.h"
#include "parser/ast_statement.h"
