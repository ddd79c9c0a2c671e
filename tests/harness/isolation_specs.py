"""Isolation specs in the format of PostgreSQL's isolation tester (src/test/isolation/README), on both servers.

Each permutation of steps begins with empty databases. Compared are the answer of each step, whether it waited, and the
rows of all tables after the last one. Where a permutation has markers, whether a step waits depends on the moment, and
is not compared. Where one server ends a SERIALIZABLE transaction with 40001 and the other one does not, the transactions
that redquel has committed must have the answers and leave the rows of some order in which PostgreSQL runs them alone.
"""
import itertools
import re
from dataclasses import dataclass, field

from harness.interleaving import PATIENCE, Session, play_steps, view_of
from harness.pgwire import ServerError
from harness.regression_files import CREATED, ORDERED, Selection

TOKEN = re.compile(r"""\s+|\#[^\n]*|(?P<block>\{[^}]*\})|(?P<name>"(?:[^"]|"")*"|[A-Za-z_][\w$]*)"""
                   r"|(?P<sign>[(),*])|(?P<number>\d+)", re.S)
KEYWORDS = {"setup", "teardown", "session", "step", "permutation"}
SERIALIZATION_FAILURE, NOT_BUILT = "40001", "0A000"
TABLES = ("SELECT c.oid::regclass::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
          "WHERE c.relkind = 'r' AND n.nspname NOT LIKE 'pg\\_%' AND n.nspname NOT IN ('information_schema', 'redis') "
          "ORDER BY 1")
# Left out beside what regression files leave out.
OF_SPECS = [(re.compile(pattern, re.I | re.S), reason) for pattern, reason in [
    (r".*\bPREPARE\s+TRANSACTION\b", "PREPARE TRANSACTION"),
    (r".*\bpg_stat_(force_next_flush|get_\w+|clear_snapshot|have_stats)\b", "statistics of PostgreSQL's own"),
    (r"CREATE\s+(OR\s+REPLACE\s+)?FUNCTION\b.*LANGUAGE\s+'?plpgsql", "plpgsql"),
    (r".*\bINHERITS\b|.*\bINHERIT\s+\w+", "inheritance"),
    (r".*\bPARTITION\s+(BY|OF)\b", "partitions"),
    (r".*\bpg_(prewarm|relation_filepath|index_column_size)\b|.*\bctid\b", "files and places of PostgreSQL's own"),
    (r"(VACUUM|ANALYZE|CLUSTER|REINDEX)\b", "work on files and statistics"),
]]


@dataclass
class SpecSession:
    name: str
    setup: str = ""
    teardown: str = ""
    steps: dict = field(default_factory=dict)  # name to SQL


@dataclass
class Spec:
    name: str
    setups: list = field(default_factory=list)
    teardown: str = ""
    sessions: list = field(default_factory=list)
    permutations: list = field(default_factory=list)  # of (step, whether it has a marker)

    def session_of(self, step):
        return next(session for session in self.sessions if step in session.steps)

    def sql_of(self, step):
        return self.session_of(step).steps[step]

    def chosen_permutations(self, most):
        """At most so many, evenly chosen of those that the spec names, or of all."""
        everything = self.permutations
        if not everything:
            orders = interleaved([list(session.steps) for session in self.sessions])
            everything = [[(step, False) for step in steps] for steps in orders]
        stride = max(1, -(-len(everything) // most))
        return everything[::stride]


def interleaved(queues):
    """All orders of the queues' members that keep each queue's order, a hundred thousand at most."""
    def orders(rest):
        if not any(rest):
            yield []
        for number, queue in enumerate(rest):
            if queue:
                for tail in orders([*rest[:number], queue[1:], *rest[number + 1:]]):
                    yield [queue[0], *tail]
    return itertools.islice(orders(queues), 100_000)


class Parser:
    def __init__(self, text):
        self.tokens, at = [], 0
        while at < len(text):
            match = TOKEN.match(text, at)
            assert match, f"not understood: {text[at:at + 40]!r}"
            if match.lastgroup:
                self.tokens.append((match.lastgroup, match[0]))
            at = match.end()

    def next_is(self, *words):
        return bool(self.tokens) and self.tokens[0][1] in words

    def take(self, kind):
        found, text = self.tokens.pop(0)
        assert found == kind, f"{text} is no {kind}"
        if kind == "block":
            return text[1:-1].strip()
        return text[1:-1].replace('""', '"') if text.startswith('"') else text

    def take_if(self, word):
        is_next = self.next_is(word)
        if is_next:
            self.tokens.pop(0)
        return is_next

    def spec(self, name):
        spec = Spec(name)
        while self.take_if("setup"):
            spec.setups.append(self.take("block"))
        if self.take_if("teardown"):
            spec.teardown = self.take("block")
        while self.take_if("session"):
            session = SpecSession(self.take("name"))
            if self.take_if("setup"):
                session.setup = self.take("block")
            while self.take_if("step"):
                step = self.take("name")
                session.steps[step] = self.take("block")
            if self.take_if("teardown"):
                session.teardown = self.take("block")
            spec.sessions.append(session)
        while self.take_if("permutation"):
            steps = []
            while self.tokens and not self.next_is("permutation"):
                steps.append((self.take("name"), self.marker()))
            spec.permutations.append(steps)
        assert not self.tokens, f"not understood: {self.tokens[0][1]}"
        return spec

    def marker(self):
        """Skips what stands in parentheses behind a step."""
        if not self.take_if("("):
            return False
        while not self.take_if(")"):
            self.tokens.pop(0)
        return True


def parse(text, name):
    return Parser(text).spec(name)


def read_spec(path):
    with open(path, encoding="utf-8") as file:
        return parse(file.read(), path.rsplit("/", 1)[-1].removesuffix(".spec"))


STATEMENT = re.compile(r"(?:'(?:[^']|'')*'|\$(?P<tag>\w*)\$.*?\$(?P=tag)\$|--[^\n]*|/\*.*?\*/|[^;])+", re.S)


def statements_of(sql):
    return [part[0].strip() for part in STATEMENT.finditer(sql) if part[0].strip()]


class SpecSelection(Selection):
    """Decides which statements of one spec run. A step runs only as a whole."""

    def __init__(self):
        super().__init__([])

    def reason(self, text):
        bare = re.sub(r"^\s*(--[^\n]*\n\s*)+", "", text)
        own = next((reason for pattern, reason in OF_SPECS if pattern.match(bare)), None)
        created = CREATED.match(bare)
        if own and created:
            self.missing[created[1]] = own
        return own or super().reason(bare)

    def reason_of(self, sql):
        return next(filter(None, map(self.reason, statements_of(sql))), None)

    def filtered(self, sql):
        return ";\n".join(statement for statement in statements_of(sql) if not self.reason(statement))


def answer_of(results):
    """What one step answered, statement by statement: an SQLSTATE with its message, or the tag and the rows, but for plans."""
    answers = []
    for result in results:
        if result.error:
            answers.append((result.sqlstate, result.error["M"]))
        else:
            answers.append((result.tag, [] if result.tag == "EXPLAIN" else result.texts()))
    return answers


def play(server, spec, permutation, patience, database=None, guide=None):
    """The log of one permutation, and the rows of all tables after it."""
    def connect():
        return server.connect(*([database] if database else []))

    with connect() as control:
        for setup in spec.setups:
            control.run(setup)
        view = view_of(server, connect)
        sessions = {session.name: Session(connect(), answer_of) for session in spec.sessions}
        try:
            for session in spec.sessions:
                if session.setup:
                    sessions[session.name].connection.run(session.setup)
            steps = [(step, spec.session_of(step).name, spec.sql_of(step), False) for step, _ in permutation]
            log = play_steps(view, sessions, steps, guide, patience)
        finally:
            view.close()
            for session in sessions.values():
                session.connection.close()
        rows = {}
        for table, in control.run(TABLES):
            try:
                rows[table] = sorted(control.run(f"SELECT * FROM {table}"), key=repr)
            except ServerError as error:
                rows[table] = error.sqlstate
        control.query(spec.teardown)  # roles are of the whole server
        return log, rows


@dataclass
class Comparison:
    """One permutation on both servers."""
    permutation: list
    lines: list  # of steps that differ
    is_refusal: bool = False  # one server ended a transaction of a stricter level with 40001 where the other one went on
    not_built: str = None  # the message of the 0A000 that a step got from redquel alone


def is_strict(spec):
    sql = " ".join([*spec.setups, *(session.setup + " ".join(session.steps.values()) for session in spec.sessions)])
    return bool(re.search(r"\b(SERIALIZABLE|REPEATABLE\s+READ)\b", sql, re.I))


def is_serializable(session, permutation):
    """Whether the session's steps are one SERIALIZABLE transaction."""
    sql = ";".join([session.setup, *(session.steps[step] for step, _ in permutation if step in session.steps)])
    levels = re.findall(r"\bBEGIN\b[^;]*", sql, re.I)
    return len(levels) == 1 and bool(re.search(r"\bSERIALIZABLE\b", levels[0], re.I))


def differs_from_every_order(postgres, spec, permutation, log, rows):
    """Returns what is wrong with the committed SERIALIZABLE transactions of a log; None: some order has their answers and rows."""
    sessions = [session for session in spec.sessions if any(step in session.steps for step, _ in permutation)]
    if not all(is_serializable(session, permutation) for session in sessions):
        return None
    answers = {step: answer for step, _, answer in log}
    failed = {spec.session_of(step).name for step, answer in answers.items() if any(isinstance(part[1], str) for part in answer)}
    committed = [session for session in sessions if session.name not in failed]
    for order in itertools.permutations(committed):
        steps = [entry for session in order for entry in permutation if entry[0] in session.steps]
        expected, expected_rows = play(postgres, spec, steps, PATIENCE, postgres.emptied_database())
        alike = all(same_answers(answer, answers[step], spec.sql_of(step)) for step, _, answer in expected)
        if alike and rows == expected_rows:
            return None
    return f"no order of {', '.join(session.name for session in committed)} has these answers: {log}, {rows}"


def same_answers(expected, found, sql):
    if len(expected) != len(found):
        return False
    statements = [*statements_of(sql), *[""] * len(expected)]
    return all(a == b or (not ORDERED.search(statement) and in_any_order(a) == in_any_order(b))
               for statement, a, b in zip(statements, expected, found))


def in_any_order(answer):
    tag, rows = answer
    return tag, sorted(rows, key=repr) if isinstance(rows, list) else rows


def compare(server, postgres, spec, permutation, patience):
    expected, expected_rows = play(postgres, spec, permutation, PATIENCE, postgres.emptied_database())
    with server.connect() as connection:
        connection.run("DROP SCHEMA public CASCADE; CREATE SCHEMA public; GRANT USAGE ON SCHEMA public TO PUBLIC")
    log, rows = play(server, spec, permutation, patience, guide=expected)
    marked = any(marker for _, marker in permutation)
    lines, is_refusal, not_built = [], False, None
    for (step, how, answer), (_, found_how, found) in zip(expected, log):
        refused = [message for state, message in found if state == NOT_BUILT]
        if refused and all(state != NOT_BUILT for state, _ in answer):
            not_built = not_built or refused[0]
        if same_answers(answer, found, spec.sql_of(step)) and (marked or how == found_how):
            continue
        lines.append(f"{step}: {found_how} {found}\n      PostgreSQL: {how} {answer}")
        is_refusal = is_refusal or any(part[0] == SERIALIZATION_FAILURE for part in [*answer, *found])
    if rows != expected_rows:
        lines.append(f"at the end: {rows}\n      PostgreSQL: {expected_rows}")
    is_refusal = is_refusal and is_strict(spec)
    wrong = differs_from_every_order(postgres, spec, permutation, log, rows) if is_refusal else None
    if wrong:
        lines, is_refusal = [wrong], False
    return Comparison([step for step, _ in permutation], lines, is_refusal, not_built)


@dataclass
class Outcome:
    """All permutations of one spec."""
    spec: str
    left_out: str = None  # the reason why the spec does not run
    permutations: int = 0
    found: list = field(default_factory=list)     # Comparisons with lines
    refusals: int = 0

    def summary(self):
        if self.left_out:
            return f"{self.spec}: left out: {self.left_out}"
        return (f"{self.spec}: {self.permutations} permutations, {len(self.found)} different, "
                f"{self.refusals} with 40001 on one side")


def run_spec(server, postgres, spec, most_permutations, patience=PATIENCE):
    outcome, selection = Outcome(spec.name), SpecSelection()
    spec.setups = [setup for setup in map(selection.filtered, spec.setups) if setup]
    for session in spec.sessions:
        outcome.left_out = outcome.left_out or selection.reason_of(session.setup)
    if outcome.left_out:
        return outcome
    reasons = {}
    for permutation in spec.chosen_permutations(most_permutations):
        reason = next(filter(None, (selection.reason_of(spec.sql_of(step)) for step, _ in permutation)), None)
        if reason:
            reasons[reason] = True
            continue
        try:
            compared = compare(server, postgres, spec, permutation, patience)
        except (AssertionError, ServerError) as error:
            compared = Comparison([step for step, _ in permutation], [f"{type(error).__name__}: {error}"])
        if compared.not_built:
            reasons[compared.not_built] = True
            continue
        outcome.permutations += 1
        if compared.is_refusal:
            outcome.refusals += 1
        elif compared.lines:
            outcome.found.append(compared)
    if outcome.permutations == 0:
        outcome.left_out = ", ".join(reasons)
    return outcome
