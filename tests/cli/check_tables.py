"""Every table of a report as CSV against its JSON, and its Markdown against its text. Run by test_tables.sh.

usage: check_tables.py JSON TABLES MARKDOWN TEXT, with TABLES as --table all has them"""
import collections
import csv
import json
import re
import sys

tables = {}  # name: list of (ancestors, {column: value}); ancestors: list of (number, name or None)


def name_of(element):
    """What tells an element of a list from others: its first text, or the values of a point."""
    if isinstance(element.get("values"), list):
        return "|".join(element["values"])
    return next((value for value in element.values() if isinstance(value, str)), None)


def is_texts(value):
    return isinstance(value, list) and bool(value) and isinstance(value[0], str)


def add_fields(name, prefix, fields, row, ancestors, in_list):
    """Fields of an object into `row`; lists of objects become tables of their own."""
    for key, value in fields.items():
        if isinstance(value, dict):
            add_fields(name, f"{prefix}{key}.", value, row, ancestors, in_list)
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            add_rows(f"{name}.{prefix}{key}", value, ancestors)
        elif is_texts(value) and not in_list:
            tables.setdefault(f"{name}.{prefix}{key}", []).extend((ancestors, {None: text}) for text in value)
        elif value != []:
            row[prefix + key] = value


def add_rows(name, elements, ancestors):
    rows = tables.setdefault(name, [])
    for i, element in enumerate(elements):
        row = {}
        rows.append((ancestors, row))
        add_fields(name, "", element, row, ancestors + [(i + 1, name_of(element))], True)


def text_of(value):
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return ("|" if is_texts(value) else " ").join(text_of(v) for v in value)
    return repr(value) if isinstance(value, float) else str(value)


def same(cell, value):
    """Figures as numbers, since 1e+21 and 1e21 are the same; whole numbers to the last digit."""
    if isinstance(value, float):
        return float(cell) == value
    if isinstance(value, list) and not is_texts(value):
        return [float(x) for x in cell.split(" ")] == [float(x) for x in value]
    return cell == text_of(value)


def check_table(name, rows, header, found):
    assert len(header) == len(set(header)), f"{name}: two columns of one name: {header}"
    assert len(found) == len(rows), f"{name}: {len(found)} rows, JSON has {len(rows)}"
    n_figures = 0
    for (ancestors, fields), cells in zip(rows, found):
        assert len(cells) == len(header), f"{name}: {cells}"
        at = 0
        for number, label in ancestors:
            assert header[at].endswith("_no") and cells[at] == str(number), f"{name}: {header[at]} {cells[at]}, not {number}"
            at += 1
            if at < len(header) and header[at] == header[at - 1][:-3]:
                assert cells[at] == (label or ""), f"{name}: {cells[at]}, not {label}"
                at += 1
        own = dict(zip(header[at:], cells[at:]))
        if None in fields:
            assert list(own.values()) == [fields[None]], f"{name}: {own}"
            continue
        for column, value in fields.items():
            assert same(own[column], value), f"{name}.{column}: {own[column]}, JSON has {value}"
            n_figures += 1
        assert all(own[c] == "" for c in own if c not in fields), f"{name}: {own} has more than {fields}"
    return n_figures


DRAWN = re.compile("[\u2581-\u258f]")
DRAWING = re.compile(r"^ +(stage \d+|power) {2,}")  # as wide as the page


def words_of(lines):
    return collections.Counter(w for line in lines if not DRAWING.match(line) for w in DRAWN.sub("", line).split())


def plain_of(line):
    """A line of Markdown without its marks."""
    literal = re.sub(r"\\(.)", lambda m: chr(0xE000 + ord(m[1])), line)
    literal = "" if re.fullmatch(r"\|( -{3}:? \|)+", literal) else literal.replace("**", "").replace("|", " ")
    literal = re.sub(r"^#+ ", "", literal)
    return "".join(chr(ord(c) - 0xE000) if 0xE000 <= ord(c) < 0xE080 else c for c in literal).replace("&lt;", "<").replace("&amp;", "&")


def check_markdown(path, path_of_text):
    """The words of the text report, each as often, under a title; its headings in order; tables with rows of one length."""
    lines = open(path, encoding="utf-8").read().split("\n")
    text = re.sub(r"\\\n", "", re.sub(r" \\\n", "\n", open(path_of_text, encoding="utf-8").read()))  # commands in one piece
    text = re.sub(r"(=\S*,)\n +(?=(tp|cp|pp|dp|ep|interleave|microbatch|recompute|zero|sequence-parallel)=)", r"\1", text).split("\n")  # and keys of a job
    assert lines[0].startswith("# fabriscope ") and not any(line.startswith("# ") for line in lines[1:]), lines[0]
    plain = [line if line.startswith("    ") else plain_of(line) for line in lines[1:]]
    more, less = words_of(plain) - words_of(text), words_of(text) - words_of(plain)
    assert not more and not less, f"Markdown has more: {more}, less: {less}"
    at = 0
    for heading in (plain_of(line) for line in lines if line.startswith("## ")):
        at = next((i + 1 for i in range(at, len(text)) if text[i].startswith(heading)), None)
        assert at is not None, f"Markdown: heading {heading}"
    n_tables = 0
    for i, line in enumerate(lines):
        if line.startswith("| ") and "---" in lines[i + 1] and (i == 0 or lines[i - 1] == ""):
            end = next(j for j in range(i, len(lines)) if not lines[j].startswith("|"))
            lengths = {len(re.split(r"(?<!\\)\|", row)) for row in lines[i:end]}
            assert len(lengths) == 1 and end - i > 2 and lines[end] == "", f"Markdown: table {line}"
            n_tables += 1
    assert sum(line.startswith("| ---") for line in lines) == n_tables, "Markdown: a table that does not begin"
    return n_tables


report = json.load(open(sys.argv[1], encoding="utf-8"))
for key, value in report.items():
    if isinstance(value, list):
        add_rows(key, value, [])
    elif isinstance(value, dict):
        row = {}
        tables[key] = [([], row)]
        add_fields(key, "", value, row, [], False)
parts = re.split(r"(?:^|\n)# (.*)\n", open(sys.argv[2], newline="", encoding="utf-8").read())
found = dict(zip(parts[1::2], parts[2::2]))
assert parts[0] == "" and set(found) >= {name for name, rows in tables.items() if rows}, "a table is missing"
total = 0
for name, content in found.items():
    content = [[re.sub(r"^'(?='*[=+@-])", "", cell) for cell in row] # an apostrophe keeps a spreadsheet from taking it for a formula
               for row in csv.reader(content.splitlines(keepends=True))]
    total += check_table(name, tables.get(name, []), content[0], content[1:])
assert total >= 10, f"only {total} figures"
check_markdown(sys.argv[3], sys.argv[4])
