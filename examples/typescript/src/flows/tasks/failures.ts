import { RecoverableError, t, task, workflow } from "@flyte-ts/sdk";

/** Succeeds in its third attempt. */
export const flaky = task({ outputs: t.int, retries: 3 }, (_inputs, { attempt }) => {
  if (attempt < 2) throw new RecoverableError(`attempt ${attempt} fails`);
  return attempt;
});

export const strict = task({ inputs: { x: t.int }, outputs: t.int }, ({ x }) => {
  if (x < 0) throw new RangeError(`${x} is negative`);
  return x;
});

/** Runs when the workflow fails, with its input and the error. */
export const notify = task({ inputs: { x: t.int, err: t.optional(t.error) } }, ({ x, err }, { log }) =>
  log.error(`x = ${x}: ${err?.message ?? "no error"}`),
);

export const failures = workflow({ inputs: { x: t.int }, outputs: { attempt: t.int, x: t.int }, onFailure: notify }, ({ x }) => ({
  attempt: flaky(),
  x: strict({ x }),
}));

/** Other nodes go on after a failure. */
export const patient = workflow({ inputs: { x: t.int }, outputs: t.int, failurePolicy: "fail-after-running" }, ({ x }) => {
  flaky();
  return strict({ x });
});
