#!/usr/bin/env python3
"""theme.py STATIC -- Debian's furo for pages without a server. The package takes its reset of styles from a path of a web server, has its
script as a module (which browsers refuse in files), and leaves out the dark colours for readers whose system is dark."""
import pathlib
import re
import sys

RESET = """html { line-height: 1.15; -webkit-text-size-adjust: 100%; }
body { margin: 0; }
main, details { display: block; }
h1 { font-size: 2em; margin: .67em 0; }
pre, code, kbd, samp { font-family: monospace, monospace; font-size: 1em; }
button, input { font: inherit; margin: 0; }
img { border-style: none; }
"""

static = pathlib.Path(sys.argv[1])
style = static / "styles/furo.css"
text = style.read_text(encoding="utf8")
text = re.sub(r"^@import url\(/javascript/normalize[^\n]*\n", lambda _: RESET, text)
if "prefers-color-scheme: dark" not in text:
    dark = re.search(r'body\[data-theme="dark"\] \{(.*?)\}', text, re.S).group(1)
    text += f'\n@media (prefers-color-scheme: dark) {{ body:not([data-theme="light"]) {{{dark}}} }}\n'
style.write_text(text, encoding="utf8")
script = static / "scripts/furo.js"
text = script.read_text(encoding="utf8")
module = re.match(r'import Gumshoe from "\./(.*?)";\n', text)
if module:
    text = (static / "scripts" / module.group(1)).read_text(encoding="utf8") + "(function () {\n" + text[module.end():] + "\n})();\n"
    script.write_text(text, encoding="utf8")
