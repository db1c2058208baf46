"""The API reference of the site has every public function of the headers and every name of the module."""
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import stiction
import support


class Site(unittest.TestCase):
    def test_everything_is_there(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([sys.executable, support.ROOT / "docs/site/site.py", folder], check=True)
            pages = {p.stem: p.read_text(encoding="utf8") for p in pathlib.Path(folder).glob("*.md")}
        for header in (support.ROOT / "include/stiction").glob("*.h"):
            text = re.sub(r"/\*.*?\*/", "", header.read_text(encoding="utf8"), flags=re.S)
            for name in re.findall(r"^ST_API [^(;]*?(\w+)\(", text, re.M):
                self.assertRegex(pages[f"c-{header.stem}"], f"(?m)^#+ `{name}`$", header.name)
        for name in dir(stiction):
            if not name.startswith("_"):
                self.assertIn(f"`{name}`", pages["python"])


if __name__ == "__main__":
    unittest.main()
