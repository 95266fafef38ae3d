"""A data set from a CSV file, looked at and cleaned with pandas: check, rate, split.

Each part between ``# %%`` runs as a cell in VS Code, Spyder or Jupyter (jupytext); all of it runs as a
script: ``python clean_a_data_set.py [FILE.csv]``. The file needs the columns ``puzzle`` and
``solution``; without one, a small file with the usual faults is made up.
"""

# %% A file as people publish it
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd

import sudoku_stream as sudoku

# As text, because pandas would take 81 digits for one number, and drop the zeros at its front.
types = {"puzzle": str, "solution": str}
if len(sys.argv) > 1:
    raw = pd.read_csv(sys.argv[1], dtype=types)
else:
    made = sudoku.generate(2_000, seed=4)
    raw = pd.DataFrame({"id": range(2_000), "puzzle": made.puzzles, "solution": made.solutions})
    raw.loc[7, "solution"] = raw.loc[8, "solution"]  # the solution of another puzzle
    raw.loc[11, "puzzle"] = raw.loc[11, "puzzle"][:80]  # a cell lost
    raw.loc[12, "puzzle"] = "." * 81  # any number of solutions
    raw.loc[15, ["puzzle", "solution"]] = raw.loc[14, ["puzzle", "solution"]]  # twice
    turned = raw.loc[16, ["puzzle", "solution"]].str[::-1]  # the same, upside down
    raw.loc[17, ["puzzle", "solution"]] = turned
    with TemporaryDirectory() as folder:
        path = Path(folder) / "raw.csv"
        raw.to_csv(path, index=False)
        raw = pd.read_csv(path, dtype=types)
print(f"{len(raw):,} rows")

# %% Is every solution right, and the only one?
checks = sudoku.check_many(raw["puzzle"], raw["solution"], unique=True)
raw["verdict"] = checks.verdict
print(raw["verdict"].value_counts().to_string())
print(raw.loc[raw["verdict"] != "right", ["puzzle", "verdict"]].head(10).to_string())

# %% What is right stays, once: puzzles that are the same but for symmetry have one canonical form
clean = raw[raw["verdict"] == "right"].drop(columns="verdict")
clean = clean.assign(canonical=sudoku.canon_many(clean["puzzle"]))
clean = clean.drop_duplicates("canonical").reset_index(drop=True)
print(f"{len(raw) - len(clean):,} rows dropped, {len(clean):,} stay")

# %% How hard are they for a person?
ratings = sudoku.rate_many(clean["puzzle"], up_to=4.5, errors="column")
clean["clues"], clean["rating"], clean["hardest"] = ratings.clues, ratings.er, ratings.hardest
clean["rating"] = clean["rating"].fillna(float("inf"))  # harder than 4.5
bins = pd.cut(clean["rating"], [0, 1.5, 2.5, 3.5, 4.5, float("inf")], labels=["easy", "medium", "hard", "expert", "beyond"])
print(bins.value_counts(sort=False).to_string())

# %% Train and test sets with the same share of each level
test = clean.groupby(bins, observed=True).sample(frac=0.1, random_state=1)
train = clean.drop(test.index)
print(f"{len(train):,} puzzles to train with, {len(test):,} to test with")
assert not set(train["canonical"]) & set(test["canonical"])

# %% As arrays for a model: 0 for a blank, no loop over characters
solutions = sudoku.solve_many(test["puzzle"].tolist())
assert solutions == test["solution"].tolist()
