import { mkdtempSync, rmSync } from "node:fs";
import { createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BlobStore, createBlobStore } from "@flyte-ts/blobstore";
import { findVersitygw, startVersitygw } from "@flyte-ts/test-servers";
import { type LocalServer } from "@flyte-ts/local-servers";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { workOnce } from "../../platform/work-queue/work-once.fixture.js";
import { type AdminDatabase, adminDatabase } from "../../database.fixture.js";
import { createDeletionHandler } from "./deletion/deletion-handler.js";
import { KeptExecutions } from "./kept-executions.fixture.js";
import { markDeletions, planDeletions } from "./mark.js";

const KEYS = { accessKeyId: "minio", secretAccessKey: "miniostorage" };
const unavailable = await findVersitygw((what) => process.stderr.write(`building ${what} (once) …\n`)).then(
  () => undefined,
  (error: Error) => {
    process.stderr.write(`skipped, no versitygw: ${error.message.replaceAll("\n", "; ")}\n`);
    return error.message;
  },
);

/** Counts requests to the store, by method and whether they name many blobs. */
async function countingProxy(
  port: () => number,
): Promise<{ readonly server: Server; readonly port: number; readonly counts: Map<string, number> }> {
  const counts = new Map<string, number>();
  const server = createServer((incoming, outgoing) => {
    const what = `${incoming.method}${/[?&]delete\b/.test(incoming.url ?? "") ? " many" : ""}`;
    counts.set(what, (counts.get(what) ?? 0) + 1);
    const { method, url, headers } = incoming;
    const forward = request({ host: "127.0.0.1", port: port(), method, path: url, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    forward.on("error", () => outgoing.destroy());
    incoming.pipe(forward);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return { server, port: (server.address() as AddressInfo).port, counts };
}

// Cases of retention.test.ts that differ on a real S3 server: prefixes, pages, batches, and an
// unavailable store.
describe.skipIf(unavailable)("retention of blobs on S3", () => {
  const dataDir = mkdtempSync(join(tmpdir(), "flyte-ts-retention-s3-"));
  let gateway: LocalServer;
  let proxy: Awaited<ReturnType<typeof countingProxy>>;
  let database: AdminDatabase;
  let blobs: BlobStore;
  let kept: KeptExecutions;
  beforeAll(async () => {
    gateway = await startVersitygw({ dataDir, buckets: ["bucket"], ...KEYS });
    proxy = await countingProxy(() => gateway.port);
    database = await adminDatabase();
    blobs = createBlobStore({ s3: { endpoint: `http://127.0.0.1:${proxy.port}`, ...KEYS } });
    kept = new KeptExecutions(database.db, {}, { blobs, container: "s3://bucket" });
  });
  beforeEach(() => kept.clear());
  afterAll(async () => {
    kept.close();
    proxy.server.closeAllConnections();
    proxy.server.close();
    await database.stop();
    await gateway.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  const later = (seconds: number) => {
    kept.now = new Date(kept.now.getTime() + seconds * 1_000);
  };
  const mark = async (id: bigint) => {
    const { deletions } = await planDeletions(kept.db, [id]);
    await markDeletions(kept.db, deletions, { at: kept.now, beginsAt: kept.now, byPolicy: false, requestedBy: "test" });
  };
  const finish = async () => {
    later(61);
    while ((await workOnce(createDeletionHandler(kept.deps()), 10)) > 0);
  };

  test("thousands of raw outputs are deleted in batches of a thousand, and those of other executions are kept", async () => {
    const [id, neighbour] = [await kept.make({ name: "e1" }), await kept.make({ name: "e10" })];
    const [first = ""] = kept.rawOutputsOf("e1");
    const many = Array.from({ length: 2_100 }, (_, i) => first.replace(/part-0$/, `checkpoint 100%/${i}&<ü>.bin`));
    for (let from = 0; from < many.length; from += 50)
      await Promise.all(many.slice(from, from + 50).map((uri) => blobs.put(uri, new Uint8Array([1]))));
    await mark(id);
    proxy.counts.clear();
    await finish();
    expect(await kept.rows()).toEqual([neighbour]);
    const left: string[] = [];
    for await (const { uri } of blobs.list("s3://bucket/")) left.push(uri);
    expect(left).toEqual([...kept.blobsOf({ name: "e10" })].toSorted());
    // Three requests delete 2,100 checkpoints, two parts, the metadata, and inputs that another
    // engine may have stored.
    expect(Object.fromEntries(proxy.counts)).toEqual({ "POST many": 3, GET: expect.any(Number) as number });
  });

  test("an unavailable store delays the deletion and keeps its records", async () => {
    const id = await kept.make({ name: "e1" });
    await mark(id);
    await gateway.kill();
    await finish();
    const { rows } = await kept.db.query<{ last_error: string }>({ text: "SELECT last_error FROM execution_deletions" });
    expect(rows).toEqual([{ last_error: expect.stringContaining("BlobUnavailableError: s3://bucket/") as string }]);
    expect(await kept.rows()).toEqual([id]);
    gateway = await startVersitygw({ dataDir, buckets: ["bucket"], ...KEYS });
    expect(await kept.exist(kept.blobsOf({ name: "e1" }))).toBeGreaterThan(0);
    later(3_600);
    await finish();
    expect(await kept.rows()).toEqual([]);
    expect(await kept.exist(kept.blobsOf({ name: "e1" }))).toBe(0);
  });
});
