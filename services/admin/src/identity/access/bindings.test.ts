import { WILDCARD, bindingsFor } from "@flyte-ts/auth";
import { createLogger } from "@flyte-ts/telemetry";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type AdminDatabase, adminDatabase } from "../../database.fixture.js";
import { createBindings } from "./bindings.js";
import { authSchema } from "../config/auth.js";

const OURS = "https://flyte.test";
const CORPORATE = "https://corporate.test";
const PARTNER = "https://partner.test";

let database: AdminDatabase;
beforeAll(async () => {
  database = await adminDatabase();
  const text =
    "INSERT INTO role_bindings (kind, name, role, project, domain, created_at) VALUES ('subject', 'root', 'admin', '*', '*', now())";
  await database.db.query({ text });
});
afterAll(() => database.stop());

async function rolesOf(auth: object, issuer: string, subject: string): Promise<string[]> {
  const logger = createLogger({ service: "test", level: "error" });
  const parsed = authSchema.parse({ mode: "required", publicUrl: OURS, ...auth });
  const bindings = await createBindings({ db: database.db, auth: parsed, clock: () => new Date(), logger }).current();
  return bindingsFor(bindings, { issuer, subject, groups: ["makers"] }).map(({ role }) => role);
}

const providers = [{ issuer: CORPORATE }, { issuer: PARTNER }];
const roles = [
  { group: "makers", role: "contributor", project: WILDCARD },
  { subject: "root", issuer: PARTNER, role: "viewer" },
];

test("a role is bound to one issuer and does not apply to the same name of another issuer", async () => {
  expect(await rolesOf({ providers, roles }, CORPORATE, "root")).toEqual(["contributor", "admin"]);
  expect(await rolesOf({ providers, roles }, PARTNER, "root")).toEqual(["viewer"]);
});

test("a role without an issuer applies to the built-in issuer, if it is enabled", async () => {
  expect(await rolesOf({ builtIn: {}, providers, roles }, OURS, "root")).toEqual(["contributor", "admin"]);
  expect(await rolesOf({ builtIn: {}, providers, roles }, CORPORATE, "root")).toEqual([]);
  expect(await rolesOf({ builtIn: {}, providers, roles }, CORPORATE, "flytepropeller")).toEqual([]);
  expect(await rolesOf({ builtIn: {}, providers, roles }, OURS, "flytepropeller")).toContain("engine");
});
