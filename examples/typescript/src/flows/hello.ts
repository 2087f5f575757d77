import { t, task, workflow } from "@flyte-ts/sdk";

/** Greets someone by name. */
export const greet = task({ inputs: { name: t.string }, outputs: t.string }, ({ name }) => `Hello, ${name}!`);

export const count = task({ inputs: { text: t.string }, outputs: t.int }, ({ text }) => text.length);

export const hello = workflow(
  { inputs: { name: t.default(t.string, "world") }, outputs: { greeting: t.string, length: t.int } },
  ({ name }) => {
    const greeting = greet({ name });
    return { greeting, length: count({ text: greeting }) };
  },
);
