import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { keptHashes } from "./kept-hashes.js";

let root: string;
let computed: number;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "flyte-ts-hashes-"));
  computed = 0;
});
afterEach(() => rmSync(root, { recursive: true }));

function hashesOf(code: string, tasks: readonly string[] = ["a"]) {
  const files = [{ path: "entry.mjs", content: Buffer.from(code) }];
  return keptHashes(root, { files, tasks, purpose: "registered" }, async () => {
    computed++;
    return new Map(tasks.map((task) => [task, { hash: `${task} of ${code}`, externals: [] }]));
  });
}

test("hashes of an equal bundle are kept, those of another are computed", async () => {
  const first = await hashesOf("1");
  expect(await hashesOf("1")).toEqual(first);
  expect(computed).toBe(1);
  expect((await hashesOf("2")).get("a")?.hash).toBe("a of 2");
  expect((await hashesOf("2", ["b"])).get("b")?.hash).toBe("b of 2");
  expect(computed).toBe(3);
});

test("a file that is damaged, and a folder that cannot be written, cost time alone", async () => {
  await hashesOf("1");
  writeFileSync(join(root, ".flyte-ts", "code-hashes-registered.json"), "{");
  expect((await hashesOf("1")).size).toBe(1);
  rmSync(join(root, ".flyte-ts"), { recursive: true });
  writeFileSync(join(root, ".flyte-ts"), "a file");
  expect((await hashesOf("1")).size).toBe(1);
  expect(computed).toBe(3);
});
