import { chain, t, task, workflow } from "@flyte-ts/sdk";

export const step = task({ inputs: { name: t.string } }, ({ name }, { log }) => log.info(name));
export const last = task({ outputs: t.string }, () => "done");

/** Orders nodes without data between them; a node changes settings of its task. */
export const order = workflow({ outputs: t.string }, () => {
  const prepare = step({ name: "prepare" }, { name: "prepare", retries: 3, timeout: "1m" });
  const load = step({ name: "load" }, { name: "load", resources: { memory: "300Mi" } });
  const end = last({}, { after: [load] });
  chain(prepare, load);
  return end;
});
