"""Films of systems through ffmpeg, without a screen.

    with stiction.film.Film("run.mp4", 640, 480) as film:
        for _ in range(300):
            system.run(until=system.time + 1 / 30)
            film.add(system)
"""
import os
import shutil
import subprocess


class Film:
    """A film that is written frame by frame. The extension of path selects a format of ffmpeg: .mp4, .gif, .webm ..."""

    def __init__(self, path, width=640, height=480, fps=30, camera=None):
        if shutil.which("ffmpeg") is None:
            raise RuntimeError("a film needs ffmpeg, and it is not installed (Debian: apt-get install ffmpeg)")
        if width % 2 or height % 2:
            raise ValueError(f"a film of {width} x {height}: both must be even")
        self.path, self.width, self.height, self.camera, self.frames = os.fspath(path), width, height, camera, 0
        ending = os.path.splitext(self.path)[1].lower()
        codec = ["-pix_fmt", "yuv420p"] if ending in (".mp4", ".mkv", ".mov", ".webm") else []
        self._process = subprocess.Popen(
            ["ffmpeg", "-y", "-loglevel", "error", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}",
             "-framerate", str(fps), "-i", "-", *codec, self.path],
            stdin=subprocess.PIPE, stderr=subprocess.PIPE,
        )

    def add(self, system, camera=None):
        """Add a frame of the current state of the system."""
        if self._process is None:
            raise ValueError(f"{self.path}: the film is closed")
        picture = system.render(self.width, self.height, camera if camera is not None else self.camera)
        try:
            self._process.stdin.write(memoryview(picture).cast("B"))
        except BrokenPipeError:
            self.close()
        self.frames += 1

    def close(self):
        """End the film. Raises an error if ffmpeg failed."""
        if self._process is None:
            return
        process, self._process = self._process, None
        _, message = process.communicate()
        if process.returncode != 0:
            raise RuntimeError(f"{self.path}: ffmpeg: {message.decode(errors='replace').strip()}")

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        self.close()
