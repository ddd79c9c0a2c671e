// pg_get_keywords(): PostgreSQL 15's words (manual, appendix C).

#include <array>

#include "sql/functions/families.h"

namespace redquel::sql {
namespace {

struct KeywordCategory {
  char code;
  std::string_view description;
  std::string_view words;  // sorted; * behind those that are no column label without AS
};

constexpr KeywordCategory kCategories[] = {
    {'C', "unreserved (cannot be function or type name)",
     "between bigint bit boolean char* character* coalesce dec decimal exists extract float greatest grouping inout int "
     "integer interval least national nchar none normalize nullif numeric out overlay position precision* real row setof "
     "smallint substring time timestamp treat trim values varchar xmlattributes xmlconcat xmlelement xmlexists xmlforest "
     "xmlnamespaces xmlparse xmlpi xmlroot xmlserialize xmltable"},
    {'R', "reserved",
     "all analyse analyze and any array* as* asc asymmetric both case cast check collate column constraint create* "
     "current_catalog current_date current_role current_time current_timestamp current_user default deferrable desc distinct "
     "do else end except* false fetch* for* foreign from* grant* group* having* in initially intersect* into* lateral "
     "leading limit* localtime localtimestamp not null offset* on* only or order* placing primary references returning* "
     "select session_user some symmetric table then to* trailing true union* unique user using variadic when where* window* "
     "with*"},
    {'T', "reserved (can be function or type name)",
     "authorization binary collation concurrently cross current_schema freeze full ilike inner is isnull* join left like "
     "natural notnull* outer overlaps* right similar tablesample verbose"},
    {'U', "unreserved",
     "abort absolute access action add admin after aggregate also alter always asensitive assertion assignment at atomic "
     "attach attribute backward before begin breadth by cache call called cascade cascaded catalog chain characteristics "
     "checkpoint class close cluster columns comment comments commit committed compression configuration conflict connection "
     "constraints content continue conversion copy cost csv cube current cursor cycle data database day* deallocate declare "
     "defaults deferred definer delete delimiter delimiters depends depth detach dictionary disable discard document domain "
     "double drop each enable encoding encrypted enum escape event exclude excluding exclusive execute explain expression "
     "extension external family filter* finalize first following force forward function functions generated global granted "
     "groups handler header hold hour* identity if immediate immutable implicit import include including increment index "
     "indexes inherit inherits inline input insensitive insert instead invoker isolation key label language large last "
     "leakproof level listen load local location lock locked logged mapping match matched materialized maxvalue merge method "
     "minute* minvalue mode month* move name names new next nfc nfd nfkc nfkd no normalized nothing notify nowait nulls "
     "object of off oids old operator option options ordinality others over* overriding owned owner parallel parameter "
     "parser partial partition passing password plans policy preceding prepare prepared preserve prior privileges procedural "
     "procedure procedures program publication quote range read reassign recheck recursive ref referencing refresh reindex "
     "relative release rename repeatable replace replica reset restart restrict return returns revoke role rollback rollup "
     "routine routines rows rule savepoint schema schemas scroll search second* security sequence sequences serializable "
     "server session set sets share show simple skip snapshot sql stable standalone start statement statistics stdin stdout "
     "storage stored strict strip subscription support sysid system tables tablespace temp template temporary text ties "
     "transaction transform trigger truncate trusted type types uescape unbounded uncommitted unencrypted unknown unlisten "
     "unlogged until update vacuum valid validate validator value varying* version view views volatile whitespace within* "
     "without* work wrapper write xml year* yes zone"},
};

class KeywordRows final : public RowSource {
 public:
  Batch next(std::size_t limit) override {
    std::array<Column, 5> columns = {Column(kText), Column(Type{oid::kChar}), Column(kBool), Column(kText), Column(kText)};
    Batch batch;
    for (; batch.rows < limit && category_ < std::size(kCategories); ++batch.rows) {
      const KeywordCategory& category = kCategories[category_];
      const std::size_t end = std::min(category.words.find(' ', at_), category.words.size());
      std::string_view word = category.words.substr(at_, end - at_);
      at_ = end + 1;
      if (at_ > category.words.size()) at_ = 0, ++category_;
      const bool needs_as = word.ends_with('*');
      if (needs_as) word.remove_suffix(1);
      columns[0].append(word);
      columns[1].append(std::string_view(&category.code, 1));
      columns[2].append(!needs_as);
      columns[3].append(category.description);
      columns[4].append(std::string_view(needs_as ? "requires AS" : "can be bare label"));
    }
    for (Column& column : columns) batch.columns.push_back(std::make_shared<const Column>(std::move(column)));
    return batch;
  }

 private:
  std::size_t category_ = 0, at_ = 0;
};

std::unique_ptr<RowSource> open_keywords(std::span<const Datum>, const EvaluationContext&) { return std::make_unique<KeywordRows>(); }

}  // namespace

std::vector<TableFunction> keyword_rows() {
  return {{"pg_get_keywords",
           {},
           {{"word", oid::kText}, {"catcode", oid::kChar}, {"barelabel", oid::kBool}, {"catdesc", oid::kText}, {"baredesc", oid::kText}},
           open_keywords}};
}

}  // namespace redquel::sql
