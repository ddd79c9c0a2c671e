#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace redquel::executor {

// Names that PostgreSQL chooses for what was given none: emp_pkey, emp_email_key, emp_salary_check, emp_dept_idx, emp_id_seq.

/// `first_second_label`, cut to 63 bytes at the longer of the first two (`second` may be empty).
std::string make_object_name(std::string_view first, std::string_view second, std::string_view label);
/// Like choose_name() above, with 1, 2, … behind the label while `is_taken`.
std::string choose_name(std::string_view first, std::string_view second, std::string_view label,
                        const std::function<bool(std::string_view)>& is_taken);
/// The part of an index's name that its columns give: joined by '_', cut when long.
std::string joined_column_names(const std::vector<std::string>& columns);

}  // namespace redquel::executor
