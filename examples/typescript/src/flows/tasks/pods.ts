import { IgnoreOutputs, t, task, workflow } from "@flyte-ts/sdk";

/** Reads a secret of its namespace: key `token` of the Kubernetes Secret `registry`. */
export const measureToken = task(
  { outputs: t.int, secrets: [{ group: "registry", key: "token" }] },
  async (_inputs, { secret }) => (await secret("registry", "token")).length,
);

export const secrets = workflow({ outputs: t.int }, () => measureToken());

/** Takes a node with this model of GPU, where a call asks for a GPU; else any node. */
export const double = task(
  { inputs: { values: t.list(t.float) }, outputs: t.list(t.float), resources: { accelerator: "nvidia-tesla-t4" } },
  ({ values }) => values.map((value) => value * 2),
);

const Numbers = t.list(t.float);
export const accelerators = workflow({ inputs: { values: Numbers }, outputs: Numbers }, ({ values }) => double({ values }));
export const onGpu = workflow({ inputs: { values: Numbers }, outputs: Numbers }, ({ values }) =>
  double({ values }, { resources: { gpu: 1 } }),
);

/** Leaves no outputs, as one of several workers does: another one writes them. */
export const help = task({ inputs: { worker: t.int } }, ({ worker }) => {
  throw new IgnoreOutputs(`worker ${worker} leaves the outputs to the first`);
});

export const lead = task({ inputs: { worker: t.int }, outputs: t.int }, ({ worker }) => worker);

export const workers = workflow({ outputs: t.int }, () => lead({ worker: 0 }, { after: [help({ worker: 1 })] }));

/** Fails: it has an output, which no other worker writes. */
export const leaveOutputs = task({ outputs: t.int }, () => {
  throw new IgnoreOutputs("there is no other worker");
});
