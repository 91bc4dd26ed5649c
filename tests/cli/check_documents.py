"""Documents of a checkout: links and paths lead somewhere, and pages are as short as they promise. Run by test_documents.sh.

usage: check_documents.py CHECKOUT"""
import os
import re
import sys

ROOT = os.path.abspath(sys.argv[1])
PRUNED = re.compile(r"^(build.*|node_modules|\.git|\.cache)$")
LINK = re.compile(r"\]\(([^)\s]+)\)")
NAMED = re.compile(r"`([A-Za-z0-9_./-]+\.(?:c|h|py|sh|mjs|cmake|md|xsd|bib)|(?:src|topologies|routing|reports|tests|scripts)/[A-Za-z0-9_./-]+)`")
CODE = re.compile(r"^```.*?^```", re.M | re.S)
EXAMPLES = re.compile(r"NAME|^report\.md$|^fabric\.|^[a-z]+_NAME")  # names of what a reader is to write, or the program writes
failures = 0


def fail(text):
    global failures
    print(f"FAIL {text}")
    failures += 1


files = []
for folder, folders, names in os.walk(ROOT):
    folders[:] = sorted(f for f in folders if not PRUNED.match(f))
    files += [os.path.relpath(os.path.join(folder, n), ROOT) for n in sorted(names)]
folders = {os.path.dirname(f) for f in files}
folders |= {os.path.dirname(f) for f in folders} | {"src"}
base_names = {os.path.basename(f) for f in files}
documents = [f for f in files if f.endswith(".md")]


def anchors(document):
    """Anchors as GitHub makes them of headings."""
    text = CODE.sub("", open(os.path.join(ROOT, document), encoding="utf-8").read())
    return {re.sub(r"[^\w\- ]", "", h.strip().lower()).replace(" ", "-") for h in re.findall(r"^#+ (.*)$", text, re.M)}


def check_links(document, text):
    n = 0
    for link in LINK.findall(CODE.sub("", text)):
        if re.match(r"[a-z]+:", link):
            continue
        n += 1
        path, _, anchor = link.partition("#")
        target = os.path.normpath(os.path.join(os.path.dirname(document), path)) if path else document
        if target not in files and target.rstrip("/") not in folders:
            fail(f"{document}: link to {link}, which is not there")
        elif anchor and anchor not in anchors(target):
            fail(f"{document}: link to {link}: no such heading")
    return n


def check_names(document, text):
    """Files that the text names in `code` are there: by their path from the root, by the end of it, or by their name."""
    n = 0
    for name in NAMED.findall(CODE.sub("", text)):
        if EXAMPLES.search(name):
            continue
        n += 1
        path = name.rstrip("/")
        beside = os.path.normpath(os.path.join(os.path.dirname(document), path))
        there = path in base_names if "/" not in path else any(f == path or f.endswith("/" + path) for f in files)
        if not there and path not in folders and beside not in files and beside not in folders:
            fail(f"{document}: names {name}, which is not there")
    return n


def check_length(document, limit, count, unit):
    text = open(os.path.join(ROOT, document), encoding="utf-8").read()
    if count(text) > limit:
        fail(f"{document}: {count(text)} {unit}, more than {limit}")


links = names = 0
for document in documents:
    text = open(os.path.join(ROOT, document), encoding="utf-8").read()
    links += check_links(document, text)
    if document != "CHANGELOG.md":  # it tells of files that have gone
        names += check_names(document, text)
if links < 150 or names < 100:
    fail(f"only {links} links and {names} names of files in {len(documents)} documents")

# Documents that code and scripts send a reader to.
for path in files:
    if re.search(r"\.(c|h|py|sh|cmake|txt|mjs|js)$", path) or path.startswith("scripts/"):
        with open(os.path.join(ROOT, path), encoding="utf-8", errors="replace") as source:
            text = source.read()
        for name in re.findall(r"(?<![\w$/{}.])(?:src/doc/[\w/-]+|(?:src|topologies|routing|reports)(?:/\w+)*/README)\.md\b", text):
            if name not in documents and not path.endswith("test_documents.sh"):
                fail(f"{path}: names {name}, which is not there")

for document in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"):
    if document not in documents:
        fail(f"no {document}")
check_length("README.md", 899, lambda text: len(text.split()), "words")
check_length("CHANGELOG.md", 120, lambda text: text.count("\n"), "lines")
check_length("CHANGELOG.md", 240, lambda text: max(map(len, text.split("\n"))), "characters in a line")

# Every folder of the product with code of its own says in at most 40 lines what comes in, what goes out, how to add one.
with_code = {os.path.dirname(f) for f in files
             if re.match(r"(src|topologies|routing|reports)/", f) and f.endswith((".c", ".h", ".js")) and "/include/" not in f}
with_code = {f for f in with_code if "/web/" not in f}
with_code |= {"/".join(f.split("/")[: i + 1]) for f in with_code for i in range(f.count("/"))}
for folder in sorted(with_code):
    readme = folder + "/README.md"
    if readme in documents:
        check_length(readme, 40, lambda text: text.count("\n"), "lines")
    else:
        fail(f"{folder} has no README.md")

# The table of modules in ARCHITECTURE.md is that of CMakeLists.txt.
def names_after(word, text):
    found = re.search(rf"(?<!_)\b{word}((?: +[a-z]+\b)+)", text)
    return ", ".join(found[1].split()) if found else ""


with open(os.path.join(ROOT, "CMakeLists.txt"), encoding="utf-8") as cmake:
    modules = re.findall(r"^fab_module\((\w+)\s+DIR\s+([^\s)]+)([^)]*)\)", cmake.read(), re.M)
if len(modules) < 10:
    fail("few modules in CMakeLists.txt")
for name, folder, rest in modules:
    row = [f"`{name}`", f"`{folder}`", names_after("USES", rest), names_after("PRIVATE_USES", rest)]
    if "ARCHITECTURE.md" in documents:
        with open(os.path.join(ROOT, "ARCHITECTURE.md"), encoding="utf-8") as page:
            if row not in [[cell.strip() for cell in line.split("|")[1:-1]] for line in page]:
                fail(f"ARCHITECTURE.md has no row {' | '.join(row)}")

print(f"{len(documents)} documents, {links} links, {names} names of files, {failures} failures")
sys.exit(failures > 0)
