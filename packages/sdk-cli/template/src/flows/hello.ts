import { t, task, workflow } from "@flyte-ts/sdk";

/** Writes a greeting. */
export const greet = task({ inputs: { name: t.string }, outputs: t.string, retries: 2 }, ({ name }, { log }) => {
  log.info("greeting", { name });
  return `Hello, ${name}!`;
});

/** Counts the characters of a text. */
export const count = task({ inputs: { text: t.string }, outputs: t.int, cache: true }, ({ text }) => text.length);

/** Greets, and counts the characters of the greeting. */
export const hello = workflow(
  { inputs: { name: t.default(t.string, "world") }, outputs: { greeting: t.string, length: t.int } },
  ({ name }) => {
    const greeting = greet({ name });
    return { greeting, length: count({ text: greeting }) };
  },
);
