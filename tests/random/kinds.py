"""What random expressions are made of, by kind: the literals of each type, and the templates of what gives it."""
import re

COMPARISONS = ("=", "<>", "<", "<=", ">", ">=")


def typed(type_, *literals):
    return [f"'{literal}'::{type_}" for literal in literals] + [f"NULL::{type_}"]


def binary(operators, *sides):
    return [f"({left} {operator} {right})" for operator in operators for left, right in sides]


def comparisons(*types):
    return [template for type_ in types for template in
            binary(COMPARISONS + ("IS DISTINCT FROM",), (f"{{{type_}}}", f"{{{type_}}}")) + [
                f"({{{type_}}} BETWEEN {{{type_}}} AND {{{type_}}})", f"({{{type_}}} IN ({{{type_}}}, {{{type_}}}))"]]


def conditionals(type_):
    hole = f"{{{type_}}}"
    return [f"CASE WHEN {{bool}} THEN {hole} ELSE {hole} END", f"coalesce({hole}, {hole})", f"nullif({hole}, {hole})",
            f"greatest({hole}, {hole})", f"least({hole}, {hole})"]


BOOL = ["true", "false", "NULL::bool"]
LOGIC = ["({bool} AND {bool})", "({bool} OR {bool})", "(NOT {bool})", "({bool} IS NOT TRUE)", "({bool} IS NULL)"]


class Numbers:
    literals = {
        "int2": typed("int2", "0", "1", "-1", "-32768", "32767", "7", "181"),
        "int4": typed("int4", "0", "1", "-1", "-2147483648", "2147483647", "46341", "-3", "31"),
        "int8": typed("int8", "0", "1", "-1", "-9223372036854775808", "9223372036854775807", "3037000500", "2147483648", "63"),
        "numeric": typed("numeric", "0", "1", "-1", "0.00", "1.50", "-2.5", "1e-20", "123456789012345678901234567890.123", "NaN", "Infinity",
                         "-Infinity", "1e100", "0.5", "2", "99999.99999"),
        "float4": typed("float4", "0", "-0", "1.5", "-2.5", "3.4028235e38", "1e-45", "NaN", "Infinity", "0.1", "16777217"),
        "float8": typed("float8", "0", "-0", "1.5", "-2.5", "1.7976931348623157e308", "5e-324", "NaN", "-Infinity", "0.1", "9007199254740993"),
        "small": ["0", "1", "2", "3", "-1", "-2", "5"],
        "bool": BOOL,
    }
    templates = {
        "int2": binary("+-*/%&|#", ("{int2}", "{int2}")) + ["(- {int2})", "(~ {int2})", "abs({int2})", "({int2} << {small})", "({int2} >> {small})",
                                                           "({int4})::int2", "({numeric})::int2", "({float8})::int2"] + conditionals("int2"),
        "int4": binary("+-*/", ("{int4}", "{int4}"), ("{int2}", "{int4}"), ("{int4}", "{int2}")) + binary("%&|#", ("{int4}", "{int4}")) + [
            "(- {int4})", "(~ {int4})", "(@ {int4})", "({int4} << {small})", "({int4} >> {int4})", "gcd({int4}, {int4})", "lcm({int4}, {int4})",
            "({int8})::int4", "({numeric})::int4", "({float4})::int4", "({float8})::int4", "sign({int4})::int4",
            "width_bucket({numeric}, {numeric}, {numeric}, {small})", "scale({numeric})", "min_scale({numeric})"] + conditionals("int4"),
        "int8": binary("+-*/", ("{int8}", "{int8}"), ("{int4}", "{int8}"), ("{int8}", "{int4}"), ("{int2}", "{int8}"), ("{int8}", "{int2}"))
                + binary("%&|#", ("{int8}", "{int8}")) + ["(- {int8})", "abs({int8})", "({int8} << {small})", "gcd({int8}, {int8})",
                                                         "lcm({int8}, {int8})", "({numeric})::int8", "({float8})::int8"] + conditionals("int8"),
        "numeric": binary("+-*/%^", ("{numeric}", "{numeric}")) + [
            "(- {numeric})", "abs({numeric})", "round({numeric})", "round({numeric}, {small})", "trunc({numeric}, {small})", "ceil({numeric})",
            "floor({numeric})", "sqrt({numeric})", "exp({numeric})", "ln({numeric})", "log({numeric})", "log({numeric}, {numeric})",
            "div({numeric}, {numeric})", "mod({numeric}, {numeric})", "gcd({numeric}, {numeric})", "lcm({numeric}, {numeric})",
            "trim_scale({numeric})", "({int8})::numeric", "({float8})::numeric", "({float4})::numeric", "({numeric})::numeric(10,3)",
            "({numeric})::numeric(3,-2)", "({numeric})::numeric(2,4)", "factorial({small})", "sign({numeric})", "power({numeric}, {small})"]
        + conditionals("numeric"),
        "float4": binary("+-*/", ("{float4}", "{float4}")) + ["(- {float4})", "abs({float4})", "({float8})::float4", "({numeric})::float4",
                                                             "({int8})::float4"],
        "float8": binary("+-*/", ("{float8}", "{float8}"), ("{float4}", "{float8}"), ("{float8}", "{float4}")) + [
            "(- {float8})", "abs({float8})", "round({float8})", "trunc({float8})", "ceil({float8})", "floor({float8})", "sqrt({float8})",
            "cbrt({float8})", "sign({float8})", "({int8})::float8", "({numeric})::float8", "({float4})::float8", "degrees({float8})",
            "radians({float8})"],
        "bool": comparisons("int2", "int4", "int8", "numeric", "float4", "float8") + LOGIC
        + binary(COMPARISONS, ("{int2}", "{int8}"), ("{int4}", "{int8}"), ("{int8}", "{int2}"), ("{float4}", "{float8}"), ("{int8}", "{numeric}"),
                 ("{int8}", "{float8}"), ("{numeric}", "{float8}")),
        "text": ["({int2})::text", "({int8})::text", "({numeric})::text", "({float4})::text", "({float8})::text", "to_char({numeric}, '999D99')",
                 "to_char({int8}, 'S9999')", "to_char({float8}, '9.9EEEE')", "to_char({int4}, '9V99')", "to_hex({int8})",
                 "format('%s %s', {numeric}, {float8})"],
    }


class Times:
    literals = {
        "timestamp": typed("timestamp", "294276-12-31 23:59:59.999999", "4714-11-24 BC", "infinity", "-infinity", "2024-03-10 02:30:00",
                           "2024-01-01 12:00", "2024-07-01 12:00", "2024-11-03 01:30", "1883-11-18 12:00", "1999-12-31 23:59:59.999999",
                           "2000-02-29", "0044-03-15 BC"),
        "timestamptz": typed("timestamptz", "294276-12-31 23:59:59.999999", "4714-11-25 BC", "infinity", "-infinity", "2024-03-10 02:30:00",
                             "2024-01-01 12:00", "2024-07-01 12:00", "2024-11-03 01:30", "1883-11-18 12:00", "2000-02-29 23:59:59.5", "1970-01-01"),
        "interval": typed("interval", "1 mon", "30 days", "-1 mon", "1 day", "24 hours", "1 year 2 mons 3 days 04:05:06.789", "-1 day 25 hours",
                          "178000000 years", "2147483647 days", "2562047000:00:00", "-2562047000:00:00", "00:00:00.000001", "0",
                          "15 min", "-1 year 13 mons -31 days"),
        "date": typed("date", "5874897-12-31", "4714-11-24 BC", "infinity", "-infinity", "2024-03-10", "2024-02-29", "0001-01-01", "1883-11-18",
                      "294277-01-01"),
        "time": typed("time", "00:00", "24:00:00", "23:59:59.999999", "12:30:15.5"),
        "timetz": typed("timetz", "00:00+00", "24:00:00-15", "12:30:15.5+05:45", "23:59:59.999999-08"),
        "zone": ["'UTC'", "'America/New_York'", "'Europe/Berlin'", "'Asia/Kathmandu'", "'+03:30'", "'EST5EDT'", "'Australia/Lord_Howe'",
                 "'Pacific/Apia'"],
        "field": ["year", "month", "day", "hour", "minute", "second", "milliseconds", "week", "isoyear", "isodow", "dow", "doy", "quarter",
                  "decade", "century", "millennium", "epoch"],
        "factor": ["0.5", "2", "-1.5", "1e10", "0", "-0.1", "3"],
        "int": ["0", "1", "-1", "2024", "12", "31", "2147483647", "-2147483648", "7", "29", "23", "59", "NULL::int"],
        "hour": ["0", "2", "12", "23", "24"],
        "bool": BOOL,
    }
    templates = {
        "timestamp": ["({timestamp} + {interval})", "({timestamp} - {interval})", "({timestamptz} AT TIME ZONE {zone})",
                      "date_trunc('{field}', {timestamp})", "date_bin({interval}, {timestamp}, {timestamp})", "({date} + {time})",
                      "({date} + {interval})", "({date})::timestamp", "make_timestamp({int}, {int}, {int}, {hour}, {int}, {factor})",
                      "({timestamptz})::timestamp", "({timestamp})::timestamp(2)"] + conditionals("timestamp"),
        "timestamptz": ["({timestamptz} + {interval})", "({timestamptz} - {interval})", "({timestamp} AT TIME ZONE {zone})",
                        "date_trunc('{field}', {timestamptz})", "date_trunc('{field}', {timestamptz}, {zone})",
                        "date_bin({interval}, {timestamptz}, {timestamptz})", "({timestamp})::timestamptz", "({date})::timestamptz",
                        "make_timestamptz(2024, 3, 10, {hour}, 30, 0, {zone})", "to_timestamp({factor})", "({date} + {timetz})"]
        + conditionals("timestamptz"),
        "interval": ["({timestamp} - {timestamp})", "({timestamptz} - {timestamptz})", "age({timestamp}, {timestamp})",
                     "age({timestamptz}, {timestamptz})", "({interval} + {interval})", "({interval} - {interval})", "({interval} * {factor})",
                     "({interval} / {factor})", "justify_interval({interval})", "justify_days({interval})", "justify_hours({interval})",
                     "({time} - {time})", "(- {interval})", "date_trunc('{field}', {interval})",
                     "make_interval({int}, {int}, {int}, {int}, {int}, {int}, {factor})", "({time})::interval", "({interval})::interval(3)",
                     "({interval})::interval day to second", "({interval})::interval year to month"] + conditionals("interval"),
        "date": ["({date} + {int})", "({date} - {int})", "({timestamp})::date", "({timestamptz})::date", "make_date({int}, {int}, {int})"],
        "time": ["({time} + {interval})", "({time} - {interval})", "({timestamp})::time", "({timestamptz})::time", "({interval})::time",
                 "make_time({hour}, {int}, {factor})", "({timetz})::time"],
        "timetz": ["({timetz} + {interval})", "({timestamptz})::timetz", "({timetz} AT TIME ZONE {zone})", "({time})::timetz"],
        "number": ["extract({field} FROM {timestamp})", "extract({field} FROM {timestamptz})", "extract({field} FROM {interval})",
                   "extract({field} FROM {date})", "date_part('{field}', {time})", "date_part('{field}', {timetz})", "({date} - {date})"],
        "bool": comparisons("timestamp", "timestamptz", "interval", "date", "time", "timetz") + LOGIC
        + binary(COMPARISONS, ("{timestamp}", "{timestamptz}"), ("{date}", "{timestamptz}"), ("{timestamp}", "{date}"))
        + ["(({timestamp}, {interval}) OVERLAPS ({timestamp}, {timestamp}))", "(({time}, {time}) OVERLAPS ({time}, {interval}))"],
        "text": ["to_char({timestamp}, 'Day, DDth Month YYYY AD HH24:MI:SS.US')", "to_char({timestamptz}, 'IYYY-IW-ID Q CC J TZ OF')",
                 "to_char({interval}, 'YYYY-MM-DD HH24:MI:SS')", "({timestamptz})::text", "({interval})::text", "({timetz})::text"],
    }


class Arrays:
    literals = {
        "int": ["0", "1", "2", "3", "-1", "5", "NULL::int"],
        "ints": typed("int[]", "{}", "{1,2,3}", "{NULL}", "{1,NULL,3}", "{{1,2},{3,4}}", "[0:2]={5,6,7}", "{3,2,1}", "[-1:0][2:3]={{1,2},{3,4}}"),
        "text": typed("text", "", "a", "b", "NULL", "a,b", "{}", "x\"y", "1"),
        "texts": typed("text[]", "{}", "{a,b}", "{\"\",NULL}", "{\"NULL\",null}", "{\"a,b\",c}", "{{a},{b}}", "[2:3]={x,y}", "{\"\\\\\",\"\\\"\"}"),
        "bool": BOOL,
    }
    templates = {
        "int": ["{ints}[{int}]", "array_length({ints}, {int})", "array_ndims({ints})", "array_lower({ints}, {int})", "array_upper({ints}, {int})",
                "cardinality({ints})", "array_position({ints}, {int})", "({int} + {int})", "coalesce({int}, {int})", "({ints})[{int}][{int}]",
                "(SELECT sum(x)::int FROM unnest({ints}) x)", "(SELECT count(*)::int FROM generate_subscripts({ints}, 1))", "length({text})",
                "cardinality({texts})"],
        "ints": ["({ints} || {ints})", "({ints} || {int})", "({int} || {ints})", "array_append({ints}, {int})", "array_prepend({int}, {ints})",
                 "array_cat({ints}, {ints})", "array_remove({ints}, {int})", "array_replace({ints}, {int}, {int})", "({ints})[{int}:{int}]",
                 "({ints})[:{int}]", "({ints})[{int}:]", "array_positions({ints}, {int})", "ARRAY[{int}, {int}]", "ARRAY[{ints}, {ints}]",
                 "array_fill({int}, ARRAY[2, 1])", "trim_array({ints}, 1)", "ARRAY(SELECT x FROM unnest({ints}) x ORDER BY x)",
                 "string_to_array({text}, ',')::int[]", "({ints})::int8[]::int[]", "(SELECT array_agg(x ORDER BY x) FROM unnest({ints}) x)",
                 "coalesce({ints}, {ints})", "CASE WHEN {bool} THEN {ints} ELSE {ints} END", "({texts})::int[]", "greatest({ints}, {ints})"],
        "text": ["array_to_string({ints}, ',')", "array_to_string({texts}, ',', '*')", "({texts})[{int}]", "({ints})::text", "({texts})::text",
                 "array_dims({ints})", "({text} || {text})", "upper({text})", "to_json({texts})::text", "to_jsonb({ints})::text",
                 "quote_literal({text})"],
        "texts": ["({texts} || {text})", "({texts} || {texts})", "string_to_array({text}, ',')", "string_to_array({text}, NULL)",
                  "string_to_array({text}, ',', 'a')", "array_remove({texts}, {text})", "({texts})[{int}:]", "ARRAY[{text}, {text}]",
                  "regexp_split_to_array({text}, '')", "({ints})::text[]", "ARRAY(SELECT DISTINCT x FROM unnest({texts}) x ORDER BY 1)",
                  "regexp_match({text}, '(a)(b)?')"],
        "bool": comparisons("ints", "texts") + LOGIC + binary(("@>", "<@", "&&"), ("{ints}", "{ints}"), ("{texts}", "{texts}"))
        + ["({int} = ANY ({ints}))", "({int} <> ALL ({ints}))", "({text} = ANY ({texts}))", "({int} < ALL ({ints}))", "({texts} IS NULL)"],
    }


class Json:
    literals = {
        "int": ["0", "1", "-1", "2", "NULL::int"],
        "text": typed("text", "a", "b", "", "0", "c"),
        "path": typed("text[]", "{a}", "{a,b}", "{0}", "{}", "{a,-1}", "{b,0,c}", "{NULL}"),
        "jsonb": typed("jsonb", "{}", "[]", "null", "1", "1.0", "\"a\"", "\"\"", "true", "{\"a\": 1, \"b\": null}", "{\"a\": {\"b\": [1, 2, {\"c\": \"x\"}]}}",
                       "[1, \"a\", null, {\"a\": 1}]", "[[1], [2, 3]]", "{\"b\": [{\"c\": 1}], \"a\": \"\\u00e9\\n\"}", "1e3", "-0.00"),
        "json": typed("json", "{\"a\": 1, \"a\": 2}", " [1 , 2] ", "null", "\"x\"", "{\"b\":{\"c\": 1.50}}", "[{\"a\":null}]", "1e3"),
        "jsonpath": typed("jsonpath", "$", "$.a", "$.*", "$[*]", "$.a.b[1 to last]", "$[*] ? (@ > 1)", "strict $.a", "$.a ? (@.b[0] == 1)",
                          "lax $[0].a", "$.**", "$.a.type()", "$.a.size()", "$ ? (exists (@.a))", "$.a + 1", "-$[*]", "$[*].double()",
                          "$ ? (@.a like_regex \"^x\")", "$.keyvalue().key"),
        "bool": BOOL,
    }
    templates = {
        "int": ["jsonb_array_length({jsonb})", "json_array_length({json})", "length({text})", "({jsonb} ->> {text})::int", "({jsonb})::int",
                "(SELECT count(*)::int FROM jsonb_path_query({jsonb}, '$[*]'))"],
        "text": ["({jsonb} ->> {text})", "({jsonb} ->> {int})", "({jsonb} #>> {path})", "({json} ->> {text})", "({json} #>> {path})",
                 "jsonb_typeof({jsonb})", "json_typeof({json})", "({jsonb})::text", "({json})::text", "jsonb_pretty({jsonb})",
                 "(SELECT string_agg(k, ',' ORDER BY k) FROM jsonb_object_keys(jsonb_build_object('b', {jsonb})) k)", "({text} || {text})"],
        "jsonb": ["({jsonb} -> {text})", "({jsonb} -> {int})", "({jsonb} #> {path})", "({jsonb} || {jsonb})", "({jsonb} - {text})",
                  "({jsonb} - {int})", "({jsonb} #- {path})", "jsonb_set({jsonb}, {path}, {jsonb})", "jsonb_set({jsonb}, {path}, {jsonb}, false)",
                  "jsonb_insert({jsonb}, {path}, {jsonb})", "jsonb_strip_nulls({jsonb})", "jsonb_path_query_array({jsonb}, {jsonpath})",
                  "jsonb_path_query_first({jsonb}, {jsonpath})", "to_jsonb({text})", "to_jsonb({int})", "jsonb_build_object({text}, {jsonb})",
                  "jsonb_build_array({jsonb}, {text}, {int})", "({json})::jsonb", "jsonb_extract_path({jsonb}, {text}, {text})",
                  "jsonb_set_lax({jsonb}, {path}, {jsonb}, true, 'delete_key')", "coalesce({jsonb}, {jsonb})", "greatest({jsonb}, {jsonb})",
                  "(SELECT jsonb_agg(x) FROM jsonb_array_elements(jsonb_build_array({jsonb}, {text})) x)", "({jsonb})[{text}]", "({jsonb})['a'][0]",
                  "(SELECT jsonb_object_agg(k, v) FROM jsonb_each(jsonb_build_object('a', {jsonb})) e(k, v))"],
        "json": ["({json} -> {text})", "({json} -> {int})", "({json} #> {path})", "to_json({text})", "json_build_object({text}, {json})",
                 "json_build_array({json}, {int})", "json_strip_nulls({json})", "row_to_json(row({int}, {text}))", "({jsonb})::json",
                 "(SELECT json_agg(x) FROM json_array_elements(json_build_array({json}, {int})) x)"],
        "bool": comparisons("jsonb") + LOGIC + ["({jsonb} @> {jsonb})", "({jsonb} <@ {jsonb})", "({jsonb} ? {text})", "({jsonb} ?| {path})",
                                                "({jsonb} ?& {path})", "({jsonb} @? {jsonpath})", "({jsonb} @@ {jsonpath})",
                                                "jsonb_path_exists({jsonb}, {jsonpath})", "({jsonb} IS NULL)", "({jsonb})::bool"],
    }


EXTREMES = ("0", "1", "-1", "3", "1e308", "-1e308", "1.7e308", "1e-308", "1e200", "5e-324", "0.5", "NaN", "Infinity", "-Infinity", "1e-7", "1e154")
PLAIN = ("0", "1", "-1", "3", "2", "0.5", "4")


def shapes(form, count):
    """Literals of a geometric type: `form` with numbers in its holes. The numbers are spread evenly, so that each run has the same ones."""
    made = []
    for number in range(count):
        pool = PLAIN if number % 3 else EXTREMES
        place = iter(range(number, number + 100))
        made.append(re.sub("#", lambda _: pool[(next(place) * 7 + number) % len(pool)], form))
    return made


class Geometry:
    literals = {
        "point": typed("point", *shapes("(#,#)", 24)),
        "lseg": typed("lseg", *shapes("[(#,#),(#,#)]", 24)),
        "box": typed("box", *shapes("(#,#),(#,#)", 24)),
        "path": typed("path", *shapes("[(#,#),(#,#),(#,#)]", 12), *shapes("((#,#),(#,#))", 12)),
        "polygon": typed("polygon", *shapes("((#,#),(#,#),(#,#))", 16), *shapes("((#,#))", 6)),
        "circle": typed("circle", *shapes("<(#,#),1>", 12), "<(0,0),1e308>", "<(1,2),0>", "<(1,1),NaN>"),
        "bool": BOOL,
    }
    SHAPES = ("point", "lseg", "box", "path", "polygon", "circle")
    templates = {
        "point": ["({point} + {point})", "({point} - {point})", "({point} * {point})", "({point} / {point})", "center({box})", "center({circle})",
                  "({point} ## {lseg})", "({point} ## {box})", "({lseg} # {lseg})", "(@@ {lseg})", "(@@ {polygon})", "({lseg} ## {box})"],
        "lseg": ["lseg({point}, {point})", "diagonal({box})"],
        "box": ["box({point}, {point})", "({box} + {point})", "({box} * {point})", "({box} # {box})", "bound_box({box}, {box})", "box({circle})",
                "box({polygon})"],
        "path": ["({path} + {path})", "({path} + {point})", "pclose({path})", "popen({path})", "path({polygon})"],
        "polygon": ["polygon({box})", "polygon(4, {circle})", "polygon({path})"],
        "circle": ["circle({box})", "circle({polygon})", "({circle} * {point})", "({circle} - {point})"],
        "float8": ["({point} <-> {point})", "({point} <-> {lseg})", "({point} <-> {box})", "({box} <-> {lseg})", "({lseg} <-> {lseg})",
                   "({path} <-> {path})", "({polygon} <-> {polygon})", "({circle} <-> {circle})", "({circle} <-> {polygon})",
                   "({point} <-> {polygon})", "({path} <-> {point})", "area({box})", "area({path})", "length({path})", "radius({circle})",
                   "slope({point}, {point})", "height({box})", "(@-@ {lseg})"],
        "bool": LOGIC + ["({point} <@ {lseg})", "({point} <@ {box})", "({box} @> {box})", "({polygon} @> {polygon})", "({circle} @> {point})",
                         "({polygon} && {polygon})", "({box} && {box})", "({circle} && {circle})", "({lseg} ?# {lseg})", "({lseg} ?# {box})",
                         "({path} ?# {path})", "({lseg} ?|| {lseg})", "({lseg} ?-| {lseg})", "(?- {lseg})", "({point} ~= {point})",
                         "({box} = {box})", "({circle} <> {circle})", "({circle} < {circle})", "({polygon} ~= {polygon})", "({point} << {point})",
                         "({box} &< {box})", "({polygon} |>> {polygon})", "({path} @> {point})"],
    }


KINDS = {"numbers": Numbers, "times": Times, "arrays": Arrays, "json": Json, "geometry": Geometry}
