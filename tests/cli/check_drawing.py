#!/usr/bin/python3
"""Checks drawings as a browser lays them out: every text lies within the drawing and within its box, and none lies on
another.

    check_drawing.py CHROMIUM FILE.svg...
"""
import html
import json
import re
import subprocess
import sys
import tempfile

SCRIPT = """
const out = [];
document.querySelectorAll('svg').forEach(svg => {
  const problems = [], frame = svg.getBoundingClientRect(), texts = [...svg.querySelectorAll('text')];
  const boxes = texts.map(t => t.getBoundingClientRect());
  const say = (what, i, j) => problems.push(what + ': ' + texts[i].textContent + (j === undefined ? '' : ' / ' + texts[j].textContent));
  boxes.forEach((b, i) => {
    if (b.left < frame.left || b.right > frame.right || b.top < frame.top || b.bottom > frame.bottom) say('outside', i);
    const rect = texts[i].parentElement.querySelector(':scope > rect');
    if (rect !== null) {
      const r = rect.getBoundingClientRect();
      if (b.left < r.left || b.right > r.right || b.top < r.top - 1 || b.bottom > r.bottom + 1) say('wider than its box', i);
    }
  });
  const order = boxes.map((b, i) => i).sort((i, j) => boxes[i].left - boxes[j].left);
  for (let a = 0; a < order.length; a++) {
    for (let c = a + 1; c < order.length && boxes[order[c]].left < boxes[order[a]].right - 1; c++) {
      const p = boxes[order[a]], q = boxes[order[c]];
      if (p.top < q.bottom - 2 && q.top < p.bottom - 2) say('overlap', order[a], order[c]);
    }
  }
  out.push({texts: texts.length, title: svg.querySelector('title').textContent.length, desc: svg.querySelector('desc').textContent.length, problems});
});
document.getElementById('out').textContent = JSON.stringify(out);
"""


def main(arguments):
    if len(arguments) < 3:
        print(__doc__, file=sys.stderr)
        return 2
    chromium, files = arguments[1], arguments[2:]
    page = ["<!doctype html><meta charset='utf-8'><body>"]
    for name in files:
        with open(name, encoding="utf-8") as file:
            page.append(re.sub(r"^<\?xml[^>]*\?>", "", file.read()).replace("max-width: 100%; ", ""))
    page.append(f"<pre id='out'></pre><script>{SCRIPT}</script>")
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/page.html", "w", encoding="utf-8") as file:
            file.write("\n".join(page))
        done = subprocess.run(
            [chromium, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             f"--user-data-dir={folder}/profile", "--window-size=2400,2000", "--dump-dom", f"file://{folder}/page.html"],
            capture_output=True, text=True, timeout=120, check=False)
    found = re.search(r"<pre id=\"out\">(.*?)</pre>", done.stdout, re.DOTALL)
    if found is None or not found.group(1):
        print(f"{chromium} gave no answer: {done.stderr[-300:]}", file=sys.stderr)
        return 1
    bad = 0
    drawings = json.loads(html.unescape(found.group(1)))
    if len(drawings) != len(files):
        print(f"{len(drawings)} drawings of {len(files)}", file=sys.stderr)
        return 1
    for name, drawing in zip(files, drawings):
        if drawing["texts"] < 5 or drawing["title"] == 0 or drawing["desc"] < 20:
            drawing["problems"].append("no texts, title or description")
        for problem in drawing["problems"][:10]:
            print(f"{name}: {problem}", file=sys.stderr)
        bad += len(drawing["problems"])
    print(f"{len(files)} drawings, {sum(d['texts'] for d in drawings)} texts")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
