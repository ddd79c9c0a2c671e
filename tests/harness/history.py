"""Histories of transactions that append to lists and read them, and what each isolation level forbids in them (after Adya, and Elle by
Kingsbury and Alvaro).

A list is text, ",7,12,9": a read shows the appends that the transaction has seen, and their order. From that follows who precedes whom:
ww (the next to append), wr (read what the other appended), rw (read what was there before the other's append), rt (acknowledged before the
other began). A cycle of those is an anomaly, and which edges it has says at which levels."""
import bisect
import collections

LEVELS = ("READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE")
COMMITTED, ABORTED, UNKNOWN = "committed", "aborted", "unknown"


class Read:
    """One statement's view of other transactions' appends: text by key, without the reader's own."""

    def __init__(self, began, ended, seen, tags, sql=""):
        self.began, self.ended, self.seen, self.tags, self.sql = began, ended, seen, tags, sql


class Transaction:
    def __init__(self, name, began):
        self.name, self.began, self.ended, self.commit_sent = name, began, None, None
        self.outcome, self.refused = ABORTED, None  # by which SQLSTATE
        self.reads = []
        self.appends = []  # (key, element, tag or None: as before)
        self.undone = []  # those that ROLLBACK TO took back
        self.guessed = False  # appends: perhaps not all of those
        self.sql = []

    def own(self, key):
        return "".join(f",{element}" for at, element, _ in self.appends if at == key)

    def __repr__(self):
        return f"{self.name} ({self.outcome})"


class Order:
    """The appends to one list in the order in which they are there at the end."""

    def __init__(self, text, first_tag):
        self.text = text
        self.elements = [int(word) for word in text.split(",")[1:]]
        self.lengths, length = {0: 0}, 0
        for at, element in enumerate(self.elements):
            length += 1 + len(str(element))
            self.lengths[length] = at + 1
        self.first_tag = first_tag

    def version(self, text):
        """How many appends this is, or None: it never was so."""
        return self.lengths.get(len(text)) if self.text.startswith(text) else None


class Graph:
    """Nodes are numbers; `labels` say what they are."""

    def __init__(self):
        self.labels, self.edges = [], []

    def node(self, label):
        self.labels.append(label)
        self.edges.append([])
        return len(self.labels) - 1

    def edge(self, start, end, kind, why=""):
        if start != end:
            self.edges[start].append((end, kind, why))

    def cycle(self, kinds, adjacent_rw):
        """A cycle of such edges as text, or None; `adjacent_rw`: may two rw follow each other? A snapshot forbids only those where they
        do not."""
        follow = {}

        def successors(state):
            if state not in follow:
                node, by_rw = state
                follow[state] = [(end, kind == "rw" and not adjacent_rw) for end, kind, _ in self.edges[node]
                                 if kind in kinds and not (by_rw and kind == "rw")]
            return follow[state]

        component = first_component([(node, False) for node in range(len(self.labels))], successors)
        return self.told(component, successors) if component else None

    def told(self, component, successors):
        start = min(component)
        path = shortest(start, component, successors)
        lines = []
        for (node, _), (end, by_rw) in zip(path, path[1:]):
            kind, why = next((kind, why) for to, kind, why in self.edges[node] if to == end and (kind == "rw" or not by_rw))
            lines.append(f"    {self.labels[node]} -{kind}-> {self.labels[end]} {why}")
        return "\n".join(lines)


def shortest(start, component, successors):
    """The shortest way from a state back to itself inside of its component."""
    came, queue = {}, collections.deque([start])
    while queue:
        state = queue.popleft()
        for following in successors(state):
            if following == start:
                path = [start, state]
                while path[-1] != start:
                    path.append(came[path[-1]])
                return path[::-1]
            if following in component and following not in came:
                came[following] = state
                queue.append(following)
    raise AssertionError("a component without a cycle")


def first_component(states, successors):
    """A strongly connected component of more than one state, or None (Tarjan, without recursion)."""
    index, low, stack, on_stack = {}, {}, [], set()
    for root in states:
        if root in index:
            continue
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        work = [(root, iter(successors(root)))]
        while work:
            state, following = work[-1]
            for other in following:
                if other not in index:
                    index[other] = low[other] = len(index)
                    stack.append(other)
                    on_stack.add(other)
                    work.append((other, iter(successors(other))))
                    break
                if other in on_stack:
                    low[state] = min(low[state], index[other])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[state])
                if low[state] == index[state]:
                    component = set()
                    while True:
                        other = stack.pop()
                        on_stack.discard(other)
                        component.add(other)
                        if other == state:
                            break
                    if len(component) > 1:
                        return component
    return None


class History:
    """All transactions of a run at one level, and the lists (text by key) at its end."""

    def __init__(self, transactions, final, first_tags):
        self.transactions = transactions
        self.orders = {key: Order(text, first_tags[key]) for key, text in final.items()}
        self.writers = {}
        self.problems = []
        for transaction in transactions:
            for key, element, tag in transaction.appends:
                self.writers[key, element] = (transaction, tag)
        self.undone = {(key, element): transaction for transaction in transactions for key, element, _ in transaction.undone}
        self._settle()
        self._look_at_reads()

    def _problem(self, text):
        if len(self.problems) < 20:
            self.problems.append(text)

    def _settle(self):
        """Whose appends are there, whose are not: all of a transaction or nothing (G1a, lost writes, halves)."""
        there = {(key, element) for key, order in self.orders.items() for element in order.elements}
        for key, order in self.orders.items():
            if len(set(order.elements)) < len(order.elements):
                self._problem(f"something was appended twice to {key}: {order.text}")
        for place in there:
            if place in self.undone:
                self._problem(f"taken back by ROLLBACK TO and there: {place} of {self.undone[place]}")
            elif place not in self.writers:
                self._problem(f"no transaction has appended {place}")
        for transaction in self.transactions:
            places = {(key, element) for key, element, _ in transaction.appends}
            found = places & there
            if transaction.outcome == UNKNOWN and found:
                transaction.outcome = COMMITTED
                if transaction.guessed:
                    transaction.appends = [append for append in transaction.appends if append[:2] in found]
                    places = found
            if transaction.outcome == COMMITTED and found != places:
                self._problem(f"lost: {sorted(places - found)} of {transaction}")
            if transaction.outcome == ABORTED and found:
                self._problem(f"aborted and there: {sorted(found)} of {transaction}")

    def _look_at_reads(self):
        for transaction in self.transactions:
            for read in transaction.reads:
                for key, text in read.seen.items():
                    order = self.orders[key]
                    version = order.version(text)
                    if version is None:
                        tail = [int(word) for word in text.split(",")[1:] if int(word) not in order.elements]
                        whose = [str(self.undone.get((key, e)) or self.writers.get((key, e), ["nobody"])[0]) for e in tail[:3]]
                        self._problem(f"{transaction} read of {key} what never was: {tail[:3]} of {whose}; {text[-60:]} against {order.text[-60:]}")
                        continue
                    if 0 < version < len(order.elements):
                        last, following = (self.writers.get((key, order.elements[at]), [None])[0] for at in (version - 1, version))
                        if last is following and last is not transaction:
                            self._problem(f"G1b: {transaction} read of {key} the middle of {last}")
                    if key in read.tags and read.tags[key] != self._tag(key, version):
                        self._problem(f"{transaction} found {key} with tag {read.tags[key]} at version {version}, where it is {self._tag(key, version)}")

    def _tag(self, key, version):
        order = self.orders[key]
        for element in reversed(order.elements[:version]):
            tag = self.writers.get((key, element), (None, None))[1]
            if tag is not None:
                return tag
        return order.first_tag

    def graph(self, by_statement, aborted, real_time):
        """`by_statement`: each read is a point in time of its own, as is each commit; `aborted`: what aborted transactions read counts, too."""
        graph, nodes = Graph(), {}
        spans = []  # (node, begin, end)
        for transaction in self.transactions:
            if transaction.outcome == COMMITTED or aborted and not by_statement:
                nodes[transaction] = graph.node(repr(transaction))
                began = transaction.commit_sent if by_statement else transaction.began
                spans.append((nodes[transaction], began, transaction.ended))
        for key, order in self.orders.items():
            for before, after in zip(order.elements, order.elements[1:]):
                if (key, before) in self.writers and (key, after) in self.writers:
                    graph.edge(nodes[self.writers[key, before][0]], nodes[self.writers[key, after][0]], "ww", f"on {key}: {before}, {after}")
        for transaction in self.transactions:
            if not by_statement and transaction not in nodes:
                continue
            for read in transaction.reads:
                if by_statement:
                    node = graph.node(f"{transaction} reading by {read.sql}")
                    spans.append((node, read.began, read.ended))
                else:
                    node = nodes[transaction]
                for key, text in read.seen.items():
                    order, version = self.orders[key], self.orders[key].version(text)
                    if version is None:
                        continue
                    if version:
                        writer = self.writers[key, order.elements[version - 1]][0]
                        graph.edge(nodes[writer], node, "wr", f"on {key}: {order.elements[version - 1]}")
                        if by_statement and transaction in nodes:
                            graph.edge(nodes[writer], nodes[transaction], "wr", f"on {key}")
                    if version < len(order.elements):
                        writer = self.writers[key, order.elements[version]][0]
                        if writer is not transaction:
                            graph.edge(node, nodes[writer], "rw", f"on {key}: without {order.elements[version]}")
        if real_time:
            self._add_times(graph, spans)
        return graph

    @staticmethod
    def _add_times(graph, spans):
        """A chain of moments: who had ended by then precedes who began later."""
        ended = sorted((end, node) for node, _, end in spans if end is not None)
        moments, times = [], [end for end, _ in ended]
        for end, node in ended:
            moment = graph.node(f"{end:.4f} s")
            if moments:
                graph.edge(moments[-1], moment, "rt")
            graph.edge(node, moment, "rt")
            moments.append(moment)
        for node, began, _ in spans:
            if began is not None and (at := bisect.bisect_left(times, began)):
                graph.edge(moments[at - 1], node, "rt")

    def check(self, level):
        """What was seen that must not be at this level, as texts."""
        if self.problems:
            return self.problems
        found = [self.dirty()]
        if level == "READ COMMITTED":
            found.append(self.statement_skew())
        else:
            found.append(self.snapshot_skew())
        if level == "SERIALIZABLE":
            found.append(self.any_cycle())
        return [problem for problem in found if problem]

    def dirty(self):
        return named("G0 or G1c", self.graph(False, False, False).cycle({"ww", "wr"}, True))

    def statement_skew(self):
        return named("a statement saw a mixture, or what was no longer so", self.graph(True, False, True).cycle({"ww", "wr", "rw", "rt"}, True))

    def snapshot_skew(self):
        return named("G-single, lost update, or a snapshot that is too old",
                     self.graph(False, True, True).cycle({"ww", "wr", "rw", "rt"}, False))

    def any_cycle(self):
        return named("G2", self.graph(False, False, False).cycle({"ww", "wr", "rw"}, True))


def named(name, cycle):
    return f"{name}:\n{cycle}" if cycle else None
