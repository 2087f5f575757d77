import { createClient } from "@flyte-ts/rpc";
import { MyAccessService } from "@flyte-ts/idl/flytets/admin/v1/my_access_pb";
import { type TokenIssuer, tokenIssuer } from "@flyte-ts/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { adminConfigSchema } from "../../config.js";
import { type AdminDatabase, adminDatabase } from "../../database.fixture.js";
import { type ServedAdmin, serveAdmin } from "../../served-admin.fixture.js";

let database: AdminDatabase;
let idp: TokenIssuer;
let admin: ServedAdmin;
let unprotected: ServedAdmin;
beforeAll(async () => {
  [database, idp] = await Promise.all([adminDatabase(), tokenIssuer()]);
  const roles = [
    { subject: "ann", role: "viewer", project: "p" },
    { subject: "ann", role: "runner", project: "p", domain: "d" },
    { group: "owners", role: "admin", project: "q" },
    { subject: "engine", role: "engine" },
    { subject: "root", role: "admin" },
  ];
  const auth = { mode: "required", publicUrl: "https://flyte.test", providers: [{ issuer: idp.issuer }], roles };
  admin = await serveAdmin({ db: database.db, config: adminConfigSchema.parse({ auth }) });
  unprotected = await serveAdmin({ db: database.db });
});
afterAll(async () => {
  await Promise.all([admin.stop(), unprotected.stop()]);
  await Promise.all([database.stop(), idp.stop()]);
});

test.each([
  { subject: "ann", groups: [], project: "p", domain: "d", role: "runner", engine: false },
  { subject: "ann", groups: [], project: "p", domain: "other", role: "viewer", engine: false },
  { subject: "ann", groups: [], project: "other", domain: "d", role: "", engine: false },
  { subject: "ann", groups: [], project: "*", domain: "*", role: "", engine: false },
  { subject: "root", groups: [], project: "*", domain: "*", role: "admin", engine: false },
  { subject: "bob", groups: ["owners"], project: "q", domain: "d", role: "admin", engine: false },
  { subject: "bob", groups: [], project: "q", domain: "d", role: "", engine: false },
  { subject: "engine", groups: [], project: "p", domain: "d", role: "runner", engine: true },
])("$subject with groups $groups has in $project-$domain the role '$role'", async ({ subject, groups, project, domain, role, engine }) => {
  const token = idp.token({ sub: subject, groups });
  const answer = await fetch(
    `http://127.0.0.1:${admin.port}/api/v1/my_access/${encodeURIComponent(project)}/${encodeURIComponent(domain)}`,
    {
      headers: { authorization: `Bearer ${token}` },
    },
  );
  expect([answer.status, await answer.json()]).toEqual([200, { subject, role, engine }]);
});

test("a caller without a token learns nothing", async () => {
  const answer = await fetch(`http://127.0.0.1:${admin.port}/api/v1/my_access/p/d`);
  expect(answer.status).toBe(401);
});

test("without authentication every caller is an admin", async () => {
  const client = createClient({ channel: unprotected.channel, service: MyAccessService });
  expect(await client.getMyAccess({ project: "p", domain: "d" })).toMatchObject({ subject: "", role: "admin", engine: true });
});
