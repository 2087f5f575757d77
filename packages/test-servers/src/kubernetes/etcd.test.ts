import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { compactEtcd, findEtcd, startEtcd } from "../index.js";

const folder = mkdtempSync(join(tmpdir(), "etcd-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const unavailable = await findEtcd((what) => process.stderr.write(`building ${what} (once) …\n`)).then(
  () => undefined,
  (error: Error) => {
    process.stderr.write(`skipped, no etcd: ${error.message.replaceAll("\n", "; ")}\n`);
    return error.message;
  },
);

const base64 = (text: string) => Buffer.from(text).toString("base64");
async function call(url: string, path: string, body: object): Promise<{ kvs?: { value: string }[]; code?: number }> {
  const answer = await fetch(`${url}/v3/kv/${path}`, { method: "POST", body: JSON.stringify(body) });
  return (await answer.json()) as { kvs?: { value: string }[]; code?: number };
}

test.skipIf(unavailable)("etcd keeps its data over a crash and a change of port, and a compaction removes old revisions", async () => {
  const dataDir = join(folder, "data");
  const first = await startEtcd({ dataDir });
  for (const value of ["old", "new"]) await call(first.url, "put", { key: base64("key"), value: base64(value) });
  await first.kill();
  const second = await startEtcd({ dataDir });
  expect(second.port).not.toBe(first.port);
  expect((await call(second.url, "range", { key: base64("key") })).kvs?.[0]?.value).toBe(base64("new"));
  expect((await call(second.url, "range", { key: base64("key"), revision: "2" })).kvs?.[0]?.value).toBe(base64("old"));
  expect(await compactEtcd(second.url)).toBe(3);
  // OUT_OF_RANGE: the revision has been compacted.
  expect((await call(second.url, "range", { key: base64("key"), revision: "2" })).code).toBe(11);
  await second.stop();
});
