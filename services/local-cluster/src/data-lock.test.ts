import { mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { DataDirInUse, lockDataDir } from "./data-lock.js";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "data-lock-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test("a folder that this process uses is refused until it is released", async () => {
  const unlock = await lockDataDir(folder);
  await expect(lockDataDir(folder)).rejects.toThrow(new DataDirInUse(`the data directory ${folder} is in use by process ${process.pid}`));
  unlock();
  expect(readdirSync(folder)).toEqual([]);
  (await lockDataDir(folder))();
});

test.each(["", "4711 1"])("a lock that names no process (%j) is waited for", async (content) => {
  const lock = join(folder, "lock");
  writeFileSync(lock, content);
  let isLocked = false;
  const locked = lockDataDir(folder).then((unlock) => {
    isLocked = true;
    unlock();
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect(isLocked).toBe(false);
  utimesSync(lock, new Date(), new Date(Date.now() - 60_000));
  await locked;
  expect(readdirSync(folder)).toEqual([]);
});
