"""The Python of docs/python.md runs unchanged, block after block."""
import os
import re
import tempfile
import unittest

import support


class Docs(unittest.TestCase):
    def test_every_block(self):
        text = (support.ROOT / "docs/python.md").read_text()
        blocks = re.findall(r"^```python[^\n]*\n(.*?)^```$", text, re.S | re.M)
        self.assertEqual(len(blocks), 4)
        try:
            import numpy
        except ImportError:
            numpy = None
        names = {"numpy": numpy}
        with tempfile.TemporaryDirectory() as folder:
            before = os.getcwd()
            os.chdir(folder)
            try:
                for block in blocks:
                    if numpy is None:
                        block = "\n".join(line for line in block.split("\n") if "numpy" not in line)
                    exec(compile(block, "docs/python.md", "exec"), names)
            finally:
                os.chdir(before)
        self.assertEqual(names["again"].hash(), names["system"].hash())
        self.assertTrue(names["solution"].converged)

    def test_the_drop_is_the_example(self):
        text = (support.ROOT / "docs/python.md").read_text()
        example = (support.ROOT / "examples/python/drop.py").read_text()
        block = re.search(r"^```python\n(.*?)^```$", text, re.S | re.M).group(1)
        self.assertIn(block.strip(), example)


if __name__ == "__main__":
    unittest.main()
