"""Every table of a report as CSV, and its Markdown, against its JSON. Run by test_tables.sh.

usage: check_tables.py JSON LIST FOLDER MARKDOWN, with FOLDER/TABLE.csv for every name in LIST"""
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


def markdown_tables(path):
    """Title: number of table lines or bullets."""
    found = {}
    title = None
    for line in open(path, encoding="utf-8"):
        if line.startswith("## "):
            title = line[3:].strip()
            assert title not in found, f"Markdown: two sections {title}"
            found[title] = []
        elif line.startswith(("|", "- ")):
            found[title].append(line.rstrip("\n"))
    return found


SCALE = {"": 1, "p": 1e-12, "n": 1e-9, "u": 1e-6, "m": 1e-3, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18, "B": 1e9}


def read_quantity(text):
    """None where the cell is no figure."""
    money = re.fullmatch(r"\$(-?[\d.]+)([kMB]?)", text)
    if money:
        return float(money[1]) * SCALE[money[2]]
    found = re.fullmatch(r"(-?[\d.]+(?:e[+-]?\d+)?)(?: ([pnumkMGTPE]?)(?:s|m|W|B|b/s|B/s))?", text)
    return float(found[1]) * SCALE[found[2] or ""] if found else None


def close(cell, value, name):
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        shown = read_quantity(cell)
        slack = 0.05 if ".usd" in name or name.endswith(("usd", "usd_per_year", "tokens")) else 6e-4  # four digits; of money two at least
        return shown is not None and abs(shown - value) <= slack * abs(value) + (0.01 if slack > 1e-3 else 0)
    return True


def check_markdown(path):
    found = markdown_tables(path)
    titles = {name: (name[0].upper() + name[1:]).replace("_", " ").replace(".", ": ") for name, rows in tables.items() if rows}
    assert set(titles.values()) == set(found), f"Markdown: {set(titles.values()) ^ set(found)}"
    checked = 0
    for name, title in titles.items():
        rows = tables[name]
        lines = found[title]
        if lines[0].startswith("- "):  # one text each
            assert len(lines) == len(rows), f"{title}: {len(lines)} bullets"
            continue
        cells = [[c.strip() for c in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
        assert len({len(line) for line in cells}) == 1, f"{title}: lines of different length"
        if cells[0][0] == "":  # turned: a line for each field
            columns = {line[0]: line[1:] for line in cells[2:]}
        else:
            columns = {head: [line[i] for line in cells[2:]] for i, head in enumerate(cells[0])}
        for i, (_, fields) in enumerate(rows):
            for field, value in fields.items():
                shown = columns[field.replace("[", "\\[")][i]
                assert close(shown, value, field), f"{title}: {field} {shown}, JSON has {value}"
                checked += 1
    return checked


report = json.load(open(sys.argv[1], encoding="utf-8"))
for key, value in report.items():
    if isinstance(value, list):
        add_rows(key, value, [])
    elif isinstance(value, dict):
        row = {}
        tables[key] = [([], row)]
        add_fields(key, "", value, row, [], False)
listed = list(csv.DictReader(open(sys.argv[2], newline="", encoding="utf-8")))
assert {line["table"] for line in listed} >= {name for name, rows in tables.items() if rows}, "a table is missing"
total = 0
for line in listed:
    content = [[re.sub(r"^'(?='*[=+@-])", "", cell) for cell in row] # an apostrophe keeps a spreadsheet from taking it for a formula
               for row in csv.reader(open(f"{sys.argv[3]}/{line['table']}.csv", newline="", encoding="utf-8"))]
    rows = tables.get(line["table"], [])
    assert int(line["rows"]) == len(rows) and int(line["columns"]) == len(content[0]), line
    total += check_table(line["table"], rows, content[0], content[1:])
assert total >= 10, f"only {total} figures"
assert check_markdown(sys.argv[4]) >= 10
