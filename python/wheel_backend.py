"""Builds the wheel and the source archive for pip (PEP 517), with Python's own library only.

The wheel contains the files of `cmake --install`: the module goes to the top, the program to the scripts, all else
(libraries, headers, pkg-config and CMake files, examples, manual page, completions) below the environment's prefix. It is
linked with this machine's libraries, so it is a wheel for this machine.

    pip install .
    pip install --config-settings build=DIR .     # uses an existing build in DIR
"""

import base64
import hashlib
import io
import os
import re
import subprocess
import sysconfig
import tarfile
import tempfile
import tomllib
import zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
NAME = "stiction"


def version():
    with open(os.path.join(ROOT, "include/stiction/base.h"), encoding="utf-8") as header:
        return ".".join(re.findall(r"^#define ST_VERSION_[A-Z]+ (\d+)$", header.read(), re.MULTILINE))


def metadata():
    with open(os.path.join(ROOT, "pyproject.toml"), "rb") as file:
        project = tomllib.load(file)["project"]
    with open(os.path.join(ROOT, project["readme"]), encoding="utf-8") as file:
        readme = file.read()
    return (
        f"Metadata-Version: 2.1\nName: {NAME}\nVersion: {version()}\nSummary: {project['description']}\n"
        f"Keywords: {','.join(project['keywords'])}\nRequires-Python: {project['requires-python']}\nLicense: MIT\n"
        f"License-File: LICENSE\nLicense-File: THIRD_PARTY.md\nDescription-Content-Type: text/markdown\n\n{readme}"
    )


def run(*command):
    """Runs a tool; its output is shown only if it fails."""
    done = subprocess.run(command, check=False, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)}:\n{done.stdout}\nstiction: what the build needs is listed by scripts/setup.sh")


def install(build, prefix):
    """Everything that is installed, below `prefix`; it is built first if `build` is None."""
    if build is None:
        build = os.path.join(ROOT, "build", "wheel")
        run("cmake", "-S", ROOT, "-B", build, "-DST_TESTS=OFF", "-DST_MPI=OFF", "-DST_PYTHON=ON", "-DCMAKE_BUILD_TYPE=Release",
            "-DCMAKE_INSTALL_LIBDIR=lib")
        run("cmake", "--build", build, "--parallel", str(os.cpu_count() or 1))
    run("cmake", "--install", build, "--prefix", prefix, "--strip")


class Wheel:
    """A zip file that writes its own RECORD."""

    def __init__(self, path):
        self.zip = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED)
        self.info = f"{NAME}-{version()}.dist-info"
        self.record = []

    def add(self, name, data, mode=0o644):
        entry = zipfile.ZipInfo(name)  # a fixed date, so that the same files give the same bytes
        entry.compress_type = zipfile.ZIP_DEFLATED
        entry.external_attr = (0o100000 | mode) << 16
        self.zip.writestr(entry, data)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        self.record.append(f"{name},sha256={digest},{len(data)}")

    def close(self):
        lines = self.record + [f"{self.info}/RECORD,,", ""]
        self.zip.writestr(zipfile.ZipInfo(f"{self.info}/RECORD"), "\n".join(lines))
        self.zip.close()


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    del metadata_directory
    tag = f"cp311-abi3-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"
    name = f"{NAME}-{version()}-{tag}.whl"
    data = f"{NAME}-{version()}.data"
    wheel = Wheel(os.path.join(wheel_directory, name))
    with tempfile.TemporaryDirectory() as prefix:
        install((config_settings or {}).get("build"), prefix)
        for folder, folders, files in os.walk(prefix):
            folders.sort()
            for file in sorted(files):
                path = os.path.join(folder, file)
                place = os.path.relpath(path, prefix)
                if file.startswith("stiction.") and "python" in place:
                    place = file  # the module and its stub
                elif os.path.basename(folder) == "stiction_modules":
                    place = f"stiction_modules/{file}"  # its modules in Python
                elif place.startswith("bin/"):
                    place = f"{data}/scripts/{file}"
                else:
                    place = f"{data}/data/{place}"  # links become copies, because zip has none
                with open(path, "rb") as content:
                    wheel.add(place, content.read(), 0o755 if os.access(path, os.X_OK) else 0o644)
    wheel.add(f"{wheel.info}/METADATA", metadata().encode())
    wheel.add(f"{wheel.info}/WHEEL",
              f"Wheel-Version: 1.0\nGenerator: {NAME}\nRoot-Is-Purelib: false\nTag: {tag}\n".encode())
    for file in ("LICENSE", "THIRD_PARTY.md"):
        with open(os.path.join(ROOT, file), "rb") as content:
            wheel.add(f"{wheel.info}/licenses/{file}", content.read())
    wheel.close()
    return name


def build_sdist(sdist_directory, config_settings=None):
    del config_settings
    top = f"{NAME}-{version()}"
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT,
                            check=True, capture_output=True).stdout.decode()
    with tarfile.open(os.path.join(sdist_directory, f"{top}.tar.gz"), "w:gz") as tar:
        for file in sorted(filter(None, listed.split("\0"))):
            if os.path.exists(os.path.join(ROOT, file)):
                tar.add(os.path.join(ROOT, file), f"{top}/{file}", recursive=False)
        about = tarfile.TarInfo(f"{top}/PKG-INFO")
        about.size = len(metadata().encode())
        tar.addfile(about, io.BytesIO(metadata().encode()))
    return f"{top}.tar.gz"
