import type { z } from "zod";
import { daskOperator } from "./dask/dask.js";
import { daskSettings } from "./dask/settings.js";
import { kubeflowOperators } from "./kubeflow/kubeflow.js";
import type { Operator } from "./operator.js";
import { rayOperator } from "./ray/ray.js";
import { raySettings } from "./ray/settings.js";
import { sparkSettings } from "./spark/settings.js";
import { sparkOperator } from "./spark/spark.js";

/** Settings of single operators; to spread into those of the service. */
export const operatorSettings = { dask: daskSettings, ray: raySettings, spark: sparkSettings };

export type OperatorSettings = { readonly [K in keyof typeof operatorSettings]: z.infer<(typeof operatorSettings)[K]> };

/** The operators that the service knows. */
export function createOperators({ dask, ray, spark }: OperatorSettings): readonly Operator[] {
  return [...kubeflowOperators, rayOperator(ray), daskOperator(dask), sparkOperator(spark)];
}
