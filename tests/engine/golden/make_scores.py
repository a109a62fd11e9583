#!/usr/bin/env python3
"""Writes scores.json: inputs and what scikit-learn says about them, for score_golden_test.cc.

Made with scikit-learn 1.9.1 and numpy 2. Run it in this folder:  python3 make_scores.py
Small inputs stand in the file; large ones are a formula (see draw) that the test repeats.
"""
import json
import warnings
from fractions import Fraction

import numpy as np
from sklearn import metrics
from sklearn.dummy import DummyClassifier

warnings.filterwarnings("ignore")


class Numbers:
    """A linear congruential generator; unit() has 24 bits, so that it is exact as a float."""

    def __init__(self, seed):
        self.state = seed

    def next(self):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return self.state >> 40

    def unit(self):
        return self.next() / 2.0**24


def draw(recipe):
    """Truth and scores from a recipe. Every operation is exact or one rounding of a double."""
    numbers = Numbers(recipe["seed"])
    n, classes, levels = recipe["samples"], recipe["classes"], recipe["levels"]
    truth, scores = [], []
    for _ in range(n):
        if recipe["multi_label"]:
            labels = [int(numbers.unit() < (k + 1) / (2.0 * classes)) for k in range(classes)]
        else:
            label = numbers.next() % classes
            labels = [int(k == label) for k in range(classes)]
        row = []
        for k in range(classes):
            u = numbers.unit()
            for _ in range(recipe["squarings"]):
                u = u * u
            if recipe["bonus"] * labels[k] > 0:
                u = u + recipe["bonus"]
            if levels:
                u = float(int(u * levels) + 1) / levels
            row.append(u)
        if recipe["multi_label"]:
            row = [u / (1.0 + recipe["bonus"]) for u in row]
        else:
            total = 0.0
            for u in row:
                total = total + u
            row = [u / total for u in row]
        truth.append(labels if recipe["multi_label"] else label)
        scores.append(row)
    return np.array(truth), np.array(scores).astype(np.float32)


def best_f1(truth, score):
    """The best F1 of score >= threshold and the highest threshold that reaches it, without rounding."""
    positives, negatives = int(truth.sum()), int((1 - truth).sum())
    if positives == 0:
        return None, None
    best, where = Fraction(0), None
    if negatives == 0:
        return 1.0, float(score.min())
    fpr, tpr, thresholds = metrics.roc_curve(truth, score, drop_intermediate=False)
    for f, t, threshold in zip(fpr, tpr, thresholds):
        tp, fp = round(t * positives), round(f * negatives)
        if tp and Fraction(2 * tp, positives + tp + fp) > best:
            best, where = Fraction(2 * tp, positives + tp + fp), float(threshold)
    return float(best), where


def class_scores(truth, scores, names, parts, thresholds):
    rows = []
    for k, name in enumerate(names):
        y, s = truth[:, k], scores[:, k]
        row = {
            "name": name,
            "support": int(y.sum()),
            "precision": parts[0][k],
            "recall": parts[1][k],
            "f1": parts[2][k],
            "auc": metrics.roc_auc_score(y, s) if 0 < y.sum() < len(y) else None,
            "average_precision": metrics.average_precision_score(y, s) if y.sum() else None,
        }
        if thresholds:
            row["best_f1"], row["best_threshold"] = best_f1(y, s)
        rows.append(row)
    return rows


def mean(values):
    values = [v for v in values if v is not None]
    return sum(values) / len(values) if values else None


def averages(truth, predicted, **options):
    out = {}
    for average in ("macro", "micro", "weighted"):
        p, r, f, _ = metrics.precision_recall_fscore_support(
            truth, predicted, average=average, zero_division=0, **options)
        if average == "macro":
            out["macro_precision"], out["macro_recall"] = p, r
        out[average + "_f1"] = f
    return out


def single_label(truth, scores, names):
    classes = list(range(len(names)))
    predicted = scores.argmax(axis=1)
    wide = scores.astype(np.float64)
    indicator = (truth[:, None] == np.array(classes)[None, :]).astype(int)
    parts = metrics.precision_recall_fscore_support(truth, predicted, labels=classes, zero_division=0)
    rows = class_scores(indicator, wide, names, parts, len(classes) == 2)
    probable = ((scores >= 0) & (scores <= 1)).all()
    null = DummyClassifier(strategy="most_frequent").fit(scores, truth).predict(scores)
    binary = len(classes) == 2
    return {
        "samples": len(truth),
        "accuracy": metrics.accuracy_score(truth, predicted),
        **averages(truth, predicted, labels=classes),
        "auc": rows[1]["auc"] if binary else mean([r["auc"] for r in rows]),
        "average_precision": rows[1]["average_precision"] if binary else mean([r["average_precision"] for r in rows]),
        "mean_loss": metrics.log_loss(truth, wide, labels=classes) if probable else None,
        "matthews": metrics.matthews_corrcoef(truth, predicted),
        "confusion": metrics.confusion_matrix(truth, predicted, labels=classes).tolist(),
        "classes": rows,
        "null_classifier": {
            "predicts": names[int(null[0])],
            "accuracy": metrics.accuracy_score(truth, null),
            "macro_f1": metrics.f1_score(truth, null, labels=classes, average="macro", zero_division=0),
        },
    }


def multi_label(truth, scores, names):
    predicted = (scores >= 0.5).astype(int)
    wide = scores.astype(np.float64)
    parts = metrics.precision_recall_fscore_support(truth, predicted, zero_division=0)
    rows = class_scores(truth, wide, names, parts, True)
    losses = [metrics.log_loss(truth[:, k], wide[:, k], labels=[0, 1]) for k in range(len(names))]
    null = np.stack([DummyClassifier(strategy="most_frequent").fit(scores, truth[:, k]).predict(scores)
                     for k in range(len(names))], axis=1)
    chosen = [name for k, name in enumerate(names) if null[0, k]]
    return {
        "samples": len(truth),
        "accuracy": 1 - metrics.hamming_loss(truth, predicted),
        "exact_match": metrics.accuracy_score(truth, predicted),
        **averages(truth, predicted),
        "auc": mean([r["auc"] for r in rows]),
        "average_precision": mean([r["average_precision"] for r in rows]),
        "mean_loss": mean(losses),
        "classes": rows,
        "null_classifier": {
            "predicts": ", ".join(chosen) or "no label",
            "accuracy": 1 - metrics.hamming_loss(truth, null),
            "macro_f1": metrics.f1_score(truth, null, average="macro", zero_division=0),
            "exact_match": None if chosen else metrics.accuracy_score(truth, null),
        },
    }


def small_cases():
    """(name, truth, scores, multi_label) for every degenerate input we could think of."""
    rng = np.random.default_rng(20240613)

    def soft(n, c, sharp=1.0):
        logits = rng.normal(size=(n, c)) * sharp
        e = np.exp(logits - logits.max(axis=1, keepdims=True))
        return e / e.sum(axis=1, keepdims=True)

    def pair(p):
        p = np.asarray(p, dtype=np.float64)
        return np.stack([1 - p, p], axis=1)

    yield "binary random", rng.integers(0, 2, 60), soft(60, 2), False
    yield "binary sharp", rng.integers(0, 2, 60), soft(60, 2, 12.0), False
    yield "binary rare", (rng.random(60) < 0.05).astype(int), soft(60, 2), False
    yield "three classes", rng.integers(0, 3, 60), soft(60, 3), False
    absent = rng.choice([0, 1, 2, 4, 5, 6], 60)
    yield "seven classes, one absent from truth", absent, soft(60, 7, 2.0), False
    never = soft(60, 4)
    never[:, 2] *= 1e-3
    yield "a class never predicted", rng.integers(0, 4, 60), never / never.sum(axis=1, keepdims=True), False
    both = soft(30, 4)
    both[:, 1] = 0
    yield "a class neither true nor predicted", rng.choice([0, 2, 3], 30), both / both.sum(axis=1, keepdims=True), False
    yield "all of the first class", np.zeros(20, dtype=int), soft(20, 2), False
    yield "all of the second class", np.ones(20, dtype=int), soft(20, 2), False
    yield "all of the third of three", np.full(20, 2), soft(20, 3), False
    yield "all ties, binary", rng.integers(0, 2, 30), np.full((30, 2), 0.5), False
    yield "all ties, four classes", rng.integers(0, 4, 30), np.full((30, 4), 0.25), False
    coarse = rng.integers(0, 5, 60) / 4.0
    yield "few distinct scores", rng.integers(0, 2, 60), pair(coarse), False
    truth = rng.integers(0, 2, 40)
    yield "perfect and certain", truth, pair(truth), False
    yield "inverted and certain", truth, pair(1 - truth), False
    yield "perfect ranking, wrong side of one half", truth, pair(0.1 + 0.3 * truth + 0.01 * rng.random(40)), False
    yield "inverted ranking", truth, pair(0.8 - 0.6 * truth + 0.1 * rng.random(40)), False
    three = rng.integers(0, 3, 30)
    yield "perfect, three classes", three, np.eye(3)[three], False
    yield "inverted, three classes", three, (1 - np.eye(3)[three]) / 2, False
    yield "one sample, right", np.array([1]), pair([0.75]), False
    yield "one sample, wrong", np.array([0]), pair([0.75]), False
    yield "two samples", np.array([0, 1]), pair([0.75, 0.75]), False
    yield "equally frequent classes", np.array([2, 1, 0, 2, 1, 0]), soft(6, 3), False
    tiny = np.array([1e-45, 3e-45, 1e-40, 1.1754944e-38, 0, 0, 1e-45, 1e-30, 1, 1, 1 - 2.0**-24, 1 - 2.0**-23, 0.5, 0.5])
    yield "denormal, 0 and 1 exactly", rng.integers(0, 2, len(tiny)), pair(tiny), False
    weird = np.stack([rng.normal(size=40) * 10, rng.normal(size=40)], axis=1)
    weird[:4] = [[0.0, -0.0], [-0.0, 0.0], [1e30, -1e30], [-5, -5]]
    yield "not probabilities", rng.integers(0, 2, 40), weird, False
    yield "not probabilities, three classes", rng.integers(0, 3, 40), rng.normal(size=(40, 3)) * 3, False

    def labels(n, rates):
        return (rng.random((n, len(rates))) < np.array(rates)).astype(int)

    yield "labels", labels(50, [0.5, 0.2, 0.7]), rng.random((50, 3)), True
    yield "a label without positives", labels(40, [0.3, 0.0, 0.1]), rng.random((40, 3)), True
    yield "a label without negatives", labels(40, [0.3, 1.0, 0.1]), rng.random((40, 3)), True
    yield "no label anywhere", labels(20, [0, 0]), rng.random((20, 2)), True
    yield "labels never predicted", labels(40, [0.4, 0.2]), rng.random((40, 2)) * 0.4, True
    yield "labels at one half", labels(40, [0.4, 0.2]), np.full((40, 2), 0.5), True
    sure = labels(40, [0.4, 0.2, 0.5])
    yield "labels perfect and certain", sure, sure, True
    yield "labels inverted and certain", sure, 1 - sure, True
    yield "one sample with labels", np.array([[1, 0, 1]]), np.array([[0.9, 0.1, 0.2]]), True


def recipes():
    def recipe(seed, samples, classes, bonus, levels=0, squarings=0, labels=False):
        return {"seed": seed, "samples": samples, "classes": classes, "bonus": bonus, "levels": levels,
                "squarings": squarings, "multi_label": labels}

    yield "large binary", recipe(1, 200000, 2, 0.25)
    yield "large binary, extreme", recipe(2, 100000, 2, 0.0, squarings=5)
    yield "large binary, ties", recipe(3, 100000, 2, 0.25, levels=16)
    yield "large, seven classes", recipe(4, 30000, 7, 0.5)
    yield "large, twenty classes with ties", recipe(5, 10000, 20, 0.5, levels=64)
    yield "large, labels", recipe(6, 50000, 6, 0.25, labels=True)
    yield "large, labels with ties", recipe(7, 50000, 4, 0.5, levels=32, labels=True)


def plain(value):
    """numpy's numbers as Python's."""
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    return value.item() if isinstance(value, np.generic) else value


def main():
    cases = []
    for name, truth, scores, labels in small_cases():
        scores = scores.astype(np.float32)
        names = [f"c{k}" for k in range(scores.shape[1])]
        expected = (multi_label if labels else single_label)(truth, scores, names)
        cases.append({"name": name, "multi_label": labels, "truth": truth.tolist(),
                      "scores": [[float(str(s)) for s in row] for row in scores], "expected": expected})
    for name, recipe in recipes():
        truth, scores = draw(recipe)
        names = [f"c{k}" for k in range(recipe["classes"])]
        expected = (multi_label if recipe["multi_label"] else single_label)(truth, scores, names)
        cases.append({"name": name, "multi_label": recipe["multi_label"], "recipe": recipe, "expected": expected})
    with open("scores.json", "w") as out:
        out.write("[\n" + ",\n".join(json.dumps(plain(c), allow_nan=False) for c in cases) + "\n]\n")


main()
