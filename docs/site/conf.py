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
