import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, expect, test } from "vitest";
import { type ServerFixture, serverFixture } from "./server.fixture.js";
import { send } from "./signed-request.fixture.js";

const disk = mkdtempSync(join(tmpdir(), "full-disk-"));
/** Mounting requires root and capabilities that some containers lack. */
const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=2m", "tmpfs", disk]).status === 0;
const ballast = join(disk, "ballast");
let server: ServerFixture;
beforeEach(async () => {
  for (const name of readdirSync(disk)) rmSync(join(disk, name), { recursive: true, force: true });
  if (mounted) server = await serverFixture(join(disk, "data"));
});
afterAll(() => {
  if (mounted) execFileSync("umount", ["--lazy", disk]);
  rmSync(disk, { recursive: true, force: true });
});

/** Leaves this much free space, in pages. */
function leave(pages: number): void {
  rmSync(ballast, { force: true });
  const { bavail, bsize } = statfsSync(disk);
  writeFileSync(ballast, Buffer.alloc((bavail - pages) * bsize));
}

const request = (method: string, path: string, more: { query?: Record<string, string>; body?: Buffer } = {}) =>
  send(server.port, { method, path: `/bucket/${path}`, ...more });
const put = (key: string, body: Buffer) => request("PUT", key, { body });
const get = async (key: string) => Buffer.from(await (await request("GET", key)).arrayBuffer());
const left = (folder: string) => readdirSync(join(disk, "data", folder));

test.runIf(mounted)("on a full disk an object is written completely or the old one remains", async () => {
  const before = Buffer.alloc(20_000, "a");
  const after = Buffer.alloc(600_000, "b");
  expect((await put("object", before)).status).toBe(200);
  const statuses = new Set<number>();
  for (let pages = 0; pages <= 160; pages += 16) {
    leave(pages);
    const { status } = await put("object", after);
    statuses.add(status);
    expect([pages, (await get("object")).equals(status === 200 ? after : before)]).toEqual([pages, true]);
    expect((await put(`folder-${pages}/new`, after)).status).toBe(503);
    expect((await request("GET", `folder-${pages}/new`)).status).toBe(404);
    expect(left("tmp")).toEqual([]);
    rmSync(ballast);
    if (status === 200) await put("object", before);
  }
  expect(statuses).toEqual(new Set([503, 200]));
});

test.runIf(mounted)("an upload in parts survives a full disk at each of its steps", async () => {
  const part = Buffer.alloc(300_000, "p");
  leave(0);
  expect((await request("POST", "parts", { query: { uploads: "" } })).status).toBe(503);
  expect(left("uploads")).toEqual([]);
  rmSync(ballast);
  const id = /<UploadId>(\w+)</.exec(await (await request("POST", "parts", { query: { uploads: "" } })).text())?.[1] ?? "";
  const sendPart = () => request("PUT", "parts", { query: { uploadId: id, partNumber: "1" }, body: part });
  leave(20);
  expect((await sendPart()).status).toBe(503);
  expect(left(`uploads/${id}`)).toEqual(["upload.json"]);
  rmSync(ballast);
  const etag = (await sendPart()).headers.get("etag") ?? "";
  const list = `<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>${etag}</ETag></Part></CompleteMultipartUpload>`;
  const complete = () => request("POST", "parts", { query: { uploadId: id }, body: Buffer.from(list) });
  leave(20);
  expect((await complete()).status).toBe(503);
  expect([left("tmp"), (await request("GET", "parts")).status]).toEqual([[], 404]);
  rmSync(ballast);
  expect((await complete()).status).toBe(200);
  expect((await get("parts")).equals(part)).toBe(true);
  expect(left("uploads")).toEqual([]);
});

test.runIf(mounted)("a full disk is reported to writers and by readiness until it has space", async () => {
  expect(await server.problem()).toBeUndefined();
  leave(0);
  const message = /the disk that holds .*\/data is full \(ENOSPC.*\): free some space/;
  const refused = await put("object", Buffer.alloc(100_000));
  expect([refused.status, await refused.text()]).toEqual([503, expect.stringMatching(message)]);
  expect(await Promise.all([server.problem(), server.problem()])).toEqual([expect.stringMatching(message), expect.stringMatching(message)]);
  expect(left("tmp")).toEqual([]);
  rmSync(ballast);
  expect(await server.problem()).toBeUndefined();
  expect((await put("object", Buffer.alloc(100_000))).status).toBe(200);
});
