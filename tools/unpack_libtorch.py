"""Unpacks what Paceline needs from LibTorch's wheels.

usage: unpack_libtorch.py cpu|cuda WHEELS_FOLDER OUT_FOLDER
OUT_FOLDER gets include/, lib/ and licenses/ (each wheel's own licence files).
"""

import os
import shutil
import sys
import zipfile

LIBRARIES = {
    "cpu": {"libtorch_cpu.so", "libc10.so", "libgomp.so.1", "libcudart.so.13", "libcupti.so.13"},
    "cuda": {"libtorch_cuda.so", "libc10_cuda.so"},
}
# The wheel's copies of other projects' headers would hide those of the distribution.
FOREIGN_HEADERS = {"fmt", "google", "pybind11"}


def destination(name, libraries):
    """Where a member of a wheel goes below the output folder, or None for what is not needed."""
    parts = name.split("/")
    if name.endswith("/"):
        return None
    if parts[:2] == ["torch", "include"]:
        return None if parts[2] in FOREIGN_HEADERS else "/".join(parts[1:])
    if parts[-1] in libraries and parts[-2] == "lib":
        return "lib/" + parts[-1]
    if parts[0].endswith(".dist-info") and parts[1] == "licenses":
        return "/".join(["licenses", parts[0].removesuffix(".dist-info")] + parts[2:])
    return None


def unpack(wheel, out, libraries):
    found = set()
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            target = destination(name, libraries)
            if target is None:
                continue
            path = os.path.join(out, target)
            if not os.path.realpath(path).startswith(os.path.realpath(out) + os.sep):
                sys.exit(f"{wheel}: member {name} points outside the folder")
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with archive.open(name) as source, open(path, "wb") as sink:
                shutil.copyfileobj(source, sink, 1 << 20)
            found.add(os.path.basename(name))
    return found


def main(half, wheels, out):
    libraries = LIBRARIES["cpu"] | (LIBRARIES["cuda"] if half == "cuda" else set())
    found = set()
    for name in sorted(os.listdir(wheels)):
        if name.endswith(".whl"):
            found |= unpack(os.path.join(wheels, name), out, libraries)
    absent = libraries - found
    if absent:
        sys.exit(f"not in the wheels: {', '.join(sorted(absent))}")


if __name__ == "__main__":
    if len(sys.argv) != 4 or sys.argv[1] not in LIBRARIES:
        sys.exit(__doc__)
    try:
        main(*sys.argv[1:])
    except (OSError, zipfile.BadZipFile) as error:
        sys.exit(str(error))
