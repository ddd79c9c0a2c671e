#!/usr/bin/env python3
"""Asks a PostgreSQL 15 what its catalogs hold of built-in objects: oids, names, types, properties. No sentences and no code.

    generate_facts.py -h 127.0.0.1 -p 5432 -U postgres      (psql's options) writes the .txt files beside it

Each file is a C++ literal that facts.cc includes. Its first line names the columns of the catalog, in order; facts.h says how to read
the rest. Objects that speak of types which redquel does not have are left out."""
import collections
import os
import subprocess
import sys

FOLDER = os.path.dirname(os.path.abspath(__file__))
ABSENT = """ARRAY(SELECT oid FROM pg_type WHERE typname = ANY ('{gtsvector,xml,refcursor,txid_snapshot,pg_snapshot,
_gtsvector,_xml,_refcursor,_txid_snapshot,_pg_snapshot}'))"""
ABSENT_FAMILY = f"(SELECT opcfamily FROM pg_opclass WHERE opcintype = ANY ({ABSENT}))"
PRESENT_FUNCTION = f"""p.pronamespace = 11 AND p.oid < 12000 AND NOT p.prorettype = ANY ({ABSENT})
    AND NOT p.proargtypes::oid[] && {ABSENT} AND NOT coalesce(p.proallargtypes && {ABSENT}, false)"""
# Objects that other catalogs refer to are listed although no client can call them.
REFERENCES = " UNION ALL ".join(
    f"SELECT {column}::oid FROM {catalog}" for catalog, columns in {
        "pg_type": "typinput typoutput typreceive typsend typmodin typmodout typanalyze typsubscript",
        "pg_operator": "oprcode oprrest oprjoin", "pg_amproc": "amproc", "pg_cast": "castfunc", "pg_conversion": "conproc",
        "pg_am": "amhandler", "pg_language": "lanplcallfoid laninline lanvalidator", "pg_proc": "prosupport",
        "pg_range": "rngcanonical rngsubdiff",
        "pg_aggregate": "aggtransfn aggfinalfn aggcombinefn aggserialfn aggdeserialfn aggmtransfn aggminvtransfn aggmfinalfn",
    }.items() for column in columns.split()) + " UNION ALL SELECT unnest('{3506,3507,3532,3533}'::oid[])"  # those of every enum

TABLES = {
    "pg_proc": f"""SELECT (p.oid IN ({REFERENCES})) AS supports, p.oid, proname, pronamespace, proowner, prolang, procost, prorows,
        provariadic, prosupport::oid, prokind, prosecdef, proleakproof, proisstrict, proretset, provolatile, proparallel, pronargs,
        pronargdefaults, prorettype, proargtypes, proallargtypes, proargmodes, proargnames,
        pg_get_expr(proargdefaults, 0) AS proargdefaults, protrftypes, CASE WHEN prolang = 12 THEN prosrc ELSE '' END AS prosrc, probin,
        NULL AS prosqlbody, proconfig, NULL AS proacl FROM pg_proc p WHERE {PRESENT_FUNCTION} ORDER BY p.oid""",
    "pg_type": f"""SELECT oid, typname, typnamespace, typowner, typlen, typbyval, typtype, typcategory, typispreferred, typisdefined,
        typdelim, typrelid, typsubscript::oid, typelem, typarray, typinput::oid, typoutput::oid, typreceive::oid, typsend::oid,
        typmodin::oid, typmodout::oid, typanalyze::oid, typalign, typstorage, typnotnull, typbasetype, typtypmod, typndims, typcollation,
        typdefaultbin, typdefault, typacl FROM pg_type t WHERE oid < 12000 AND typtype <> 'c' AND NOT oid = ANY ({ABSENT})
        AND NOT EXISTS (SELECT FROM pg_type e WHERE e.oid = t.typelem AND e.typtype = 'c') ORDER BY oid""",
    "pg_operator": f"""SELECT oid, oprname, oprnamespace, oprowner, oprkind, oprcanmerge, oprcanhash, oprleft, oprright, oprresult, oprcom,
        oprnegate, oprcode::oid, oprrest::oid, oprjoin::oid FROM pg_operator
        WHERE oid < 12000 AND NOT oprleft = ANY ({ABSENT}) AND NOT oprright = ANY ({ABSENT}) ORDER BY oid""",
    "pg_cast": f"""SELECT oid, castsource, casttarget, castfunc, castcontext, castmethod FROM pg_cast
        WHERE NOT castsource = ANY ({ABSENT}) AND NOT casttarget = ANY ({ABSENT}) ORDER BY oid""",
    "pg_opclass": f"""SELECT oid, opcmethod, opcname, opcnamespace, opcowner, opcfamily, opcintype, opcdefault, opckeytype FROM pg_opclass
        WHERE NOT opcintype = ANY ({ABSENT}) ORDER BY ctid""",
    "pg_opfamily": f"""SELECT oid, opfmethod, opfname, opfnamespace, opfowner FROM pg_opfamily f
        WHERE f.oid NOT IN {ABSENT_FAMILY} ORDER BY oid""",
    "pg_amop": f"""SELECT oid, amopfamily, amoplefttype, amoprighttype, amopstrategy, amoppurpose, amopopr, amopmethod, amopsortfamily
        FROM pg_amop WHERE amopfamily NOT IN {ABSENT_FAMILY} ORDER BY oid""",
    "pg_amproc": f"""SELECT oid, amprocfamily, amproclefttype, amprocrighttype, amprocnum, amproc::oid FROM pg_amproc
        WHERE amprocfamily NOT IN {ABSENT_FAMILY} ORDER BY oid""",
    "pg_aggregate": f"""SELECT aggfnoid::oid, aggkind, aggnumdirectargs, aggtransfn::oid, aggfinalfn::oid, aggcombinefn::oid,
        aggserialfn::oid, aggdeserialfn::oid, aggmtransfn::oid, aggminvtransfn::oid, aggmfinalfn::oid, aggfinalextra, aggmfinalextra,
        aggfinalmodify, aggmfinalmodify, aggsortop, aggtranstype, aggtransspace, aggmtranstype, aggmtransspace, agginitval, aggminitval
        FROM pg_aggregate JOIN pg_proc p ON p.oid = aggfnoid WHERE {PRESENT_FUNCTION} ORDER BY 1""",
    "pg_conversion": """SELECT oid, conname, connamespace, conowner, conforencoding, contoencoding, conproc::oid, condefault
        FROM pg_conversion WHERE oid < 16384 ORDER BY oid""",
    "pg_range": """SELECT rngtypid, rngsubtype, rngmultitypid, rngcollation, rngsubopc, rngcanonical::oid, rngsubdiff::oid FROM pg_range
        WHERE rngtypid < 16384 ORDER BY 1""",
    # The indexes of the catalogs: pg_class, pg_index and pg_constraint in one.
    "catalog_indexes": """SELECT c.oid, c.relname AS name, i.indrelid AS catalog, i.indisunique AS is_unique, i.indisprimary AS is_primary,
        coalesce(k.oid, 0) AS constraint_oid, i.indkey AS columns, i.indcollation AS collations, i.indclass AS classes,
        c.relisshared AS is_shared FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid LEFT JOIN pg_constraint k ON k.conindid = c.oid
        WHERE c.oid < 16384 AND c.relnamespace = 11 ORDER BY c.relname COLLATE "C" """,
}


def ask(query):
    psql = ["psql", "-X", "-A", "-q", "-F", "\t", "-P", "null=\\N", "-P", "footer=off", *sys.argv[1:], "-c", query]
    lines = subprocess.run(psql, check=True, capture_output=True, text=True).stdout.rstrip("\n").split("\n")
    return [line.split("\t") for line in lines]


def write(name, query):
    columns, *rows = ask(query)
    assert all(len(row) == len(columns) for row in rows), name
    head, commons = [], []
    for i, column in enumerate(columns):
        common, count = collections.Counter(row[i] for row in rows).most_common(1)[0]
        if count == len(rows):
            head.append(f"{column}={common}")
        elif 2 * count > len(rows) and common != "":
            head.append(f"{column}~{common}")
        else:
            head.append(column)
        commons.append((count == len(rows), common if "~" in head[-1] else None))
    with open(os.path.join(FOLDER, name + ".txt"), "w") as file:
        file.write('R"facts(\n' + "\t".join(head) + "\n")
        for row in rows:
            fields = []
            for value, (constant, common) in zip(row, commons):
                if constant:
                    continue
                fields.append("" if value == common else "\\E" if value == "" and common is not None else value)
            file.write("\t".join(fields) + "\n")
        file.write(')facts"\n')


for table, text in TABLES.items():
    write(table, text)
