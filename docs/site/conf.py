"""The documentation site, `make site`: Markdown of docs/ as it is, and what site.py makes of headers and docstrings."""
import pathlib
import re

root = pathlib.Path(__file__).resolve().parents[2]
header = (root / "include/stiction/base.h").read_text(encoding="utf8")
version = release = ".".join(re.findall(r"#define ST_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header))
project = "stiction"
author = copyright = "the stiction authors"  # pylint: disable=redefined-builtin
extensions = ["myst_parser"]
myst_enable_extensions = ["html_image", "deflist"]
myst_heading_anchors = 3
myst_linkify_fuzzy_links = False
root_doc = "docs/site/index"
include_patterns = ["docs/**", "*.md", "bench/README.md", "bench/results/results.md", "api/*.md"]
html_theme = "furo"
html_title = f"stiction {version}"
html_show_sphinx = False
html_copy_source = False
html_static_path = []
pygments_style = "friendly"
highlight_language = "sh"


def add_pages(app, name, source):
    """Pages that the index does not list yet come at its end, so that a new one is never missing."""
    if name != root_doc:
        return
    listed = set(re.findall(r"^\.\./(.*)$", source[0], re.M))
    in_tree = {("docs/" + page).replace("docs/../", "") for page in listed}
    more = sorted(d for d in app.env.found_docs if d not in in_tree and d != root_doc and not d.startswith(("docs/examples/", "api/c-")))
    if more:
        source[0] += "\n```{toctree}\n:maxdepth: 1\n:caption: More\n\n" + "\n".join(f"/{page}" for page in more) + "\n```\n"


def setup(app):
    app.connect("source-read", add_pages)
