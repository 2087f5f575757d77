import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type AdminDatabase, adminDatabase } from "../../database.fixture.js";
import { findClient, secretMatches, seedServices } from "./issuer-clients.js";

let database: AdminDatabase;
const folder = mkdtempSync(join(tmpdir(), "flyte-ts-test-clients-"));
beforeAll(async () => {
  database = await adminDatabase();
});
afterAll(async () => {
  await database.stop();
  rmSync(folder, { recursive: true });
});

const seed = (secretsFolder: string) =>
  seedServices(database.db, { services: ["flytepropeller", "flytescheduler"], secretsFolder, clock: () => new Date() });

test("a service client whose secret file could not be written is created at the next start", async () => {
  const blocked = join(folder, "file");
  writeFileSync(blocked, "");
  await expect(seed(join(blocked, "secrets"))).rejects.toThrow("ENOTDIR");
  const secrets = join(folder, "secrets");
  await seed(secrets);
  const written = readFileSync(join(secrets, "flytepropeller"), "utf8");
  const client = await findClient(database.db, "flytepropeller");
  expect(secretMatches(client?.secretHash ?? "", written)).toBe(true);
  await seed(secrets);
  expect(readFileSync(join(secrets, "flytepropeller"), "utf8")).toBe(written);
  expect(readdirSync(secrets)).toEqual(["flytepropeller", "flytescheduler"]);
});
