#!/usr/bin/env python3
"""site.py OUT -- the API reference of the site as Markdown: OUT/c-HEADER.md from the comments of include/stiction/*.h,
OUT/python.md from the docstrings of the module (on PYTHONPATH) and the signatures of python/stiction.pyi."""
import ast
import importlib
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def comment_text(comment):
    """The words of a /* ... */ comment, paragraphs kept."""
    body = re.sub(r"^/\*+ ?|\s*\*+/$", "", comment.strip())
    return "\n".join(re.sub(r"^ ?\* ?", "", line.strip()) for line in body.splitlines()).strip()


def escaped(text):
    """Comments are plain text: characters that are markup in Markdown are escaped."""
    return re.sub(r"([<>*_\[\]|])", r"\\\1", text)


def pieces(text):
    """(comment or "", code) of each top-level declaration, and (title, None) of each section."""
    at, comment = 0, ""
    token = re.compile(r"\s*(/\*.*?\*/|#[^\n]*(?:\\\n[^\n]*)*)", re.S)
    while at < len(text):
        found = token.match(text, at)
        if found and found.group(1).startswith("/*"):
            words = found.group(1)
            section = re.match(r"/\* -+ (.*?) -+ \*/", words, re.S)
            at = found.end()
            if section:
                yield comment_text("/* " + section.group(1) + " */"), None
                comment = ""
            else:
                comment = comment_text(words)
        elif found:  # the preprocessor
            if found.group(1).startswith("#define") and comment:
                yield comment, found.group(1)
            at, comment = found.end(), ""
        else:
            start = re.compile(r"\S").search(text, at)
            if not start:
                return
            at, depth, end = start.start(), 0, start.start()
            while end < len(text) and not (text[end] == ";" and depth == 0):
                if text.startswith("/*", end):
                    end = text.index("*/", end) + 2
                    continue
                depth += (text[end] in "{(") - (text[end] in "})")
                end += 1
            rest = re.compile(r"[ \t]*/\*.*?\*/").match(text, end + 1)
            yield comment, text[at : rest.end() if rest else end + 1].strip()
            at, comment = rest.end() if rest else end + 1, ""


def name_of(code):
    """The name that a declaration declares."""
    for pattern in (r"ST_API[^(]*?(\w+)\(", r"typedef[^(]*\(\*(\w+)\)", r"}\s*(\w+)\s*;", r"#define (\w+)", r"(\w+)\s*;"):
        found = re.search(pattern, code)
        if found:
            return found.group(1)
    return code.split("\n", maxsplit=1)[0]


def c_page(header):
    text = header.read_text(encoding="utf8")
    opening = re.match(r"/\*.*?\*/", text, re.S).group(0)
    what = comment_text(opening)
    title, _, rest = what.partition(" -- ")
    text = text[len(opening) :]
    text = re.sub(r'#ifdef __cplusplus.*?#endif\n', "", text, flags=re.S)
    out = [f"# `<{title}>`", "", escaped(rest), ""]
    level = "##"
    for comment, code in pieces(text):
        if code is None:
            level = "###"
            out += [f"## {escaped(comment[0].upper() + comment[1:])}", ""]
            continue
        if code.startswith("ST_API "):
            code = code[7:].replace("\n       ", "\n")
        out += [f"{level} `{name_of('ST_API ' + code)}`", ""]
        if comment:
            out += [escaped(comment), ""]
        out += ["```c", re.sub(r" +\*/", " */", code), "```", ""]
    return "\n".join(out)


def signature(node):
    """As it is written in the stub, without `self`."""
    text = ast.unparse(node.args)
    text = re.sub(r"^self(, /)?(, )?", "", text)
    return f"({text})" + (f" -> {ast.unparse(node.returns)}" if node.returns else "")


def python_entry(out, level, name, node, thing):
    doc = (getattr(thing, "__doc__", None) or "").strip()
    doc = re.sub(r"^\w+\(.*?\)\n--\n\n", "", doc, flags=re.S)
    if isinstance(node, ast.FunctionDef):
        prop = any(getattr(d, "id", "") == "property" for d in node.decorator_list)
        out += [f"{'#' * level} `{name}`", "", "```python", f"{name}: {ast.unparse(node.returns)}" if prop and node.returns else name + signature(node), "```", ""]
    else:
        out += [f"{'#' * level} `{name}`", ""]
    if "\n" in doc:  # with a layout of its own
        out += ["```text", doc, "```", ""]
    elif doc:
        out += [escaped(doc), ""]


def python_page():
    module = importlib.import_module("stiction")
    tree = ast.parse((ROOT / "python/stiction.pyi").read_text(encoding="utf8"))
    out = ["# The Python module", "", escaped((module.__doc__ or "").strip()), "", "How to use it: [The Python module](../docs/python.md).", ""]
    for node in tree.body:
        if not isinstance(node, (ast.FunctionDef, ast.ClassDef)) or node.name.startswith("_") or not hasattr(module, node.name):
            continue
        thing = getattr(module, node.name)
        python_entry(out, 2, node.name, node, thing)
        fields = []
        for inner in getattr(node, "body", []) if isinstance(node, ast.ClassDef) else []:
            if isinstance(inner, ast.FunctionDef) and (not inner.name.startswith("_") or inner.name == "__init__"):
                if inner.name != "__init__":
                    python_entry(out, 3, f"{node.name}.{inner.name}", inner, getattr(thing, inner.name, None))
            elif isinstance(inner, ast.AnnAssign):
                member = getattr(thing, inner.target.id, None)
                described = type(member).__name__ in ("getset_descriptor", "member_descriptor", "property", "_tuplegetter")
                doc = (member.__doc__ or "").strip().replace("\n", " ") if described else ""
                fields.append(f"| `{inner.target.id}` | `{ast.unparse(inner.annotation)}` | {escaped(doc)} |".replace(" | None", " or None"))
        if fields:
            out += ["| field | type | |", "|---|---|---|", *fields, ""]
    return "\n".join(out)


def main():
    out = pathlib.Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    headers = sorted((ROOT / "include/stiction").glob("*.h"))
    for header in headers:
        (out / f"c-{header.stem}.md").write_text(c_page(header) + "\n", encoding="utf8")
    (out / "python.md").write_text(python_page() + "\n", encoding="utf8")


if __name__ == "__main__":
    main()
