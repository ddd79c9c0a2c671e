"""Every right on every kind of object, given and taken in every way: what a role may then do is the same as in PostgreSQL.

KINDS says how an object of a kind is made and which statement needs which right; each way below is a script of GRANT, REVOKE and uses.
Their product makes about 300 records. After each use the answer of has_*_privilege() is compared, and at the end the object's ACL."""
from dataclasses import dataclass

from harness.comparison import differences

SLOW = True
DATABASE = "privilege_records"
ROLES = "pr_owner pr_user pr_other pr_group pr_heir pr_apart".split()
SETUP = """
CREATE ROLE pr_owner; CREATE ROLE pr_user; CREATE ROLE pr_other; CREATE ROLE pr_group; CREATE ROLE pr_heir; CREATE ROLE pr_apart NOINHERIT;
GRANT pr_group TO pr_heir, pr_apart; GRANT pr_user TO pr_heir;
GRANT ALL ON SCHEMA public TO PUBLIC"""
# Rows of a foreign table: keys of Redis, or a table of the same PostgreSQL.
FOREIGN = {
    "redquel": """CREATE USER MAPPING FOR PUBLIC SERVER redis OPTIONS (user 'default', password 'any');
                  CREATE FOREIGN TABLE pr_shows_the_server (id int) SERVER redis OPTIONS (layout 'hash', key 'pr_shown:{{id}}')""",
    "PostgreSQL": """CREATE EXTENSION postgres_fdw; CREATE SERVER redis FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '{host}', dbname 'privilege_records');
                     CREATE USER MAPPING FOR PUBLIC SERVER redis OPTIONS (user 'postgres', password_required 'false');
                     CREATE TABLE pr_remote (id int PRIMARY KEY, word text)"""}
FOREIGN_TABLE = {
    "redquel": "CREATE FOREIGN TABLE pr_object (id int, word text) SERVER redis OPTIONS (layout 'hash', key 'pr:{id}')",
    "PostgreSQL": "CREATE FOREIGN TABLE pr_object (id int, word text) SERVER redis OPTIONS (table_name 'pr_remote')"}


@dataclass
class Kind:
    """A kind of object. `uses`: right to the statement that needs it, or None where no statement needs it alone."""
    name: str
    phrase: str  # of GRANT … ON
    create: object  # statements; by server where they differ
    uses: dict
    function: str = "table"  # of has_…_privilege
    argument: str = "pr_object"
    acl: str = "SELECT relacl FROM pg_class WHERE relname = 'pr_object'"
    alter: str = None  # ALTER … OWNER TO, where the phrase is not it
    columns: str = ""  # list after the right
    owner: str = "pr_owner"

    @property
    def altered(self):
        """The object as ALTER … OWNER TO names it."""
        return self.alter or self.phrase


TABLE = "CREATE TABLE pr_object (id int PRIMARY KEY, word text); INSERT INTO pr_object VALUES (1, 'one')"
BASE = "CREATE TABLE pr_base (id int PRIMARY KEY, word text); ALTER TABLE pr_base OWNER TO pr_owner; INSERT INTO pr_base VALUES (1, 'one'); "
READS_AND_WRITES = {"SELECT": "SELECT id, word FROM pr_object ORDER BY id", "INSERT": "INSERT INTO pr_object VALUES (7, 'seven')",
                    "UPDATE": "UPDATE pr_object SET word = 'new'", "DELETE": "DELETE FROM pr_object"}
KINDS = [
    Kind("table", "TABLE pr_object", TABLE,
         {**READS_AND_WRITES, "TRUNCATE": "TRUNCATE pr_object", "REFERENCES": "CREATE TABLE pr_made (id int REFERENCES pr_object)", "TRIGGER": None}),
    Kind("column", "TABLE pr_object", TABLE, {
        "SELECT": "SELECT id FROM pr_object ORDER BY id", "INSERT": "INSERT INTO pr_object (id) VALUES (7)",
        "UPDATE": "UPDATE pr_object SET id = 5", "REFERENCES": "CREATE TABLE pr_made (id int REFERENCES pr_object)"},
        function="column", argument="pr_object', 'id", columns=" (id)",
        acl="SELECT attacl FROM pg_attribute WHERE attrelid = 'pr_object'::regclass AND attname = 'id'"),
    Kind("view", "TABLE pr_object", BASE + "CREATE VIEW pr_object AS SELECT id, word FROM pr_base", READS_AND_WRITES, alter="VIEW pr_object"),
    Kind("materialized view", "TABLE pr_object", BASE + "CREATE MATERIALIZED VIEW pr_object AS SELECT id, word FROM pr_base",
         {"SELECT": READS_AND_WRITES["SELECT"]}, alter="MATERIALIZED VIEW pr_object"),
    Kind("foreign table", "TABLE pr_object", FOREIGN_TABLE, READS_AND_WRITES, alter="FOREIGN TABLE pr_object"),
    Kind("sequence", "SEQUENCE pr_object", "CREATE SEQUENCE pr_object", {
        "USAGE": "SELECT nextval('pr_object')", "SELECT": "SELECT last_value FROM pr_object", "UPDATE": "SELECT setval('pr_object', 9)"},
        function="sequence"),
    Kind("function", "FUNCTION pr_object(int)", "CREATE FUNCTION pr_object(int) RETURNS int LANGUAGE sql AS 'SELECT $1 + 1'",
         {"EXECUTE": "SELECT pr_object(1)"}, function="function", argument="pr_object(int)", acl="SELECT proacl FROM pg_proc WHERE proname = 'pr_object'"),
    Kind("procedure", "PROCEDURE pr_object(int)", "CREATE PROCEDURE pr_object(int) LANGUAGE sql AS 'SELECT $1 + 1'",
         {"EXECUTE": "CALL pr_object(1)"}, function="function", argument="pr_object(int)", acl="SELECT proacl FROM pg_proc WHERE proname = 'pr_object'"),
    Kind("schema", "SCHEMA pr_object", "CREATE SCHEMA pr_object; CREATE TABLE pr_object.inner_table AS SELECT 1 AS one; "
         "GRANT SELECT ON pr_object.inner_table TO PUBLIC",
         {"USAGE": "SELECT one FROM pr_object.inner_table", "CREATE": "CREATE TABLE pr_object.pr_made (id int)"},
         function="schema", acl="SELECT nspacl FROM pg_namespace WHERE nspname = 'pr_object'"),
    Kind("database", "DATABASE privilege_records", "SELECT 1",
         {"CREATE": "CREATE SCHEMA pr_made_schema", "TEMPORARY": "CREATE TEMP TABLE pr_temporary (id int)", "CONNECT": None},
         function="database", argument="privilege_records", acl="SELECT datacl FROM pg_database WHERE datname = 'privilege_records'"),
    Kind("type", "TYPE pr_object", "CREATE TYPE pr_object AS ENUM ('a', 'b')", {"USAGE": "CREATE TABLE pr_made (id pr_object)"},
         function="type", acl="SELECT typacl FROM pg_type WHERE typname = 'pr_object'"),
    Kind("domain", "DOMAIN pr_object", "CREATE DOMAIN pr_object AS int", {"USAGE": "CREATE TABLE pr_made (id pr_object)"},
         function="type", acl="SELECT typacl FROM pg_type WHERE typname = 'pr_object'"),
    Kind("server", "FOREIGN SERVER redis", "SELECT 1", {"USAGE": None}, function="server", argument="redis",
         acl="SELECT srvacl FROM pg_foreign_server WHERE srvname = 'redis'", alter="SERVER redis", owner="postgres"),
]
RELATIONS = [kind for kind in KINDS if kind.function in ("table", "column") and "SELECT" in kind.uses]


class Record:
    """A right on an object of a kind: statements run on both servers, and every difference is kept."""

    def __init__(self, sides, kind, right, found):
        self.sides, self.kind, self.right, self.found = sides, kind, right, found
        self.use_statement = kind.uses[right]
        self.rights = right + kind.columns

    def run(self, statement):
        """`statement` is a text or, where the servers differ, texts by server."""
        texts = [statement[name] if isinstance(statement, dict) else statement for name in self.sides]
        results = [connection.query(text) for connection, text in zip(self.sides.values(), texts)]
        lines = differences(*results, sort="rowsort", ignored={"position"})  # definitions have none in redquel
        if lines:
            self.found.append("\n".join([f"{self.kind.name} {self.right}: {texts[0]}", *lines]))

    def begin(self):
        self.run(self.kind.create)
        self.run(f"ALTER {self.kind.altered} OWNER TO {self.kind.owner}")
        self.run(f"GRANT ALL ON {self.kind.phrase} TO {self.kind.owner}")
        self.run(f"REVOKE ALL ON {self.kind.phrase} FROM PUBLIC")

    def grant(self, to, by=None, option=""):
        self.run(f"SET SESSION AUTHORIZATION {by or self.kind.owner}")
        self.run(f"GRANT {self.rights} ON {self.kind.phrase} TO {to}{option}")
        self.run("RESET SESSION AUTHORIZATION")

    def revoke(self, of, option="", behavior=""):
        self.run(f"SET SESSION AUTHORIZATION {self.kind.owner}")
        self.run(f"REVOKE {option}{self.rights} ON {self.kind.phrase} FROM {of}{behavior}")
        self.run("RESET SESSION AUTHORIZATION")

    def use(self, role, after=""):
        """The statement that needs the right, in a transaction of its own, and has_…_privilege()."""
        for name in ("", " WITH GRANT OPTION"):
            self.run(f"SELECT has_{self.kind.function}_privilege('{role}', '{self.kind.argument}', '{self.right}{name}')")
        self.run(f"SET SESSION AUTHORIZATION {role}")
        if after:
            self.run(after)
        if self.use_statement:
            self.run("BEGIN")
            self.run(self.use_statement)
            self.run("ROLLBACK")
        self.run("RESET SESSION AUTHORIZATION")

    def end(self):
        self.run(self.kind.acl)
        for side in self.sides.values():
            side.query(f"ALTER DATABASE {DATABASE} OWNER TO postgres")
            side.query("DROP OWNED BY " + ", ".join(ROLES) + " CASCADE")


def given_and_taken(record):
    record.use("pr_user")
    record.grant("pr_user")
    record.use("pr_user")
    record.use("pr_other")
    record.revoke("pr_user")
    record.use("pr_user")


def by_a_group(record):
    record.grant("GROUP pr_group")
    record.use("pr_group")
    record.use("pr_heir")
    record.use("pr_apart")
    record.use("pr_apart", after="SET ROLE pr_group")
    record.revoke("GROUP pr_group")
    record.use("pr_heir")


def by_public(record):
    record.grant("PUBLIC")
    record.use("pr_user")
    record.revoke("pr_user")
    record.use("pr_user")
    record.revoke("PUBLIC")
    record.use("pr_user")


def by_all_privileges(record):
    record.run(f"GRANT ALL PRIVILEGES{record.kind.columns} ON {record.kind.phrase} TO pr_user")
    record.revoke("pr_user")
    record.use("pr_user")
    record.run(f"REVOKE ALL{record.kind.columns} ON {record.kind.phrase} FROM pr_user")
    record.use("pr_user")


def of_the_owner(record):
    owner = record.kind.owner
    record.use(owner)
    record.revoke(owner)
    record.use(owner)
    record.grant(owner)
    record.use(owner)


def of_a_new_owner(record):
    record.grant("pr_other")
    record.run(f"ALTER {record.kind.altered} OWNER TO pr_user")
    record.use("pr_user")
    record.use("pr_owner")
    record.use("pr_other")


def with_grant_option(record):
    record.grant("pr_other", by="pr_user")
    record.grant("pr_user", option=" WITH GRANT OPTION")
    record.grant("pr_other", by="pr_user")
    record.use("pr_user")
    record.use("pr_other")
    record.revoke("pr_other")
    record.use("pr_other")
    record.revoke("pr_user", behavior=" RESTRICT")
    record.use("pr_other")


def with_cascade(record):
    record.grant("pr_user", option=" WITH GRANT OPTION")
    record.grant("pr_heir", by="pr_user", option=" WITH GRANT OPTION")
    record.grant("pr_other", by="pr_heir")
    record.revoke("pr_user", option="GRANT OPTION FOR ", behavior=" CASCADE")
    record.use("pr_user")
    record.use("pr_heir")
    record.use("pr_other")


def by_a_view(record):
    """The role has a right on a view; the right on the object is its owner's."""
    columns = "id" if record.kind.name == "column" else "id, word"
    record.grant("pr_other")
    record.run(f"CREATE VIEW pr_view AS SELECT {columns} FROM pr_object")
    record.run("ALTER VIEW pr_view OWNER TO pr_other")
    record.run(f"GRANT {record.right} ON pr_view TO pr_user")
    record.use_statement = record.use_statement.replace("pr_object", "pr_view")
    record.use("pr_user")
    record.run("ALTER VIEW pr_view SET (security_invoker = true)")
    record.use("pr_user")
    record.run("ALTER VIEW pr_view RESET (security_invoker)")
    record.revoke("pr_other")
    record.use("pr_user")


def by_a_definer(record):
    """The role may execute a SECURITY DEFINER function; the right on the object is its owner's."""
    record.grant("pr_other")
    statement = record.use_statement.replace("'", "''")
    record.run(f"CREATE FUNCTION pr_call() RETURNS void LANGUAGE sql SECURITY DEFINER AS '{statement}'")
    record.run("ALTER FUNCTION pr_call() OWNER TO pr_other")
    record.use_statement = "SELECT pr_call()"
    record.use("pr_user")
    record.revoke("pr_other")
    record.use("pr_user")
    record.grant("pr_other")
    record.run("ALTER FUNCTION pr_call() SECURITY INVOKER")
    record.use("pr_user")


WAYS = [given_and_taken, by_a_group, by_public, by_all_privileges, of_the_owner, of_a_new_owner, with_grant_option, with_cascade]


def records():
    """(kind, right, way) of every record."""
    found = [(kind, right, way) for way in WAYS for kind in KINDS for right in kind.uses if not (way is of_a_new_owner and kind.name == "server")]
    in_views = [(kind, right, by_a_view) for kind in RELATIONS for right in kind.uses if right in READS_AND_WRITES]
    definers = [(kind, right, by_a_definer) for kind in KINDS for right, use in kind.uses.items()
                if right in READS_AND_WRITES or kind.name in ("sequence", "function")]
    return found + in_views + definers


def test_privileges_on_all_kinds_of_objects(server, postgres):
    for side in (postgres, server):
        with side.connect() as connection:
            connection.run(f"CREATE DATABASE {DATABASE}")
    # Without redquel's notices about scans of keyspaces.
    sides = {name: side.connect(DATABASE, client_min_messages="warning") for name, side in (("PostgreSQL", postgres), ("redquel", server))}
    for name, side in sides.items():
        for statement in f"{SETUP}; {FOREIGN[name].format(host=postgres.folder)}".split(";"):
            side.run(statement)
    found, count = {}, 0
    for kind, right, way in records():
        record = Record(sides, kind, right, [])
        record.begin()
        way(record)
        record.end()
        count += 1
        if record.found:
            found[f"{way.__name__}, {kind.name}, {right}"] = record.found
    for name, side in sides.items():
        side.close()
        with (postgres if name == "PostgreSQL" else server).connect() as connection:
            connection.run(f"DROP DATABASE {DATABASE}")
            connection.run("DROP ROLE " + ", ".join(ROLES))
    print(f"{count} records, {len(found)} differ")
    assert not found, "\n".join(f"{name}\n  " + "\n  ".join(lines) for name, lines in found.items())
