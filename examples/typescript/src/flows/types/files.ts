import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { t, task, workflow } from "@flyte-ts/sdk";

/** Writes a file from text, and a folder from local files. */
export const write = task({ outputs: { table: t.file("csv"), parts: t.directory() } }, async () => {
  const folder = await mkdtemp(join(tmpdir(), "parts-"));
  await writeFile(join(folder, "a.txt"), "alpha");
  await writeFile(join(folder, "b.txt"), "beta");
  return { table: { content: "id,name\n1,one\n2,two\n" }, parts: { path: folder } };
});

/** Reads them: a file as text, a folder file by file. */
export const read = task(
  { inputs: { table: t.file("csv"), parts: t.directory() }, outputs: { lines: t.int, texts: t.list(t.string) } },
  async ({ table, parts }) => {
    const texts: string[] = [];
    for await (const file of parts.list()) texts.push(await file.text());
    return { lines: (await table.text()).trim().split("\n").length, texts: texts.sort() };
  },
);

const Person = { name: t.string, age: t.int };
export const people = task({ outputs: t.dataset(Person) }, () => [
  { name: "Ada", age: 36 },
  { name: "Grace", age: 85 },
]);

/** Sums the ages of a data set, row by row. */
export const sumAges = task({ inputs: { people: t.dataset(Person) }, outputs: t.int }, async ({ people: rows }) => {
  let sum = 0;
  for await (const { age } of rows.rows()) sum += age;
  return sum;
});

export const files = workflow({ outputs: { lines: t.int, texts: t.list(t.string), ages: t.int } }, () => {
  const { lines, texts } = read(write());
  return { lines, texts, ages: sumAges({ people: people() }) };
});
