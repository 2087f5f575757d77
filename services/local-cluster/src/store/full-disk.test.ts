import { appendFileSync, cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { KubeObject } from "../object/model.js";
import type { Write } from "./log-file.js";
import { openStore, type PersistentStore } from "./persistent-store.js";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "full-disk-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true, maxRetries: 20 }));

const configMap = (name: string, more: object = {}): KubeObject =>
  ({ apiVersion: "v1", kind: "Thing", metadata: { name, namespace: "n" }, ...more }) as KubeObject;
const names = ({ store }: PersistentStore) => store.list("/things").map(({ object }) => object.metadata.name);
const full = () => Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" });
const fail = (error: Error) => {
  throw error;
};

/**
 * A simulated disk with limited space that writes in parts. Once `gone`, it answers no write, as
 * after a failure of the machine.
 */
class Disk {
  gone = false;

  constructor(
    public room: number,
    private readonly most: number,
  ) {}

  readonly write: Write = (fd, { buffer, offset }, done) => {
    setImmediate(() => {
      if (this.gone) return;
      const length = Math.min(buffer.length - offset, this.most, this.room);
      if (length === 0) return done(full(), 0);
      writeSync(fd, buffer, offset, length);
      this.room -= length;
      done(null, length);
    });
  };
}

test("writes to a full disk wait for space, report it, and continue where they stopped", async () => {
  const disk = new Disk(150, 40);
  const reports: (string | undefined)[] = [];
  const first = await openStore({ folder, fail, write: disk.write, onFull: (error) => reports.push(error?.message) });
  for (const name of ["a", "b", "c"]) first.store.put("/things", configMap(name));
  await expect.poll(() => first.full?.message).toMatch("ENOSPC");
  expect(first.store.durableRevision).toBeLessThan(3);
  disk.room = 10_000;
  await first.store.durable();
  expect([first.full, reports]).toEqual([undefined, [expect.stringContaining("ENOSPC"), undefined]]);
  await first.close();
  const second = await openStore({ folder, fail });
  expect(names(second)).toEqual(["a", "b", "c"]);
  await second.close();
});

test("a log truncated by a full disk before a snapshot, and the empty one after it, can be opened", async () => {
  const first = await openStore({ folder, fail });
  first.store.put("/things", configMap("a"));
  await first.close();
  appendFileSync(join(folder, "log-0000000000000000.jsonl"), '{"r":2,"k":"/things","o":{"api');
  writeFileSync(join(folder, "log-0000000000000002.jsonl"), "");
  writeFileSync(join(folder, "snapshot-0000000000000002.jsonl.partial"), "{");
  const second = await openStore({ folder, fail });
  expect([names(second), second.droppedBytes]).toEqual([["a"], 30]);
  expect(readdirSync(folder)).toEqual(["log-0000000000000000.jsonl"]);
  second.store.put("/things", configMap("b"));
  await second.close();
  const third = await openStore({ folder, fail });
  expect(names(third)).toEqual(["a", "b"]);
  await third.close();
});

test("a failed snapshot keeps the logs and is retried", async () => {
  const failures: string[] = [];
  const first = await openStore({ folder, fail, snapshotAtBytes: 2_000, onSnapshotFailed: (error) => failures.push(error.message) });
  // A directory blocks the path of the snapshot.
  let revision = 0;
  const next = () => join(folder, `snapshot-${String(revision).padStart(16, "0")}.jsonl.partial`);
  for (revision = 1; revision <= 40; revision++) mkdirSync(next());
  for (let i = 0; i < 40; i++) {
    first.store.put("/things", configMap(`t${i}`, { text: "x".repeat(100) }));
    // Each write waits for the previous one, so that the log grows step by step.
    await first.store.durable();
  }
  await expect.poll(() => failures.length).toBeGreaterThan(0);
  expect(failures.length).toBeLessThan(5);
  await first.close();
  const second = await openStore({ folder, fail, snapshotAtBytes: 2_000 });
  expect(names(second)).toHaveLength(40);
  expect(readdirSync(folder).filter((name) => name.includes("snapshot"))).toEqual([]);
  second.store.put("/things", configMap("later"));
  await second.snapshot();
  expect(readdirSync(folder)).toContain("snapshot-0000000000000041.jsonl");
  await second.close();
});

test("no acknowledged write is lost, for any times of a full disk and a crash, with or without snapshots", async () => {
  const steps = fc.array(fc.record({ bytes: fc.integer({ min: 1, max: 400 }), snapshot: fc.boolean(), wait: fc.boolean() }), {
    minLength: 1,
    maxLength: 25,
  });
  const lives = fc.array(fc.record({ room: fc.integer({ min: 0, max: 6_000 }), most: fc.integer({ min: 1, max: 500 }), steps }), {
    minLength: 1,
    maxLength: 5,
  });
  await fc.assert(
    fc.asyncProperty(lives, async (all) => {
      // Writes of the stopped process may still reach its directory, so the next process gets a
      // copy of the files at the time of the stop.
      const parent = mkdtempSync(join(folder, "lives-"));
      let current = join(parent, "0");
      let acknowledged = 0;
      let count = 0;
      const seen = new Set<string>();
      for (const [index, life] of all.entries()) {
        const disk = new Disk(life.room, life.most);
        const opened = await openStore({ folder: current, fail, write: disk.write });
        const { store } = opened;
        expect(store.revision).toBeGreaterThanOrEqual(acknowledged);
        for (const name of seen) expect(names(opened)).toContain(name);
        for (const { bytes, snapshot, wait } of life.steps) {
          const name = `t${count++}`;
          const { revision } = store.put("/things", configMap(name, { text: "y".repeat(bytes) }));
          void store.durable(revision).then(() => {
            if (disk.gone) return;
            acknowledged = Math.max(acknowledged, revision);
            seen.add(name);
          });
          if (snapshot) opened.snapshot().catch(() => undefined);
          if (wait) await new Promise(setImmediate);
        }
        await new Promise(setImmediate);
        disk.gone = true;
        const next = join(parent, String(index + 1));
        cpSync(current, next, { recursive: true });
        current = next;
      }
      const last = await openStore({ folder: current, fail });
      expect(names(last)).toEqual(expect.arrayContaining([...seen]));
      await last.close();
    }),
    { numRuns: 60 },
  );
});
