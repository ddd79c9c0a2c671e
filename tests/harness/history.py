"""Histories of transactions that append to lists and read them, and what each isolation level forbids in them (after Adya, and Elle by
Kingsbury and Alvaro).

A list is text, ",7,12,9": a read shows the appends that the transaction has seen, and their order. From that follows who precedes whom:
ww (the next to append), wr (read what the other appended), rw (read what was there before the other's append), rt (acknowledged before the
other began). A cycle of those is an anomaly, and which edges it has says at which levels:

| kind | what was seen | forbidden |
| --- | --- | --- |
| lost write | an acknowledged append is not there, or a part of a transaction | at all levels |
| duplicate write, duplicate read | an element is there twice; a statement returned a list twice | at all levels |
| G1a | an append of an aborted transaction, or one that ROLLBACK TO took back, was read or is there | at all levels |
| G1b | a state between two appends of one transaction was read | at all levels |
| incompatible order | a read is no beginning of the final list | at all levels |
| G0 | a cycle of ww alone | at all levels |
| G1c | a cycle of ww and wr | at all levels |
| G-single | a cycle with one rw: a lost update, a read skew; at READ COMMITTED between statements | at all levels; between transactions from REPEATABLE READ |
| G-nonadjacent | a cycle with several rw, of which no two follow each other | from REPEATABLE READ |
| G2 | a cycle with two rw that follow each other: write skew | at SERIALIZABLE |

The suffix -realtime: an edge of the cycle is rt, a statement or snapshot was older than what had been acknowledged."""
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
        """A cycle of such edges as text that begins with its kind, or None; `adjacent_rw`: may two rw follow each other? A snapshot forbids
        only those where they do not."""
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
        lines, kinds = [], []
        for (node, _), (end, by_rw) in zip(path, path[1:]):
            kind, why = next((kind, why) for to, kind, why in self.edges[node] if to == end and (kind == "rw" or not by_rw))
            lines.append(f"    {self.labels[node]} -{kind}-> {self.labels[end]} {why}")
            kinds.append(kind)
        return "\n".join([f"{kind_of_cycle(kinds)}:", *lines])


def kind_of_cycle(edges):
    """The name of a cycle by its edges, in their order."""
    count = edges.count("rw")
    is_adjacent = count > 1 and any(edges[at - 1] == edges[at] == "rw" for at in range(len(edges)))
    name = "G2" if is_adjacent else "G-nonadjacent" if count > 1 else "G-single" if count else "G1c" if "wr" in edges else "G0"
    return name + ("-realtime" if "rt" in edges else "")


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
                self._problem(f"duplicate write: something was appended twice to {key}: {order.text}")
        for place in there:
            if place in self.undone:
                self._problem(f"G1a: taken back by ROLLBACK TO and there: {place} of {self.undone[place]}")
            elif place not in self.writers:
                self._problem(f"incompatible order: no transaction has appended {place}")
        for transaction in self.transactions:
            places = {(key, element) for key, element, _ in transaction.appends}
            found = places & there
            if transaction.outcome == UNKNOWN and found:
                transaction.outcome = COMMITTED
                if transaction.guessed:
                    transaction.appends = [append for append in transaction.appends if append[:2] in found]
                    places = found
            if transaction.outcome == COMMITTED and found != places:
                self._problem(f"lost write: {sorted(places - found)} of {transaction}")
            if transaction.outcome == ABORTED and found:
                self._problem(f"G1a: aborted and there: {sorted(found)} of {transaction}")

    def _look_at_reads(self):
        for transaction in self.transactions:
            for read in transaction.reads:
                for key, text in read.seen.items():
                    order = self.orders[key]
                    version = order.version(text)
                    if version is None:
                        self._problem(self._unfounded_read(transaction, key, text))
                        continue
                    if 0 < version < len(order.elements):
                        last, following = (self.writers.get((key, order.elements[at]), [None])[0] for at in (version - 1, version))
                        if last is following and last is not transaction:
                            self._problem(f"G1b: {transaction} read of {key} the middle of {last}")
                    if key in read.tags and read.tags[key] != self._tag(key, version):
                        self._problem(f"{transaction} found {key} with tag {read.tags[key]} at version {version}, where it is {self._tag(key, version)}")

    def _unfounded_read(self, transaction, key, text):
        """The problem of a read that is no beginning of the final list."""
        order, elements = self.orders[key], [int(word) for word in text.split(",")[1:]]
        if len(set(elements)) < len(elements):
            return f"duplicate write: {transaction} read of {key} something twice: {text[-60:]}"
        strangers = [element for element in elements if element not in order.elements]
        whose = [self.undone.get((key, element)) or self.writers.get((key, element), [None])[0] for element in strangers]
        is_undone = any((key, element) in self.undone or writer and writer.outcome != COMMITTED for element, writer in zip(strangers, whose))
        kind = "G1a" if is_undone else "lost write" if strangers and all(whose) else "incompatible order"
        return f"{kind}: {transaction} read of {key} {strangers[:3]} of {whose[:3]}; {text[-60:]} against {order.text[-60:]}"

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
        """G0, or else G1c."""
        graph = self.graph(False, False, False)
        return graph.cycle({"ww"}, True) or graph.cycle({"ww", "wr"}, True)

    def statement_skew(self):
        """A statement saw a mixture, or what was no longer so."""
        return self.graph(True, False, True).cycle({"ww", "wr", "rw", "rt"}, True)

    def snapshot_skew(self):
        """G-single and G-nonadjacent: a lost update, a read skew, or a snapshot that is too old."""
        return self.graph(False, True, True).cycle({"ww", "wr", "rw", "rt"}, False)

    def any_cycle(self):
        return self.graph(False, False, False).cycle({"ww", "wr", "rw"}, True)
