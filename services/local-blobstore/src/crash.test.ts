import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { createHash, randomBytes, randomInt } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { send } from "./signed-request.fixture.js";

const root = join(import.meta.dirname, "..", "..", "..");
const folder = mkdtempSync(join(tmpdir(), "killed-"));
let service: ChildProcess | undefined;
beforeAll(() => {
  // Compiles first, so that the process runs the current sources.
  execFileSync(join(root, "node_modules", ".bin", "tsc"), ["-b", join(root, "services", "local-blobstore")], { stdio: "pipe" });
});
afterEach(() => kill());
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function kill(): Promise<void> {
  const child = service;
  service = undefined;
  child?.kill("SIGKILL");
  if (child !== undefined && child.exitCode === null && child.signalCode === null) await once(child, "exit");
}

/** Starts the service as deployed. @returns its port */
async function start(): Promise<number> {
  const keys = ["--accessKeyId", "minio", "--secretAccessKey", "miniostorage"];
  const words = ["--dataDir", folder, "--port", "0", "--ops.port", "0", "--buckets", `["bucket"]`, ...keys];
  const child = spawn(process.execPath, [join(root, "services", "local-blobstore", "dist", "main.js"), ...words], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  service = child;
  for await (const line of createInterface({ input: child.stdout })) {
    const { msg, port } = JSON.parse(line) as { msg: string; port: number };
    if (msg !== "listening") continue;
    child.stdout.resume();
    return port;
  }
  throw new Error("the service ended before it was ready");
}

const md5 = (content: Uint8Array) => createHash("md5").update(content).digest("hex");

test("a killed service loses no acknowledged object and shows no partial one", async () => {
  /** Possible contents of each key, by MD5: the last acknowledged one, and those written since. */
  const possible = new Map<string, Set<string>>();
  const acknowledged = new Set<string>();
  let port = await start();
  for (let round = 0; round < 5; round++) {
    const written = Promise.withResolvers<void>();
    let writes = 0;
    const most = randomInt(1, 60);
    const to = port;
    const writer = async (own: number) => {
      for (;;) {
        const key = `k${own}/${randomInt(4)}`;
        const body = randomBytes(randomInt(2) === 0 ? randomInt(2_000) : randomInt(400_000, 900_000));
        const before = possible.get(key) ?? new Set();
        possible.set(key, before.add(md5(body)));
        const answer = await send(to, { method: "PUT", path: `/bucket/${key}`, body }).catch(() => undefined);
        if (answer === undefined) return;
        expect(answer.status).toBe(200);
        possible.set(key, new Set([md5(body)]));
        acknowledged.add(key);
        if (++writes === most) written.resolve();
      }
    };
    const writers = [0, 1, 2, 3].map(writer);
    await written.promise;
    await kill();
    await Promise.all(writers);

    port = await start();
    expect(readdirSync(join(folder, "tmp"))).toEqual([]);
    for (const [key, contents] of possible) {
      const answer = await send(port, { method: "GET", path: `/bucket/${key}` });
      if (answer.status === 404 && !acknowledged.has(key)) continue;
      expect([key, answer.status]).toEqual([key, 200]);
      const found = md5(new Uint8Array(await answer.arrayBuffer()));
      expect(contents).toContain(found);
      possible.set(key, new Set([found]));
      acknowledged.add(key);
    }
  }
  expect(acknowledged.size).toBeGreaterThan(4);
});
