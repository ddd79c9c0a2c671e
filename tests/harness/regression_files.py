"""PostgreSQL's own regression files, run against PostgreSQL and redquel statement by statement, and the answers compared.

A file is read by psql's rules (`psql_script.py`). Statements that need what redquel does not have are left out on both servers, and so
is every statement that names an object whose creation was left out, until an object of that name is created.
"""
import re
from collections import Counter
from dataclasses import dataclass, field

from harness.comparison import differences
from harness.pgwire import ConnectionClosed, Result
from harness.programs import connection_options, run
from harness.psql_script import parts

# (statements, reason why they run on neither server). The first that matches counts.
LEFT_OUT = [(re.compile(pattern, re.I | re.S), reason) for pattern, reason in [
    (r"CREATE\s.*\bPARTITION\s+(BY|OF)\b|ALTER\s.*\b(ATTACH|DETACH)\s+PARTITION\b", "partitions"),
    (r"CREATE\s+TABLE\b.*\)\s*INHERITS\s*\(|ALTER\s+TABLE\b.*\bINHERIT\s+\w+$", "inheritance"),
    (r".*(\blo_(create|open|unlink|import|export|truncate|put|compat_privileges)\b|\blo(read|write)\b|\bpg_largeobject|\bLARGE\s+OBJECT\b)",
     "large objects"),
    (r"(CREATE|ALTER|DROP)\s+AGGREGATE\b", "user-made aggregates"),
    (r"(CREATE|ALTER|DROP)\s+OPERATOR\b", "user-made operators"),
    (r"CREATE\s+(OR\s+REPLACE\s+)?RULE\b", "rules"),
    (r"CREATE\s+(CONSTRAINT\s+)?TRIGGER\b", "triggers"),
    (r"(GRANT|REVOKE)\s.*\bON\s+(LANGUAGE|TABLESPACE)\b", "GRANT on languages and tablespaces"),
    (r"CREATE\s+(FOREIGN\s+DATA\s+WRAPPER|SERVER)\b", "foreign servers (redis exists, others cannot be made)"),
]]

CREATED = re.compile(r"CREATE\s+(?:OR\s+REPLACE\s+|TEMP\s+|UNIQUE\s+|MATERIALIZED\s+)*"
                     r"(?:TABLE|VIEW|INDEX|FUNCTION|PROCEDURE|AGGREGATE|OPERATOR|TYPE|DOMAIN|SERVER)\s+(?:CONCURRENTLY\s+)?(?!ON\b)"
                     r"(?:\w+\.)?(\w+|[-+*/<>=~!@#%^&|?]+)", re.I)
ORDERED = re.compile(r"\bORDER\s+BY\b|\bFETCH\b", re.I)
EXPLAIN = re.compile(r"EXPLAIN\b", re.I)


@dataclass
class Difference:
    line: int
    text: str
    lines: list


@dataclass
class Outcome:
    """The counts of one file."""
    statements: int = 0
    left_out: Counter = field(default_factory=Counter)  # reason to count
    found: list = field(default_factory=list)  # Differences

    @property
    def share(self):
        """Percentage of equal statements."""
        return 100.0 * (self.statements - len(self.found)) / self.statements

    def summary(self):
        left_out = ", ".join(f"{count} {reason}" for reason, count in sorted(self.left_out.items()))
        return (f"{self.statements} statements, {self.statements - len(self.found)} equal, {len(self.found)} different: {self.share:.1f} %"
                + (f"; left out: {left_out}" if left_out else ""))


class Selection:
    """Decides which statements run. `replaced`: (pattern, text) of what is written in another way on both servers."""

    def __init__(self, replaced):
        self.replaced = replaced
        self.missing = {}  # name of an object that was left out: reason

    def reason(self, text):
        """Returns why the statement is left out, or None."""
        created = CREATED.match(text)
        reason = next((reason for pattern, reason in LEFT_OUT if pattern.match(text)), None)
        if created:
            own = created[1]
            reason = reason or self._missing(text, except_for=own)
            if reason:
                self.missing[own] = reason
            else:
                self.missing.pop(own, None)
            return reason
        return reason or self._missing(text)

    def _missing(self, text, except_for=None):
        return next((reason for name, reason in self.missing.items() if name != except_for and _names(text, name)), None)

    def statement(self, text):
        """Returns the statement as it is run: without the left-out members of a list of functions."""
        for pattern, replacement in self.replaced:
            text = re.sub(pattern, replacement, text, flags=re.S)
        if re.match(r"(GRANT|REVOKE)\b", text, re.I):
            for name in self.missing:
                text = re.sub(rf",\s*{re.escape(name)}\s*\([^)]*\)", "", text)
        return text


def _names(text, name):
    return re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)", text) if re.match(r"\w", name) else f" {name} " in text


class Session:
    """The superuser's session of a file on one server, in one database."""

    def __init__(self, server, database, password):
        self.server, self.database, self.password = server, database, password
        self.connect()

    def connect(self):
        self.connection = self.server.connect(self.database, password=self.password)

    def query(self, part, text):
        try:
            return self.connection.query(text, part.data.encode())
        except (ConnectionClosed, OSError) as error:
            self.connect()
            return [Result(error={"C": "(connection)", "M": str(error)})]

    def command(self, text):
        """The output of a backslash command that describes objects, seen by the session's role and search path."""
        (user, role, path), = self.connection.run("SELECT session_user, current_setting('role'), current_setting('search_path')")
        switches = f'SET SESSION AUTHORIZATION "{user}"; ' + (f'SET ROLE "{role}";' if role != "none" else "")
        done = run(["psql", "-X", "-q", *connection_options(self.server, self.database)],
                   input=f"SET search_path = {path}; {switches}\n{text}\n", env={"PGPASSWORD": self.password})
        return [Result(tag=done)]

    def run(self, part, text):
        if not part.is_command:
            return self.query(part, text)
        if re.match(r"\\c\b", text):
            self.connection.close()
            self.connect()
            return [Result(tag="connected")]
        return self.command(text)

    def close(self):
        self.connection.close()


def run_file(path, servers, database, password, setups, replaced):
    """Runs the file on both servers (PostgreSQL first), after a setup each, as a superuser that gets this password; returns the Outcome."""
    with open(path, encoding="utf-8") as file:
        script = list(parts(file.read()))
    for server, setup in zip(servers, setups):
        with server.connect(database) as connection:
            connection.run(f"ALTER ROLE postgres PASSWORD '{password}'")
            connection.run(setup)
    sessions = [Session(server, database, password) for server in servers]
    selection, outcome = Selection(replaced), Outcome()
    for part in script:
        text = selection.statement(part.text)
        if reason := selection.reason(text):
            outcome.left_out[reason] += 1
            continue
        results = [session.run(part, text) for session in sessions]
        outcome.statements += 1
        lines = differences(*results, sort="nosort" if ORDERED.search(text) else "rowsort", ignored={"rows"} if EXPLAIN.match(text) else ())
        if lines:
            outcome.found.append(Difference(part.line, part.text, lines))
    for session in sessions:
        session.close()
    return outcome
