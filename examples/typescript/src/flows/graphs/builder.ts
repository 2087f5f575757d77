import { t, task, WorkflowBuilder } from "@flyte-ts/sdk";

export const increase = task({ inputs: { x: t.int }, outputs: t.int }, ({ x }) => x + 1);

/** A graph that a program composes. */
const builder = new WorkflowBuilder({ name: "graphs.builder.steps", inputs: { x: t.int } });
let x = builder.add(increase, { x: builder.inputs.x });
for (let i = 0; i < 3; i++) x = builder.add(increase, { x });
export const steps = builder.output("x", t.int, x).build();
