import { AdminService } from "@flyte-ts/idl/flyteidl/service/admin_pb";
import { TokenService } from "@flyte-ts/idl/flytets/admin/v1/access_pb";
import { Code, createClient } from "@flyte-ts/rpc";
import { type TokenIssuer, tokenIssuer } from "@flyte-ts/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { adminConfigSchema } from "../../config.js";
import { type AdminDatabase, adminDatabase } from "../../database.fixture.js";
import { type ServedAdmin, serveAdmin } from "../../served-admin.fixture.js";

const CONSOLE = "console";
let database: AdminDatabase;
let idp: TokenIssuer;
/** Two replicas of admin. */
let here: ServedAdmin;
let there: ServedAdmin;
beforeAll(async () => {
  [database, idp] = await Promise.all([adminDatabase(), tokenIssuer()]);
  const roles = [
    { subject: "root", role: "admin" },
    { group: "viewers", role: "viewer" },
  ];
  const auth = {
    mode: "required",
    publicUrl: "https://flyte.test",
    providers: [{ issuer: idp.issuer }],
    roles,
    browser: { clientId: CONSOLE },
    rolesRefreshSeconds: 0.3,
  };
  const config = adminConfigSchema.parse({ auth });
  here = await serveAdmin({ db: database.db, config });
  there = await serveAdmin({ db: database.db, config });
});
afterAll(async () => {
  await here.stop();
  await there.stop();
  await Promise.all([database.stop(), idp.stop()]);
});

const secondsFromNow = (seconds: number) => Math.floor(Date.now() / 1000) + seconds;
const bearer = (claims: object) => `Bearer ${idp.token({ groups: ["viewers"], ...claims })}`;
const list = (admin: ServedAdmin, authorization: string) =>
  createClient({ channel: admin.channel, service: AdminService }).listProjects({}, { metadata: { authorization } });
const revoke = (authorization: string, request: { subject?: string; issuer?: string }) =>
  createClient({ channel: here.channel, service: TokenService }).revokeTokens(request, { metadata: { authorization } });
/** Returns the status code of a call, OK when it succeeds. */
const codeOf = (call: Promise<unknown>): Promise<number> =>
  call.then(
    () => 0,
    (error: { code: number }) => error.code,
  );

test("a revocation refuses earlier tokens, at once in this replica and soon in others, and accepts later ones", async () => {
  const before = bearer({ sub: "ann", iat: secondsFromNow(-60) });
  const root = bearer({ sub: "root", iat: secondsFromNow(-60) });
  expect([await codeOf(list(here, before)), await codeOf(list(there, before))]).toEqual([0, 0]);
  expect(await codeOf(revoke(before, { subject: "ann" }))).toBe(Code.PERMISSION_DENIED);
  await revoke(root, { subject: "ann" });
  await expect(list(here, before)).rejects.toMatchObject({ code: Code.UNAUTHENTICATED, message: expect.stringContaining("revoked") });
  await expect.poll(() => codeOf(list(there, before)), { timeout: 30_000 }).toBe(Code.UNAUTHENTICATED);
  expect(await codeOf(list(here, bearer({ sub: "ann", iat: secondsFromNow(2) })))).toBe(0);
  expect(await codeOf(list(here, root))).toBe(0);
});

test("a token without an issue time is refused after a revocation for its subject", async () => {
  const root = bearer({ sub: "root", iat: secondsFromNow(2) });
  await revoke(root, { subject: "bob" });
  expect(await codeOf(list(here, bearer({ sub: "bob", iat: undefined })))).toBe(Code.UNAUTHENTICATED);
});

test("a revocation applies to one issuer, and can be made over REST", async () => {
  const root = bearer({ sub: "root", iat: secondsFromNow(2) });
  const eve = bearer({ sub: "eve", iat: secondsFromNow(-60) });
  const post = async (body: object) => {
    const headers = { authorization: root, "content-type": "application/json" };
    return (await fetch(`http://127.0.0.1:${here.port}/api/v1/tokens/revoke`, { method: "POST", headers, body: JSON.stringify(body) }))
      .status;
  };
  expect(await post({ subject: "" })).toBe(400);
  expect(await post({ subject: "eve", issuer: "https://other.test" })).toBe(200);
  expect(await codeOf(list(here, eve))).toBe(0);
  expect(await post({ subject: "eve", issuer: idp.issuer })).toBe(200);
  expect(await codeOf(list(here, eve))).toBe(Code.UNAUTHENTICATED);
});

test("an ID token of the browser client identifies its user, and other ID tokens are refused", async () => {
  const idToken = (claims: object) => `IDToken ${idp.token({ sub: "root", aud: CONSOLE, ...claims })}`;
  expect(await codeOf(list(here, idToken({})))).toBe(0);
  expect(await codeOf(list(here, idToken({ aud: "flytectl" })))).toBe(Code.UNAUTHENTICATED);
  expect(await codeOf(list(here, idToken({ exp: secondsFromNow(-60) })))).toBe(Code.UNAUTHENTICATED);
  expect(await codeOf(list(here, idToken({ aud: "https://flyte.test" })))).toBe(Code.UNAUTHENTICATED);
  expect(await codeOf(list(here, bearer({ sub: "root", aud: CONSOLE })))).toBe(Code.UNAUTHENTICATED);
});

test("/me returns the caller to proxies in headers", async () => {
  const authorization = bearer({ sub: "änn", groups: ["a b", "c"] });
  const { headers } = await fetch(`http://127.0.0.1:${here.port}/me`, { headers: { authorization } });
  const text = (name: string) => Buffer.from(headers.get(name) ?? "", "latin1").toString("utf8");
  expect([text("x-user-subject"), text("x-user-claim-groups")]).toEqual(["änn", '["a b","c"]']);
  const other = await fetch(`http://127.0.0.1:${here.port}/api/v1/projects`, { headers: { authorization: bearer({ sub: "root" }) } });
  expect(other.headers.get("x-user-subject")).toBeNull();
});
