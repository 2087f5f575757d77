import { and, eq, gt, lt, or, t, task, when, workflow } from "@flyte-ts/sdk";

export const double = task({ inputs: { x: t.float }, outputs: t.float }, ({ x }) => x * 2);
export const half = task({ inputs: { x: t.float }, outputs: t.float }, ({ x }) => x / 2);

/** Chooses a node by conditions. Arms with several nodes become sub-workflows. */
export const branches = workflow({ inputs: { x: t.float, mode: t.string }, outputs: t.float }, ({ x, mode }) => {
  const twice = double({ x });
  return when(eq(mode, "off"), () => double({ x: 0 }))
    .when(and(gt(twice, 10), lt(x, 100)), () => half({ x: half({ x: twice }) }))
    .when(or(lt(x, 0), gt(x, 1000)), () => half({ x }))
    .otherwise(() => double({ x: twice }));
});

/** Fails with a message where no condition holds. */
export const guarded = workflow({ inputs: { x: t.float }, outputs: t.float }, ({ x }) =>
  when(gt(x, 0), () => half({ x })).otherwiseFail("x must be positive"),
);
