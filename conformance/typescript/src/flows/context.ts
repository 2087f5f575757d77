import { createHash } from "node:crypto";
import { dynamic, each, RecoverableError, t, task, workflow } from "@flyte-ts/sdk";

export const write = task({ inputs: { text: t.string }, outputs: t.file("txt") }, ({ text }) => ({ content: text.repeat(3) }));

export const read = task({ inputs: { file: t.file("txt") }, outputs: t.string }, async ({ file }) => {
  const text = await file.text();
  return `${text.length} ${createHash("sha256").update(text).digest("hex").slice(0, 8)}`;
});

/** Continues where the attempt before ended. */
export const resumes = task({ outputs: t.int, retries: 3 }, async (_inputs, { checkpoint }) => {
  const before = await checkpoint.read();
  const count = before === undefined ? 0 : Number(Buffer.from(before).toString());
  await checkpoint.write(String(count + 1));
  if (count < 2) throw new RecoverableError(`made ${count + 1} of 3`);
  return count;
});

export const shows = task({ deck: true, outputs: t.string }, (_inputs, { deck, execution }) => {
  deck("report").markdown("# Results\n\n- one\n- **two**");
  deck("report").html("<em>html</em>");
  return execution.project;
});

export const square = task({ inputs: { x: t.int, offset: t.int }, outputs: t.int }, ({ x, offset }) => x * x + offset);

export const squares = dynamic({ inputs: { n: t.int }, outputs: t.int }, ({ n }) => square({ x: n, offset: 1 }));

export const all = workflow(
  { inputs: { xs: t.list(t.int) }, outputs: { read: t.string, count: t.int, project: t.string, squares: t.list(t.int), made: t.int } },
  ({ xs }) => ({
    read: read({ file: write({ text: "abc" }) }),
    count: resumes(),
    project: shows(undefined, { name: "shows" }),
    squares: each(square, { x: xs }, { same: { offset: 10 } }),
    made: squares({ n: 7 }),
  }),
);
