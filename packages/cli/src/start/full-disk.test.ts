import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { testWatchdog } from "@flyte-ts/testing";
import { afterAll, expect, test } from "vitest";

const disk = mkdtempSync(join(tmpdir(), "small-disk-"));
/** Mounting a disk needs root, and rights that some containers do not give even to root. */
const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=8m", "tmpfs", disk]).status === 0;
afterAll(() => {
  if (mounted) execFileSync("umount", ["--lazy", disk]);
  rmSync(disk, { recursive: true, force: true });
});

test.runIf(mounted)(
  "a start on a disk that is too small is refused in one line with the disk and a remedy, and leaves no partial database",
  async () => {
    const main = join(import.meta.dirname, "..", "..", "dist", "main.js");
    const words = ["start", "--no-example", "--port", "0", "--blobPort", "0", "--data", join(disk, "data")];
    const start = spawn(process.execPath, [main, ...words], { stdio: ["ignore", "ignore", "pipe"] });
    testWatchdog().watch(start);
    let errorOutput = "";
    start.stderr.on("data", (chunk: Buffer) => (errorOutput += chunk.toString()));
    const [status] = await once(start, "close");
    expect([status, errorOutput]).toEqual([
      1,
      expect.stringMatching(/^flyte-ts: the disk that holds .*\/data has \d+ KiB left: free some space and start again\n$/),
    ]);
    expect(readdirSync(join(disk, "data"))).not.toContain("stack.pid");
    expect(readdirSync(join(disk, "data", "postgres")).filter((name) => name.startsWith("data"))).toEqual([]);
  },
);
