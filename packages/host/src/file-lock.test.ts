import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { processCommandLine, processIdentity } from "./process-identity.js";
import { releaseLock, acquireLock } from "./file-lock.js";

let folder: string;
let lock: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "process-lock-"));
  lock = join(folder, "lock");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test("a lock is held until it is released", () => {
  expect(acquireLock(lock)).toBeUndefined();
  expect(acquireLock(lock)).toEqual({ pid: process.pid });
  releaseLock(lock);
  expect(readdirSync(folder)).toEqual([]);
});

test("a lock with a reused process id is taken over", () => {
  // The parent of this process is alive, but started at another time.
  writeFileSync(lock, `${process.ppid}\n0:0\n`);
  expect(acquireLock(lock)).toBeUndefined();
  expect(readFileSync(lock, "utf8")).toBe(`${process.pid}\n${processIdentity(process.pid)}\n`);
  expect(readdirSync(folder)).toEqual(["lock"]);
});

test("a lock of another live process is neither acquired nor released", () => {
  writeFileSync(lock, `${process.ppid}\n${processIdentity(process.ppid)}\n`);
  expect(acquireLock(lock)).toEqual({ pid: process.ppid });
  releaseLock(lock);
  expect(readdirSync(folder)).toEqual(["lock"]);
});

test.each(["", "\0\0\0\0", "\n"])("a lock without a process in it (%j) is taken over once it is old", (content) => {
  writeFileSync(lock, content);
  expect(acquireLock(lock)).toEqual({ pid: undefined });
  utimesSync(lock, new Date(), new Date(Date.now() - 60_000));
  expect(acquireLock(lock)).toBeUndefined();
});

test("a zombie process has no identity", async () => {
  // The shell becomes a program that never reaps its child.
  const parent = spawn("sh", ["-c", "sleep 0 & echo $!; exec sleep 600"], { stdio: ["ignore", "pipe", "inherit"] });
  try {
    const pid = await new Promise<number>((resolve) => parent.stdout.once("data", (data: Buffer) => resolve(Number(data))));
    await expect.poll(() => processIdentity(pid)).toBeUndefined();
    expect(processIdentity(parent.pid as number)).toBeDefined();
    await expect.poll(() => processCommandLine(parent.pid as number)).toMatch(/^sleep.600/);
  } finally {
    parent.kill("SIGKILL");
  }
});
