import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { buildService, type ServiceProcess, startService } from "./service-process.fixture.js";

const disk = mkdtempSync(join(tmpdir(), "full-disk-"));
/** Mounting a disk takes root, and rights that some containers do not give even to root. */
const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", disk]).status === 0;
afterAll(() => {
  if (mounted) execFileSync("umount", ["--lazy", disk]);
  rmSync(disk, { recursive: true, force: true });
});

const folder = join(disk, "data");
const ballast = join(disk, "ballast");
let service: ServiceProcess | undefined;
beforeAll(() => {
  if (mounted) buildService();
});
afterEach(async () => service?.kill("SIGKILL"));

const CM = "/api/v1/namespaces/default/configmaps";

async function call(method: string, path: string, body?: object): Promise<{ status: number; text: string }> {
  const response = await fetch(`http://127.0.0.1:${service?.port}${path}`, {
    method,
    signal: AbortSignal.timeout(10_000),
    ...(body && { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
  });
  return { status: response.status, text: await response.text() };
}

const put = (name: string, bytes = 8_000) => call("POST", CM, { metadata: { name }, data: { text: "x".repeat(bytes) } });

test.runIf(mounted)("a full disk is reported, also after a crash, and loses no acknowledged write", async () => {
  service = await startService(folder);
  const acknowledged: string[] = [];
  let refused = "";
  for (let i = 0; refused === ""; i++) {
    // One write waits for space; concurrent ones are rejected.
    const writes = await Promise.allSettled([0, 1, 2].map((n) => put(`c${i}-${n}`)));
    writes.forEach((write, n) => {
      if (write.status === "fulfilled" && write.value.status === 201) acknowledged.push(`c${i}-${n}`);
      else refused ||= write.status === "fulfilled" ? write.value.text : String(write.reason);
    });
  }
  const { status, text } = await call("GET", "/readyz");
  expect([status, text]).toEqual([
    503,
    expect.stringMatching(/^the disk that holds .*\/data\/store is full \(ENOSPC.*\): free some space/),
  ]);
  expect(await put("refused")).toMatchObject({ status: 503, text: expect.stringContaining("the disk that holds") });

  // The service crashes on the full disk and gets space while it starts.
  await service.kill("SIGKILL");
  execFileSync("mount", ["-o", "remount,size=4m", disk]);
  service = await startService(folder);
  expect((await call("GET", "/readyz")).status).toBe(200);
  const found = (JSON.parse((await call("GET", CM)).text) as { items: { metadata: { name: string } }[] }).items.map(
    ({ metadata }) => metadata.name,
  );
  expect(found).toEqual(expect.arrayContaining(acknowledged));
  expect((await put("after")).status).toBe(201);

  // Fills the disk again, without a crash.
  while (spawnSync("dd", ["if=/dev/zero", `of=${ballast}`, "bs=4k"]).status === 0);
  const waiting = put("waits", 200_000);
  await expect.poll(async () => (await call("GET", "/readyz")).status).toBe(503);
  rmSync(ballast);
  expect((await waiting).status).toBe(201);
  expect((await call("GET", "/readyz")).status).toBe(200);
  expect(readdirSync(join(folder, "store")).filter((name) => name.endsWith(".partial"))).toEqual([]);
});
