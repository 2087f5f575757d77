import { approve, signal, sleep, t, task, workflow } from "@flyte-ts/sdk";

export const multiply = task({ inputs: { x: t.float, by: t.float }, outputs: t.float }, ({ x, by }) => x * by);

/** Waits for a value, an approval and a time before its last node. */
export const gates = workflow({ inputs: { x: t.float }, outputs: t.float }, ({ x }) => {
  const factor = signal("factor", t.float, { timeout: "2h" });
  const first = multiply({ x, by: factor });
  const approved = approve("release", { timeout: "1d", after: [first] });
  return multiply({ x: first, by: 2 }, { after: [approved, sleep("1s")] });
});
