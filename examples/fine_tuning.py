"""What the examples share: fine-tuning in steps that can be interrupted, and tables about the result. Needs Python alone."""
import argparse
import collections
import csv
import gzip
import json
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PROGRAM = os.environ.get("PACELINE", os.path.join(ROOT, "paceline"))
# Of --short: a new model that is made in seconds.
SMALL = ["--bert-layers", "1", "--bert-hidden", "32", "--heads", "2", "--intermediate", "64", "--learning-rate", "0.002"]
BATCH = 32


def parser_of(description, out):
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", default=out, metavar="DIR", help=f"where everything goes; default: {out}")
    parser.add_argument("--epochs", type=int, default=2, help="two or more; more than before go on with what is there")
    parser.add_argument("--init", metavar="MODEL", help="a pretrained BERT's folder; without it MiniLM-L6 is fetched")
    parser.add_argument("--short", action="store_true", help="a small new model on little data: only to see how it goes")
    return parser


def read_csv(path):
    """The rows of a CSV file, also of one that is compressed with gzip."""
    try:
        with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8-sig", newline="") as file:
            yield from csv.reader(file)
    except OSError as problem:
        sys.exit(f"{path}: cannot be read ({problem.strerror or problem})")
    except (EOFError, UnicodeDecodeError, csv.Error) as problem:
        sys.exit(f"{path}: is not a whole CSV file in UTF-8 ({problem})")


def write_csv(path, rows):
    """There whole or not at all."""
    with open(path + ".partial", "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)
    os.rename(path + ".partial", path)


class Example:
    """A folder in which every step leaves something, so that one that was done is not done again."""

    def __init__(self, options, *same):
        if options.short and options.init:
            sys.exit("--short makes a small model of its own; leave --init out")
        if options.epochs < 2:
            sys.exit("--epochs: the last two are compared, so there must be two")
        self.options, self.out = options, os.path.abspath(options.out)
        os.makedirs(self.out, exist_ok=True)
        self.made_with = None
        self.refuse_other_options({name: getattr(options, name) for name in ("init", "short", *same)})

    def refuse_other_options(self, wanted):
        path = self.at("options.json")
        if not os.path.exists(path):
            self.made_with = wanted  # written when something has been made with them
            return
        with open(path, encoding="utf-8") as file:
            for name, value in json.load(file).items():
                if value != wanted[name]:
                    sys.exit(f"--{name}: {self.out} was made with {value}; name another --out, or remove that folder")

    def at(self, name):
        return os.path.join(self.out, name)

    def remember_options(self):
        if self.made_with is not None:
            with open(self.at("options.json"), "w", encoding="utf-8") as file:
                json.dump(self.made_with, file)
        self.made_with = None

    def run(self, *words):
        """Runs the program in the folder, where everybody can see it."""
        print("\n$ paceline " + " ".join(word if re.fullmatch(r"[\w./,=-]+", word) else f"'{word}'" for word in words), flush=True)
        code = subprocess.run([PROGRAM, *words], cwd=self.out).returncode
        if code != 0:
            sys.exit(code)

    def ask(self, *words):
        """What the program answers as JSON."""
        done = subprocess.run([PROGRAM, *words, "--json"], cwd=self.out, stdout=subprocess.PIPE)
        if done.returncode != 0:
            sys.exit(done.returncode)
        return json.loads(done.stdout)

    def prepare(self, texts, *words):
        """Makes the data set "data", of the pretrained model's pieces. texts: those that --short takes its vocabulary from."""
        if os.path.exists(self.at("data")):
            return
        if self.options.short:
            write_vocabulary(self.at("vocab.txt"), texts)
        self.run("prepare", *words, "--tokenizer", "wordpiece", "--tokenizer-from", "vocab.txt" if self.options.short else self.model(),
                 "--max-length", "128", "--out", "data")
        self.remember_options()

    def model(self):
        if self.options.init:
            return os.path.abspath(self.options.init)
        if not os.path.exists(self.at("minilm")):
            self.run("fetch-model", "minilm", "--out", "minilm")
        return "minilm"

    def train(self, *words):
        """Makes the run "run", or goes on with it; a checkpoint at the end of each epoch stays."""
        if os.path.exists(self.at("run")):
            self.run("train", "--out", "run", "--resume", "--epochs", str(self.options.epochs))
            return
        shape = SMALL if self.options.short else ["--init", self.model()]
        self.run("train", "--data", "data", "--model", "bert", *shape, "--epochs", str(self.options.epochs), "--out", "run", "--save-every",
                 str(self.steps_of_epoch()), "--keep", "20", *words)

    def rows_of_train(self):
        with open(self.at("data/dataset.json"), encoding="utf-8") as file:
            return next(split["rows"] for split in json.load(file)["splits"] if split["name"] == "train")

    def steps_of_epoch(self):
        return -(-self.rows_of_train() // BATCH)

    def last_two_epochs(self, split):
        """What evaluate says about the checkpoints at the ends of the last two epochs."""
        steps = [self.steps_of_epoch() * epoch for epoch in (self.options.epochs - 1, self.options.epochs)]
        return self.ask("evaluate", "run", "--data", "data", "--split", split, "--checkpoint", f"{steps[0]},{steps[1]}", "--top",
                        "10")["checkpoints"]

    def epochs(self):
        """Samples and seconds of training of each epoch, by the run's record."""
        steps, found = {}, {}
        with open(self.at("run/events.jsonl"), encoding="utf-8") as file:
            for event in map(json.loads, file):
                if event["event"] == "step":
                    steps[event["step"]] = event
        for event in steps.values():
            samples, seconds = found.get(event["epoch"] + 1, (0, 0))
            spent = event["seconds"]["step"] - event["seconds"].get("evaluate", 0) - event["seconds"].get("save", 0)
            found[event["epoch"] + 1] = samples + event["samples"], seconds + spent
        # Of a very long run not every step is in the record.
        rows = self.rows_of_train()
        return {epoch: (rows, seconds * rows / samples) for epoch, (samples, seconds) in sorted(found.items())}

    def checkpoint(self):
        """The parts of the last checkpoint: name, bytes."""
        folder = self.at(f"run/checkpoints/step-{self.steps_of_epoch() * self.options.epochs}")
        with open(os.path.join(folder, "state.safetensors"), "rb") as file:
            header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        parts = collections.Counter()
        names = {"model": "weights", "average": "averaged weights", "first": "Adam's means", "second": "Adam's mean squares"}
        for name, tensor in header.items():
            if name != "__metadata__":
                kind = name.split(".", 1)[0]
                parts[names.get(kind, kind)] += tensor["data_offsets"][1] - tensor["data_offsets"][0]
        parts["position, scales, best scores, checksums"] = sum(
            os.path.getsize(os.path.join(folder, name)) for name in ("state.json", "manifest.json"))
        return dict(parts)


def write_vocabulary(path, texts):
    """The most frequent words of the texts, and every character, so that no word is unknown."""
    words = collections.Counter(word for text in texts for word in re.findall(r"[a-z]+|[^\sa-z]", text.lower()))
    letters = sorted(set("".join(words)))
    known = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *("##" + letter for letter in letters)]
    known += [word for word, _ in words.most_common(2000)]
    with open(path, "w", encoding="utf-8") as file:
        file.write("".join(piece + "\n" for piece in dict.fromkeys(known)))


def number(value, digits=4):
    return "-" if value is None else f"{value:.{digits}f}"


def change(before, after):
    return "-" if before is None or after is None else f"{after - before:+.4f}"


def size_of(count):
    return f"{count / 1e6:.1f} MB" if count >= 1e6 else f"{count / 1e3:.1f} kB"


def shortened(text, columns=100):
    text = " ".join(text.split())
    return text if len(text) <= columns else text[: columns - 1] + "…"


def show_table(title, header, rows):
    print(f"\n{title}\n")
    rows = [[str(cell) for cell in row] for row in (header, *rows)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(header))]
    rows.insert(1, ["-" * width for width in widths])
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())


def show_samples(title, samples, yes, no):
    show_table(title, ["score", "labelled", "text"],
               [[number(sample["score"]), yes if sample["truth"] else no, shortened(sample["text"])] for sample in samples])


def show_epochs(example):
    """Returns the seconds of all, and samples a second."""
    epochs = example.epochs()
    show_table("Training", ["epoch", "samples", "seconds", "samples/s"],
               [[epoch, samples, number(seconds, 1), number(samples / seconds, 1)] for epoch, (samples, seconds) in epochs.items()])
    samples, seconds = (sum(column) for column in zip(*epochs.values()))
    return seconds, samples / seconds


def show_checkpoint(example):
    """Returns it in one line."""
    parts = example.checkpoint()
    show_table("The last checkpoint", ["part", "size"], [[part, size_of(size)] for part, size in parts.items()])
    return f"{size_of(sum(parts.values()))}: " + ", ".join(f"{part} {size_of(size)}" for part, size in parts.items())


def same_rows(before, after):
    rows = [{sample["row"] for sample in samples} for samples in (before, after)]
    return f"{len(rows[0] & rows[1])} of {len(rows[1])}"
