import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BlobStore, BlobTooLargeError, BlobUnavailableError } from "@flyte-ts/blobstore";
import { afterAll, beforeAll, expect, test } from "vitest";
import { adminConfigSchema } from "../config.js";
import { type AdminDatabase, adminDatabase } from "../database.fixture.js";
import { bareExecution } from "../executions/execution/bare-execution.fixture.js";
import { findExecutionId } from "../executions/store/execution/find.js";
import { insertExecution } from "../executions/store/execution/insert.js";
import { writeNode } from "../executions/store/node/written-nodes.fixture.js";
import { type ServedAdmin, serveAdmin } from "../served-admin.fixture.js";

const folder = mkdtempSync(join(tmpdir(), "flyte-ts-deck-"));
const DECK = "<!doctype html><h1>häufig</h1><script>alert(1)</script>";
const reads: string[] = [];
const blobs = {
  get: async (uri: string) => {
    reads.push(uri);
    if (uri.endsWith("large")) throw new BlobTooLargeError(uri, 2, 1);
    if (uri.endsWith("away")) throw new BlobUnavailableError(uri, "is away");
    return uri.endsWith("missing") ? undefined : Buffer.from(DECK);
  },
} as unknown as BlobStore;
let database: AdminDatabase;
let admin: ServedAdmin;

beforeAll(async () => {
  writeFileSync(join(folder, "index.html"), "<!doctype html><title>console</title>");
  database = await adminDatabase();
  admin = await serveAdmin({
    db: database.db,
    blobs,
    config: adminConfigSchema.parse({ console: { folder, deckOrigins: ["https://cdn.example"] } }),
  });
  await insertExecution(database.db, bareExecution("e0"));
  const id = (await findExecutionId(database.db, { project: "p", domain: "d", name: "e0" })) ?? 0n;
  for (const node of ["there", "large", "away", "missing"]) {
    await writeNode(database.db, id, { node_id: node, phase: "SUCCEEDED", deck_uri: `s3://b/${node}` });
  }
  await writeNode(database.db, id, { node_id: "none", phase: "SUCCEEDED" });
});
afterAll(async () => {
  await admin.stop();
  await database.stop();
  rmSync(folder, { recursive: true });
});

const get = (path: string, init: RequestInit = {}) => fetch(`http://127.0.0.1:${admin.port}/console/deck/${path}`, init);

test("a deck is a page without an origin", async () => {
  const answer = await get("p/d/e0/there");
  expect([answer.status, await answer.text()]).toEqual([200, DECK]);
  expect(answer.headers.get("content-type")).toBe("text/html; charset=utf-8");
  expect(answer.headers.get("content-security-policy")).toBe(
    "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval' https://cdn.example; style-src 'unsafe-inline' https://cdn.example; img-src data: blob: https://cdn.example; font-src data: https://cdn.example; frame-ancestors 'self'",
  );
  expect(answer.headers.get("cache-control")).toBe("private, no-store");
  expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
  expect(answer.headers.get("x-frame-options")).toBeNull();
});

test.each([
  ["p/d/e0/none", 404, "the node has no deck"],
  ["p/d/e0/missing", 404, "the deck does not exist"],
  ["p/d/e0/large", 400, "the deck is larger than"],
  ["p/d/e0/away", 503, "the deck cannot be read now"],
  ["p/d/e0/unknown", 404, "missing entity of type node execution"],
  ["p/d/other/there", 404, "missing entity"],
  ["p/d/e0", 400, "the path of a deck is"],
  ["p/d/e0/there/more", 400, "the path of a deck is"],
])("%s is refused with status %i", async (path, status, text) => {
  const answer = await get(path);
  expect([answer.status, answer.headers.get("content-type")]).toEqual([status, "text/plain; charset=utf-8"]);
  expect(await answer.text()).toContain(text);
  expect(answer.headers.get("content-security-policy")).toContain("sandbox");
});

test("a request names a node, and no blob", async () => {
  reads.length = 0;
  for (const path of ["p/d/e0/s3%3A%2F%2Fother%2Fsecret", "p/d/e0/there?uri=s3://other/secret", "p/d/e0/..%2Fthere"]) await get(path);
  expect(reads).toEqual(["s3://b/there"]);
});

test("only GET is answered", async () => {
  expect((await get("p/d/e0/there", { method: "POST", headers: { "content-type": "application/json" }, body: "{}" })).status).toBe(501);
});
