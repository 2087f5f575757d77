import { t, task, workflow } from "@flyte-ts/sdk";

const Config = t.object({ epochs: t.int, rate: t.float, layers: t.list(t.int) }, { title: "Config" });

/** Called by a workflow of Python with a data class. */
export const widen = task({ inputs: { config: Config, by: t.int }, outputs: { config: Config, total: t.int } }, ({ config, by }) => ({
  config: { ...config, layers: [...config.layers, by] },
  total: config.layers.reduce((sum, layer) => sum + layer, by),
}));

export const values = task({ outputs: t.list(t.float) }, () => [1, 2.5, 4]);

export const plain = workflow({ outputs: t.list(t.float) }, () => values());
