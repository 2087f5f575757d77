import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { findVersitygw, startVersitygw } from "../index.js";

const folder = mkdtempSync(join(tmpdir(), "versitygw-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const unavailable = await findVersitygw((what) => process.stderr.write(`building ${what} (once) …\n`)).then(
  () => undefined,
  (error: Error) => {
    process.stderr.write(`skipped, no versitygw: ${error.message.replaceAll("\n", "; ")}\n`);
    return error.message;
  },
);

test.skipIf(unavailable)("an S3 service has the requested buckets and refuses requests without keys", async () => {
  const server = await startVersitygw({ dataDir: folder, buckets: ["data"], accessKeyId: "id", secretAccessKey: "secret" });
  const statusOf = async (path: string) => (await fetch(`${server.url}/${path}`, { method: "HEAD" })).status;
  expect([await statusOf("data"), await statusOf("other")]).toEqual([403, 404]);
  await server.stop();
});
