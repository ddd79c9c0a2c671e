"""Random expressions from templates: each type has literals, and templates such as "({int} + {bigint})"."""
import re

HOLE = re.compile(r"\{(\w+)\}")


class Grammar:
    """`literals` and `templates`: lists by type. A type without templates is a literal. `columns`: names by type, used beside literals."""

    def __init__(self, random, literals, templates, columns=None):
        self.random, self.literals, self.templates, self.columns = random, literals, templates, columns or {}

    def expression(self, type_, depth):
        templates = self.templates.get(type_, [])
        has_leaf = type_ in self.literals
        if has_leaf and (not templates or depth <= 0 or self.random.random() < 0.2):
            return self.leaf(type_)
        return self.fill(self.random.choice(templates), depth - 1)

    def leaf(self, type_):
        names = self.columns.get(type_)
        if names and self.random.random() < 0.6:
            return self.random.choice(names)
        return self.random.choice(self.literals[type_])

    def fill(self, template, depth):
        return filled(template, lambda type_: self.expression(type_, depth))


def filled(template, make):
    """Returns the template with `make(type)` in each hole. `{{` and `}}` are braces."""
    text = HOLE.sub(lambda hole: make(hole[1]), template.replace("{{", "\x01").replace("}}", "\x02"))
    return text.replace("\x01", "{").replace("\x02", "}")
