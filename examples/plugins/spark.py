"""Counts letters with Spark, and passes the counts to a task without Spark.

On the local stack the task runs as one pod: npx flyte-ts python install --extra spark
"""

import pandas as pd
from flytekit import current_context, task, workflow
from flytekitplugins.spark import Spark


@task(task_config=Spark(spark_conf={"spark.executor.instances": "2", "spark.executor.cores": "1", "spark.sql.shuffle.partitions": "4"}))
def count_letters(words: list[str]) -> pd.DataFrame:
    spark = current_context().spark_session
    letters = spark.sparkContext.parallelize(words).flatMap(list).map(lambda letter: (letter,))
    counts = letters.toDF(["letter"]).groupBy("letter").count()
    return pd.DataFrame([row.asDict() for row in counts.collect()])


@task
def most_frequent(counts: pd.DataFrame) -> str:
    return str(counts.sort_values(["count", "letter"], ascending=[False, True]).iloc[0]["letter"])


@workflow
def frequent_letter(words: list[str] = ["banana", "ananas"]) -> str:
    return most_frequent(counts=count_letters(words=words))
