"""Shared by the benchmarks of several workers: processor quotas, hosts made of network namespaces, and runs of workers
that are started by mpirun, each behind a wrapper of its own. What is made here goes when the program ends."""
import atexit
import csv
import itertools
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from measure import BUILT, run

ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
# As the program starts its own workers. Root's processes may read each other's memory, which spares copies; those of other hosts
# may not.
MPIRUN = ["mpirun", "--bind-to", "none", "--oversubscribe"]
COPIES = ["--mca", "btl_vader_single_copy_mechanism", "none"]


class Quota:
    """A control group whose processes get a share of one core's time, in slices of 10 ms where the kernel allows it."""

    made = 0

    def __init__(self, share=1.0):
        Quota.made += 1
        self.version, base = control_groups()
        self.folder = os.path.join(base, f"paceline-bench-{os.getpid()}-{Quota.made}")
        os.mkdir(self.folder)
        atexit.register(self.remove)
        self.set(share)

    def set(self, share):
        if share >= 1:
            return self.lift()
        period = max(10_000, round(1_000 / share))  # microseconds; a quota is at least one millisecond
        quota = round(period * share)
        if self.version == 2:
            self.write("cpu.max", f"{quota} {period}")
        else:
            self.write("cpu.cfs_quota_us", "-1")
            self.write("cpu.cfs_period_us", str(period))
            self.write("cpu.cfs_quota_us", str(quota))
        return None

    def lift(self):
        self.write(*(("cpu.max", "max") if self.version == 2 else ("cpu.cfs_quota_us", "-1")))

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "w", encoding="ascii") as file:
            file.write(text)

    def remove(self):
        for _ in range(50):
            try:
                return os.rmdir(self.folder)
            except FileNotFoundError:
                return None
            except OSError:  # a process of it has not gone yet
                time.sleep(0.1)

    def signal(self, number):
        """To every process of the group."""
        with open(os.path.join(self.folder, "cgroup.procs"), encoding="ascii") as file:
            for pid in map(int, file):
                os.kill(pid, number)

    def wrapper(self, core=None):
        """Words before a command that put it into the group, and onto a core."""
        pinned = ["taskset", "-c", str(core)] if core is not None else []
        return ["sh", "-c", f'echo $$ > {self.folder}/cgroup.procs && exec "$@"', "sh", *pinned]


def control_groups():
    """(version, folder) of the hierarchy that divides processor time."""
    with open("/proc/mounts", encoding="utf-8") as file:
        mounts = [line.split() for line in file]
    for _, folder, kind, flags, *_ in mounts:
        if kind == "cgroup" and "cpu" in flags.split(","):
            return 1, folder
    for _, folder, kind, *_ in mounts:
        if kind == "cgroup2":
            with open(os.path.join(folder, "cgroup.subtree_control"), "w", encoding="ascii") as file:
                file.write("+cpu")
            return 2, folder
    sys.exit("there is no control group for processor time; run this as root on a machine or in a container that has one")


def cores_for(shares):
    """A core for every worker, so that no core is promised more than once where that can be."""
    cores = sorted(os.sched_getaffinity(0))
    promised = dict.fromkeys(cores, 0.0)
    chosen = []
    for share in shares:
        core = min(cores, key=lambda c: promised[c])
        promised[core] += share
        chosen.append(core)
    if max(promised.values()) > 1.001:
        sys.exit(f"workers with shares {shares} need more cores than the {len(cores)} here")
    return chosen


class Neighbours:
    """What share of this machine's cores others used since this was made: more than a little spoils a measurement."""

    def __init__(self):
        self.began, self.before = time.monotonic(), self.others()

    @staticmethod
    def others():
        own = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        return used_seconds() - sum(usage.ru_utime + usage.ru_stime for usage in own)

    def share(self):
        return max(0.0, (self.others() - self.before) / (time.monotonic() - self.began) / os.cpu_count())


def used_seconds():
    """Processor time of this machine so far. /proc/stat looks at every tick who runs, which is wrong by several percent for
    processes that a quota lets run from one tick to the next."""
    try:
        with open("/sys/fs/cgroup/cpuacct/cpuacct.usage", encoding="ascii") as file:
            return int(file.read()) / 1e9
    except OSError:
        with open("/proc/stat", encoding="ascii") as file:
            return sum(map(int, file.readline().split()[1:4])) / os.sysconf("SC_CLK_TCK")


class Hosts:
    """Network namespaces that pass for hosts, linked by a switch of the given speed (None: as fast as it is)."""

    def __init__(self, count, megabits=None):
        self.key = f"{os.getpid() % 100000}"
        self.switch = f"plsw{self.key}"
        self.names = [f"pl{chr(ord('a') + i)}{self.key}" for i in range(count)]
        self.folder = tempfile.mkdtemp()
        atexit.register(self.close)
        self.make()
        if megabits is not None:
            self.throttle(megabits)

    def make(self):
        ip("netns", "add", self.switch)
        ip("-n", self.switch, "link", "add", "br0", "type", "bridge")
        ip("-n", self.switch, "link", "set", "br0", "up")
        for number, name in enumerate(self.names, 1):
            ip("netns", "add", name)
            ip("-n", name, "link", "set", "lo", "up")
            ip("link", "add", f"e-{name}", "netns", name, "type", "veth", "peer", "name", f"s-{name}", "netns", self.switch)
            ip("-n", self.switch, "link", "set", f"s-{name}", "master", "br0", "up")
            ip("-n", name, "addr", "add", f"10.77.0.{number}/24", "dev", f"e-{name}")
            ip("-n", name, "link", "set", f"e-{name}", "up")
        self.agent = os.path.join(self.folder, "agent")
        with open(self.agent, "w", encoding="ascii") as file:
            file.write('#!/bin/sh\nwhile case $1 in -*) true;; *) false;; esac; do shift; done\nh=$1; shift\n'
                       'exec ip netns exec "$h" unshare -u sh -c "hostname $h; exec sh -c \\"\\$1\\"" sh "$*"\n')
        os.chmod(self.agent, 0o755)

    def throttle(self, megabits):
        """Both directions of every link."""
        for name in self.names:
            for space, device in ((self.switch, f"s-{name}"), (name, f"e-{name}")):
                subprocess.run(["ip", "netns", "exec", space, "tc", "qdisc", "replace", "dev", device, "root", "tbf", "rate",
                                f"{megabits}mbit", "burst", "128kb", "latency", "100ms"], check=True)

    def inside(self, command):
        """The command as the first host runs it."""
        name = self.names[0]
        return ["ip", "netns", "exec", name, "unshare", "-u", "sh", "-c", f'hostname {name}; exec "$@"', "sh", *command]

    def sent_bytes(self, number=0):
        """What this host has sent over its link so far."""
        name = self.names[number]
        path = f"/sys/class/net/e-{name}/statistics/tx_bytes"
        return int(subprocess.run(["ip", "netns", "exec", name, "cat", path], check=True, capture_output=True).stdout)

    def close(self):
        for name in [*self.names, self.switch]:
            subprocess.run(["ip", "netns", "del", name], stderr=subprocess.DEVNULL, check=False)
        shutil.rmtree(self.folder, ignore_errors=True)


def ip(*words):
    subprocess.run(["ip", *words], check=True)


class Run:
    """A training run that is under way. wrappers: words before the program, one list for each worker; one worker alone
    is started without mpirun. hosts: one worker on each."""

    def __init__(self, out, arguments, wrappers=None, hosts=None):
        self.out = out
        program = [BUILT, "train", "--out", out, *arguments]
        wrappers = wrappers or [[]] * (len(hosts.names) if hosts else 1)
        self.is_alone = len(wrappers) == 1
        if self.is_alone:
            command = [*wrappers[0], *program]
        else:
            agent = [*COPIES, "--mca", "plm", "rsh", "--mca", "plm_rsh_agent", hosts.agent] if hosts else []
            command = [*MPIRUN, *agent]
            for number, wrapper in enumerate(wrappers):
                place = ["--host", f"{hosts.names[number]}:1"] if hosts else []
                command += [*([":"] if number else []), "-np", "1", *place, *wrapper, *program]
            command = hosts.inside(command) if hosts else command
        self.errors = tempfile.TemporaryFile()
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=self.errors, env=ENVIRONMENT,
                                        start_new_session=True)
        self.seen = self.read = 0  # steps, and bytes of the record
        atexit.register(self.stop)

    def events(self, kind):
        """What is recorded so far. A line that is still being written is left out."""
        try:
            with open(os.path.join(self.out, "events.jsonl"), encoding="utf-8") as file:
                lines = [line for line in file if line.endswith("\n") and f'"{kind}"' in line]
        except FileNotFoundError:
            return []
        return [event for event in map(json.loads, lines) if event["event"] == kind]

    def count_steps(self):
        """Those that are recorded so far. Reads only what is new."""
        try:
            with open(os.path.join(self.out, "events.jsonl"), "rb") as file:
                file.seek(self.read)
                new = file.read()
        except FileNotFoundError:
            new = b""
        whole = new[:new.rfind(b"\n") + 1]
        self.read += len(whole)
        self.seen += whole.count(b'"event":"step"')
        return self.seen

    def wait_for_steps(self, count):
        """Returns when so many steps are recorded, or the run has ended. Looks seldom: whoever watches takes time from a worker
        when every core has one."""
        while self.process.poll() is None and self.count_steps() < count:
            time.sleep(0.1)

    def finish(self):
        """Waits for the end, and leaves when it was not a good one."""
        if self.process.wait() != 0:
            self.errors.seek(0)
            sys.exit(f"workers failed with {self.process.returncode}: {self.errors.read().decode(errors='replace')}")
        return self

    def leave(self):
        """As a user's SIGTERM makes it: mpirun hands SIGUSR2 on, which workers take for that."""
        self.process.send_signal(signal.SIGTERM if self.is_alone else signal.SIGUSR2)
        self.process.wait()

    def stop(self):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGTERM)
            os.killpg(self.process.pid, signal.SIGCONT)
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                os.killpg(self.process.pid, signal.SIGKILL)
        self.errors.close()


def make_fixed(folder, rows, length=200, words=20_000, equally_frequent=False):
    """A data set of texts with so many words each, every word known; as unequally frequent as in real text (Zipf) or
    equally."""
    numbers = random.Random(1)
    frequent = list(itertools.accumulate(1 if equally_frequent else 1 / (rank + 2.7) for rank in range(words)))
    path = folder + ".csv"
    with open(path, "w", newline="", encoding="ascii") as file:
        out = csv.writer(file)
        out.writerow(["text", "label"])
        for _ in range(rows):
            text = numbers.choices(range(words), cum_weights=frequent, k=length)
            out.writerow([" ".join(f"w{word}" for word in text), numbers.randrange(2)])
    run([BUILT, "prepare", "--input", path, "--label", "label", "--min-count", "1", "--valid-share", "0", "--test-share", "0",
         "--out", folder])
    os.remove(path)


# The lstm of these benchmarks: 128 -> 256, last state, batches of 128 texts; nothing but steps is done.
FIXED_BATCH, FIXED_GRAIN = 128, 4  # the second is the default
FIXED_LSTM = ["--model", "lstm", "--embedding", "128", "--hidden", "256", "--pooling", "last", "--batch-size", str(FIXED_BATCH),
              "--dropout", "0", "--embedding-dropout", "0", "--schedule", "constant", "--evaluate-every", "1000000",
              "--executors", "1"]
