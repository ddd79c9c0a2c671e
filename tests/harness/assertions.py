"""What a failed `assert` had in its hands: told with its message, so that a failure can be understood from what a run has printed."""
import ast

SHOWN = 1500  # characters of each value


def compiled(path):
    """The code of a module whose assertions tell both sides of a comparison, and what should have been true."""
    with open(path, encoding="utf-8") as file:
        tree = _Teller().visit(ast.parse(file.read(), path))
    return compile(ast.fix_missing_locations(tree), path, "exec")


def told(values, names, message=None):
    parts = [] if message is None else [str(message)]
    for text, name in names:
        if name in values:
            shown = repr(values[name])
            parts.append(f"{text} is {shown if len(shown) <= SHOWN else f'{shown[:SHOWN]}… ({len(shown)} characters)'}")
    return "\n".join(parts)


class _Teller(ast.NodeTransformer):
    def visit_Assert(self, node):
        names = []
        node.test = self._kept(node.test, node, names)
        if names:
            arguments = [ast.Call(ast.Name("locals", ast.Load()), [], []), ast.Constant(tuple(names))] + ([node.msg] if node.msg else [])
            node.msg = ast.Call(ast.Name("_told", ast.Load()), arguments, [])
        return node

    def _kept(self, test, node, names):
        """The same condition, whose parts are kept under names of their own."""
        if isinstance(test, ast.BoolOp):
            test.values = [self._kept(value, node, names) for value in test.values]
        elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            test.operand = self._kept(test.operand, node, names)
        elif isinstance(test, ast.Compare):
            # The right side of the second sign is not evaluated if the first comparison fails.
            test.left, test.comparators[0] = self._named(test.left, node, names), self._named(test.comparators[0], node, names)
        else:
            return self._named(test, node, names)
        return test

    @staticmethod
    def _named(value, node, names):
        try:
            ast.literal_eval(value)
            return value
        except ValueError:
            name = f"_kept_{node.lineno}_{len(names)}"
            names.append((ast.unparse(value), name))
            return ast.NamedExpr(ast.Name(name, ast.Store()), value)
