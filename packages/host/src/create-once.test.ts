import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { isExecutable } from "./cache-dir.js";
import { replaceAtomically, createOnce } from "./create-once.js";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "made-once-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test("concurrent callers share one creation", async () => {
  const path = join(folder, "cache", "thing");
  let made = 0;
  const get = async () => {
    const make = async () => {
      made++;
      await sleep(50);
      writeFileSync(path, "whole");
    };
    await createOnce(path, { exists: () => existsSync(path), create: make });
    return readFileSync(path, "utf8");
  };
  expect(await Promise.all([get(), get(), get()])).toEqual(["whole", "whole", "whole"]);
  expect(made).toBe(1);
  expect(readdirSync(join(folder, "cache"))).toEqual(["thing"]);
});

test("a failed creation leaves no files and is retried", async () => {
  const path = join(folder, "thing");
  const making = (make: (staged: string) => Promise<void>) =>
    createOnce(path, { exists: () => existsSync(path), create: () => replaceAtomically(path, make) });
  const half = async (staged: string) => {
    mkdirSync(staged);
    writeFileSync(join(staged, "half"), "");
    throw new Error("no room");
  };
  await expect(making(half)).rejects.toThrow("no room");
  expect(readdirSync(folder)).toEqual([]);
  await making(async (staged) => writeFileSync(staged, "whole"));
  expect(readFileSync(path, "utf8")).toBe("whole");
  expect(readdirSync(folder)).toEqual(["thing"]);
});

test("files of a killed creator are removed", async () => {
  const path = join(folder, "thing");
  for (const left of [path, `${path}.new`]) {
    mkdirSync(left);
    writeFileSync(join(left, "half"), "");
  }
  writeFileSync(`${path}.lock`, "999999999");
  const isThere = () => existsSync(join(path, "whole"));
  const make = (staged: string) => {
    mkdirSync(staged);
    writeFileSync(join(staged, "whole"), "");
    return Promise.resolve();
  };
  await createOnce(path, { exists: isThere, create: () => replaceAtomically(path, make) });
  expect(readdirSync(path)).toEqual(["whole"]);
  expect(readdirSync(folder)).toEqual(["thing"]);
});

test("a stale lock with a reused process id does not block a creation", async () => {
  const path = join(folder, "thing");
  writeFileSync(`${path}.lock`, String(process.ppid));
  await createOnce(path, { exists: () => existsSync(path), create: async () => writeFileSync(path, "whole") });
  expect(readdirSync(folder)).toEqual(["thing"]);
});

test("the wait for another process can be aborted", async () => {
  const path = join(folder, "thing");
  const ending = new AbortController();
  const making = Promise.withResolvers<void>();
  const first = createOnce(path, { exists: () => false, create: () => making.promise });
  const second = createOnce(path, { exists: () => false, create: async () => undefined, signal: ending.signal });
  ending.abort(new Error("interrupted"));
  await expect(second).rejects.toThrow("aborted");
  making.resolve();
  await first;
});

test("an empty program, as a power failure leaves it, is created again", async () => {
  const path = join(folder, "program");
  writeFileSync(path, "", { mode: 0o755 });
  const create = () => replaceAtomically(path, async (staged) => writeFileSync(staged, "#!/bin/sh", { mode: 0o755 }));
  await createOnce(path, { exists: () => isExecutable(path), create });
  expect(readFileSync(path, "utf8")).toBe("#!/bin/sh");
  expect(isExecutable(path)).toBe(true);
});
