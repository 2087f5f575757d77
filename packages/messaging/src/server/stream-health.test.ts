import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startNats } from "@flyte-ts/local-servers";
import { createLogger } from "@flyte-ts/telemetry";
import { describe, expect, test, vi } from "vitest";
import { connectBus } from "../index.js";
import { StreamHealth } from "./stream-health.js";

const logger = createLogger({ service: "test", level: "silent" });

describe("StreamHealth", () => {
  const clock = { now: 0 };
  const health = () => new StreamHealth(logger, () => clock.now);

  test("a stream is unhealthy after lasting failures, until a message is stored", () => {
    clock.now = 0;
    const known = health();
    known.recordFailure("flyte.task.echo.3", "no space");
    expect(known.unhealthyReason()).toBeUndefined();
    clock.now = 4_000;
    known.recordFailure("flyte.task.shell.5", "no space");
    expect(known.unhealthyReason()).toBe("the message bus does not store messages (flyte.task): no space");
    known.recordStored("flyte.event.task.3");
    expect(known.unhealthyReason()).toBeDefined();
    known.recordStored("flyte.task.echo.1");
    expect(known.unhealthyReason()).toBeUndefined();
  });

  test("failures expire when nothing is published any more", () => {
    clock.now = 0;
    const known = health();
    known.recordFailure("flyte.task.echo.3", "no space");
    clock.now = 4_000;
    known.recordFailure("flyte.task.echo.3", "no space");
    clock.now = 40_000;
    expect(known.unhealthyReason()).toBeUndefined();
    known.recordFailure("flyte.task.echo.3", "no space");
    expect(known.unhealthyReason()).toBeUndefined();
  });
});

const root = process.getuid?.() === 0;

test.skipIf(!root)(
  "a bus whose disk was full reports that it stores nothing, also after space is free, until its server restarts",
  async () => {
    const disk = mkdtempSync(join(tmpdir(), "full-"));
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=12m", "tmpfs", disk]);
    const dataDir = join(disk, "nats");
    mkdirSync(dataDir);
    let server = await startNats({ dataDir });
    const bus = await connectBus({ url: server.url, name: "test", logger });
    try {
      await bus.ensureStream({ name: "TASKS", subjects: ["task.>"], retention: "workqueue" });
      await bus.publish("task.a", Buffer.from("first"));
      expect(bus.unhealthyReason()).toBeUndefined();
      expect(() => writeFileSync(join(disk, "fill"), Buffer.alloc(12 * 1024 * 1024))).toThrow(/ENOSPC/);
      const stored = Promise.all(Array.from({ length: 20 }, () => bus.publish("task.a", Buffer.alloc(20_000))));
      await vi.waitFor(() => expect(bus.unhealthyReason()).toMatch(/does not store messages/), { timeout: 40_000 });
      rmSync(join(disk, "fill"));
      // Once a write has failed, the server stores nothing more, although the disk has free space
      // again.
      await expect(
        Promise.race([stored.then(() => "stored"), vi.waitFor(() => expect(bus.unhealthyReason()).toBeUndefined(), 6_000)]),
      ).rejects.toThrow("to be undefined");
      await server.stop();
      server = await startNats({ dataDir, port: server.port });
      await stored;
      await vi.waitFor(() => expect(bus.unhealthyReason()).toBeUndefined(), { timeout: 30_000 });
    } finally {
      await bus.close();
      await server.stop();
      execFileSync("umount", ["-l", disk]);
      rmSync(disk, { recursive: true });
    }
  },
  120_000,
);
