#include "sql/passwords/password_verifier.h"

#include "sql/passwords/md5_verifier.h"
#include "sql/passwords/scram_verifier.h"

namespace redquel::sql {

PasswordForm password_form(std::string_view text) {
  if (is_md5_verifier(text)) return PasswordForm::kMd5;
  return parse_scram_verifier(text) ? PasswordForm::kScram : PasswordForm::kPlain;
}

std::string make_verifier(std::string_view text, std::string_view role, PasswordForm form) {
  if (password_form(text) != PasswordForm::kPlain) return std::string(text);
  return form == PasswordForm::kMd5 ? make_md5_verifier(text, role) : to_text(make_scram_verifier(text));
}

bool verifier_matches(std::string_view verifier, std::string_view role, std::string_view password) {
  if (is_md5_verifier(verifier)) return equals_in_constant_time(verifier, make_md5_verifier(password, role));
  const auto scram = parse_scram_verifier(verifier);
  return scram && matches_password(*scram, password);
}

}  // namespace redquel::sql
