"""The documentation site, `make site`: Markdown of docs/ as it is, and the pages that site.py makes of headers and docstrings."""
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
html_show_search_summary = False  # browsers refuse to fetch pages from files
html_static_path = []
pygments_style = "friendly"
highlight_language = "sh"


def add_film(_, name, source):
    """The page of an example has its run below the picture: site.sh puts it beside the page."""
    if not name.startswith("docs/examples/") or not re.search(r"^stiction run \w", source[0], re.M):
        return
    page = name.rsplit("/", 1)[1]
    film = (f'<iframe src="{page}-film.html" title="The run of this page, to play and turn about" loading="lazy" '
            'style="width: 100%; height: 34em; border: 0"></iframe>')
    source[0] = re.sub(r"(^!\[.*\)$)", lambda picture: f"{picture.group(1)}\n\n```{{raw}} html\n{film}\n```\n", source[0],
                       count=1, flags=re.M)


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
    app.connect("source-read", add_film)
    app.connect("source-read", add_pages)
