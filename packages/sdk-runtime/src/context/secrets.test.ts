import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readSecret } from "./secrets.js";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "flyte-ts-secrets-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test("a secret in a file is read without the blanks around it, as by flytekit", async () => {
  mkdirSync(join(folder, "database"));
  writeFileSync(join(folder, "database", "password"), " two words\r\n");
  expect(await readSecret({ FLYTE_SECRETS_DEFAULT_DIR: folder }, "Database", "Password")).toBe("two words");
});

test("a secret in a variable is read without the blanks around it, as by flytekit", async () => {
  const environment = { FLYTE_SECRETS_DEFAULT_DIR: folder, _FSEC_DATABASE_PASSWORD: "two words\n" };
  expect(await readSecret(environment, "database", "password")).toBe("two words");
});
