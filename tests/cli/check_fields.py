"""Every field of the JSON Schema is shown by some report, or listed as one that is not.

usage: check_fields.py SCHEMA LIST REPORT..."""
import json
import re
import sys

schema = json.load(open(sys.argv[1], encoding="utf-8"))
listed = {line.split("#")[0].strip() for line in open(sys.argv[2], encoding="utf-8")} - {""}
shown = set()


def look(node, value):
    """Notes the fields of `value`, an instance of the schema `node`."""
    if "$ref" in node:
        name = node["$ref"].rsplit("/", 1)[1]
        return look(dict(schema["$defs"][name], name=name), value)
    if "oneOf" in node:
        for option in node["oneOf"]:
            look(option, value)
    if isinstance(value, list):
        for item in value:
            look(node["items"], item)
    elif isinstance(value, dict) and "properties" in node and value.keys() <= node["properties"].keys():
        for key, field in value.items():
            shown.add(f"{node.get('name', 'report')}.{key}")
            look(node["properties"][key], field)


for path in sys.argv[3:]:
    text = open(path, encoding="utf-8").read()
    if re.match(r"\s*\{", text):
        look(schema, json.loads(text))
fields = {f"{name}.{key}" for name, node in [("report", schema), *schema["$defs"].items()] for key in node.get("properties", ())}
hidden = fields - shown
assert hidden <= listed, f"in no report, and not in {sys.argv[2]}: {sorted(hidden - listed)}"
assert listed <= hidden, f"{sys.argv[2]} lists what a report shows, or what no schema has: {sorted(listed - hidden)}"
