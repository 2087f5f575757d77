"""A training workflow in three steps: get a data set, prepare it, fit a model.

scikit-learn is imported where it is used: it takes a second to load, and one task does without it.
"""

from flytekit import task, workflow

Rows = list[dict[str, float]]


@task
def get_data() -> Rows:
    """The wine data: thirteen measurements a bottle and the class of its grape."""
    from sklearn.datasets import load_wine

    wine = load_wine()
    names = [*wine.feature_names, "target"]
    return [dict(zip(names, map(float, [*row, target]))) for row, target in zip(wine.data, wine.target)]


@task
def process_data(data: Rows) -> Rows:
    """Turns the three classes into two: the first one or another."""
    return [{**row, "target": 0.0 if row["target"] == 0 else 1.0} for row in data]


@task
def train_model(data: Rows, hyperparameters: dict) -> dict[str, float]:
    """Fits a logistic regression and tells how well it describes its own data."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    features = [[value for name, value in row.items() if name != "target"] for row in data]
    target = [row["target"] for row in data]
    model = make_pipeline(StandardScaler(), LogisticRegression(**hyperparameters)).fit(features, target)
    return {"accuracy": float(model.score(features, target)), "iterations": float(model[-1].n_iter_[0])}


@workflow
def training_workflow(hyperparameters: dict) -> dict[str, float]:
    data = get_data()
    processed = process_data(data=data)
    return train_model(data=processed, hyperparameters=hyperparameters)
