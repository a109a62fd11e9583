"""Shared by the benchmarks: run a command, and know its wall time and peak memory."""
import json
import os
import statistics
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PROGRAM = os.path.join(ROOT, "paceline")
BUILT = os.path.join(ROOT, "build", "release", "bin", "paceline")


def run(command, quiet=True, **kwargs):
    """Runs a command to its end; returns (seconds, peak resident MiB, stdout). Leaves on failure; when it is interrupted itself it
    waits until the command has ended, too."""
    started = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE if quiet else None, **kwargs)
    out, err = [], b""
    import threading
    reader = threading.Thread(target=lambda: out.append(process.stdout.read()))
    reader.start()
    try:
        if quiet:
            err = process.stderr.read()
        reader.join()
    except KeyboardInterrupt:  # the terminal has told the command as well
        process.wait()
        raise
    except SystemExit:
        process.terminate()
        process.wait()
        raise
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.monotonic() - started
    if process.returncode != 0:
        sys.stderr.write(err.decode(errors="replace"))
        sys.exit(f"failed with {process.returncode}: {' '.join(command)}")
    return seconds, usage.ru_maxrss / 1024, out[0].decode()


def build():
    """Makes sure that the release build is there and current."""
    subprocess.run([PROGRAM, "--version"], check=True, stdout=subprocess.DEVNULL)


def build_program(name):
    """Builds a program of bench/CMakeLists.txt, after build(); returns its path."""
    folder = os.path.join(ROOT, "build", "release")
    subprocess.run(["cmake", "--build", folder, "--target", name], check=True, stdout=subprocess.DEVNULL)
    return os.path.join(folder, "bin", name)


def data_folder():
    """Where the real data lies: PACELINE_DATA, or shared/data beside the project."""
    folder = os.environ.get("PACELINE_DATA", os.path.join(os.path.dirname(ROOT), "shared", "data"))
    if not os.path.isdir(folder):
        sys.exit(f"{folder}: no data there; set PACELINE_DATA to a folder with imdb/train.csv.gz")
    return folder


TORCH_PEERS = ("torch==2.15.0", "numpy", "h5py")
BERT_PEERS = (*TORCH_PEERS, "transformers==4.57.1", "accelerate==1.15.0", "onnx==1.23.2", "onnxruntime==1.31.1")


def peer_python(venv, packages):
    """The Python of a virtual environment, which is made with these packages when it is not there."""
    python = os.path.join(venv, "bin", "python")
    if not os.path.exists(python):
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", *packages], check=True)
    return python


def take_turns(kinds, value, repeats):
    """The median over the repeats of value(measure()) for every kind; A B C, A B C, …"""
    found = {name: [] for name in kinds}
    for _ in range(repeats):
        for name, measure in kinds.items():
            found[name].append(value(measure()))
    return {name: statistics.median(values) for name, values in found.items()}


def read_events(run_folder, kind):
    """The events of a kind that belong to steps; the last one of each step, since a resumed run comes by again."""
    with open(os.path.join(run_folder, "events.jsonl"), encoding="utf-8") as file:
        events = (json.loads(line) for line in file if line.endswith("\n"))
        by_step = {event["step"]: event for event in events if event["event"] == kind}
    return [by_step[step] for step in sorted(by_step)]


def read_steps(run_folder, skip):
    """Seconds and tokens of every step of a run but the first ones."""
    events = read_events(run_folder, "step")[skip:]
    return {"seconds": [event["seconds"]["step"] for event in events], "tokens": [event["tokens"] for event in events]}


def tokens_a_second(result):
    return sum(result["tokens"]) / sum(result["seconds"])
