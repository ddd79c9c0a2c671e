"""Scripts of psql, split into statements, backslash commands and data of COPY by psql's rules."""
import re
from dataclasses import dataclass

# Text that psql takes as a whole when it looks for the end of a statement. A quoted string after E takes backslashes.
WHOLE = re.compile(r"""--[^\n]*|/\*|\b[eE]'(?:[^'\\]|''|\\.)*'|'(?:[^']|'')*'|"(?:[^"]|"")*"|(\$(?:[A-Za-z_]\w*)?\$).*?\1""", re.S)
COMMENTS = re.compile(r"(?:\s+|--[^\n]*|/\*.*?\*/)*", re.S)
WORD = re.compile(r"\w+")
FROM_STDIN = re.compile(r"COPY\b.*\bFROM\s+STDIN\b", re.I | re.S)
# Data follow if a line "\." comes before a line that ends a statement: psql does not read data if COPY fails.
DATA = re.compile(r"[^\n]*\n((?:(?![^\n]*;[ \t]*(?:--[^\n]*)?\n)(?!\\\.\n)[^\n]*\n)*)\\\.\n")


@dataclass
class Part:
    """A statement without its semicolon, or a backslash command. `data` are the lines after COPY … FROM STDIN."""
    line: int
    text: str
    data: str = ""

    @property
    def is_command(self):
        return self.text.startswith("\\")


def parts(script):
    """Yields the parts of a script in order."""
    at = 0
    while True:
        at = COMMENTS.match(script, at).end()
        if at == len(script):
            return
        line = script.count("\n", 0, at) + 1
        if script[at] == "\\":
            end = script.find("\n", at) if "\n" in script[at:] else len(script)
            yield Part(line, script[at:end].strip())
            at = end
            continue
        end = _end_of_statement(script, at)
        part, at = Part(line, script[at:end].strip()), end + 1
        if FROM_STDIN.match(part.text) and (data := DATA.match(script, at)):
            part.data, at = data[1], data.end()
        if part.text:
            yield part


def _end_of_statement(script, at):
    """Returns the position of the semicolon that ends the statement, or the length of the script."""
    depth, blocks = 0, 0  # open parentheses; BEGIN ATOMIC and CASE without their END
    while at < len(script):
        if whole := WHOLE.match(script, at):
            at = _end_of_comment(script, at) if whole[0] == "/*" else whole.end()
        elif word := WORD.match(script, at):
            at = word.end()
            if word[0].upper() == "BEGIN" and re.match(r"\s+ATOMIC\b", script[at:at + 40], re.I) or blocks and word[0].upper() == "CASE":
                blocks += 1
            elif blocks and word[0].upper() == "END":
                blocks -= 1
        else:
            if script[at] == ";" and depth == 0 and blocks == 0:
                return at
            depth = max(0, depth + {"(": 1, ")": -1}.get(script[at], 0))
            at += 1
    return len(script)


def _end_of_comment(script, at):
    """Returns the position after a comment; comments nest."""
    depth = 0
    for mark in re.finditer(r"/\*|\*/", script[at:]):
        depth += 1 if mark[0] == "/*" else -1
        if depth == 0:
            return at + mark.end()
    return len(script)
