import { AdminService } from "@flyte-ts/idl/flyteidl/service/admin_pb";
import { createClient } from "@flyte-ts/rpc";
import { afterAll, beforeAll, expect, test } from "vitest";
import { adminConfigSchema } from "../../config.js";
import { type AdminDatabase, adminDatabase } from "../../database.fixture.js";
import { type Browser, browserOf } from "../issuer/browser.fixture.js";
import { hashPassword } from "../issuer/password.js";
import { type ServedAdmin, serveAdmin } from "../../served-admin.fixture.js";
import { allowedRedirect } from "./redirect.js";
import { decryptSession, encryptSession } from "../store/session-encryption.js";

const SITE = "http://flyte.test";
const PASSWORD = "correct horse battery";
/** Lifetime of access tokens here, seconds. */
const LIFE = 2;

let database: AdminDatabase;
let admin: ServedAdmin;
beforeAll(async () => {
  database = await adminDatabase();
  const roles = [{ subject: "ann", role: "admin" }];
  const auth = { mode: "required", publicUrl: SITE, builtIn: { accessTokenSeconds: LIFE }, roles, rolesRefreshSeconds: 0.2 };
  admin = await serveAdmin({ db: database.db, config: adminConfigSchema.parse({ auth }) });
  await database.db.query({
    text: "INSERT INTO issuer_users (name, password_hash, created_at) VALUES ('ann', $1, now()), ('bob', $1, now())",
    values: [await hashPassword(PASSWORD)],
  });
});
afterAll(async () => {
  await admin.stop();
  await database.stop();
});

const base = () => `http://127.0.0.1:${admin.port}`;
const cookieOf = (browser: Browser) => [...browser.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
const me = (cookie: string, headers: Record<string, string> = {}) => fetch(`${base()}/me`, { headers: { cookie, ...headers } });

async function signedIn(name = "ann"): Promise<Browser> {
  const browser = browserOf({ site: SITE, base: base() });
  const redirect = await browser.follow(`${SITE}/login?redirect_url=${encodeURIComponent("/console/select-project?a=b")}`);
  const answer = await browser.post(redirect.url, { name, password: PASSWORD });
  const end = await browser.follow(answer.headers.get("location") ?? "");
  expect(end.url).toBe(`${SITE}/console/select-project?a=b`);
  return browser;
}

test("a browser signs in, is identified by its cookie, and signed out by its logout", async () => {
  const browser = await signedIn();
  const cookie = cookieOf(browser);
  expect(await (await me(cookie)).json()).toMatchObject({ subject: "ann" });
  const foreign: Record<string, string>[] = [{ origin: "https://evil.test" }, { "sec-fetch-site": "cross-site" }];
  for (const headers of foreign) {
    expect((await me(cookie, headers)).status).toBe(403);
  }
  expect((await me(cookie, { origin: SITE })).status).toBe(200);
  expect((await me("flyte_session=x")).status).toBe(401);
  // Cookies work only over HTTP, since no program sends one with gRPC.
  const client = createClient({ channel: admin.channel, service: AdminService });
  await expect(client.getVersion({}, { metadata: { cookie } })).rejects.toMatchObject({ code: 16 });
  const out = await browser.get(`${SITE}/logout?redirect_url=/console`);
  expect(out.headers.get("location")).toBe(`${SITE}/console`);
  expect([...browser.cookies.keys()].filter((name) => name.includes("session"))).toEqual([]);
  expect((await me(cookie)).status).toBe(401);
  const redirect = await browser.follow(`${SITE}/login`);
  expect(await redirect.response.text()).toContain('name="password"');
});

const change = (cookie: string, headers: Record<string, string>) =>
  fetch(`${base()}/api/v1/projects`, {
    method: "POST",
    headers: { cookie, "content-type": "application/json", ...headers },
    body: JSON.stringify({ project: { id: "by-browser", name: "by-browser" } }),
  });

test.each<[string, Record<string, string>, number]>([
  ["neither header", {}, 403],
  ["a request that its user typed", { "sec-fetch-site": "none" }, 403],
  ["another host of the site", { "sec-fetch-site": "same-site" }, 403],
  ["another site", { "sec-fetch-site": "cross-site" }, 403],
  ["another origin", { origin: "https://evil.test" }, 403],
  ["metadata in place of headers", { "grpc-metadata-origin": SITE, "grpc-metadata-sec-fetch-site": "same-origin" }, 403],
  ["its own origin", { origin: SITE }, 200],
  ["Sec-Fetch-Site: same-origin", { "sec-fetch-site": "same-origin" }, 409],
])("with the cookie, a change by a page that sends %s", async (_, headers, status) => {
  const browser = await signedIn();
  const answer = await change(cookieOf(browser), headers);
  expect(answer.status).toBe(status);
});

test("with the cookie, the response to a change with neither header names the header that it needs", async () => {
  const answer = await change(cookieOf(await signedIn()), {});
  expect(await answer.json()).toMatchObject({ code: 7, message: expect.stringContaining("needs the header Origin") as string });
});

test("an expired token is renewed without a prompt while the session lasts", async () => {
  const browser = await signedIn();
  await expect.poll(async () => (await me(cookieOf(browser))).status, { timeout: 10_000, interval: 200 }).toBe(401);
  const again = await browser.get(`${SITE}/login?redirect_url=/console/x`);
  expect([again.status, again.headers.get("location")]).toEqual([307, `${SITE}/console/x`]);
  expect((await me(cookieOf(browser))).status).toBe(200);
  await database.db.query({ text: "DELETE FROM issuer_state WHERE kind = 'RefreshToken'" });
  await expect.poll(async () => (await me(cookieOf(browser))).status, { timeout: 10_000, interval: 200 }).toBe(401);
  expect((await browser.get(`${SITE}/login`)).headers.get("location")).toContain("/oauth2/authorize?");
});

test("a revoked session identifies no user, and its browser must sign in again", async () => {
  const browser = await signedIn("bob");
  expect((await me(cookieOf(browser))).status).toBe(200);
  const text = "INSERT INTO token_revocations (issuer, subject, not_before) VALUES ('', 'bob', $1)";
  await database.db.query({ text, values: [new Date(Date.now() + 1_000)] });
  await expect.poll(async () => (await me(cookieOf(browser))).status, { timeout: 30_000, interval: 200 }).toBe(401);
  expect((await browser.get(`${SITE}/login`)).headers.get("location")).toContain("/oauth2/authorize?");
});

test("cookies are inaccessible to scripts, and the database does not contain their values", async () => {
  const answer = await fetch(`${base()}/login`, { redirect: "manual" });
  expect(answer.headers.getSetCookie()[0]).toMatch(/^flyte_sign_in=[^;]+; Path=\/callback; Max-Age=600; HttpOnly; SameSite=Lax$/);
  const browser = await signedIn();
  const { rows } = await database.db.query<{ text: string }>({ text: "SELECT json_agg(s)::text AS text FROM browser_sessions s" });
  expect(rows[0]?.text).not.toContain(browser.cookies.get("flyte_session"));
  const sealed = encryptSession("a".repeat(43), { secret: 1 });
  expect(sealed.toString("latin1")).not.toContain("secret");
  expect(decryptSession("a".repeat(43), sealed)).toEqual({ secret: 1 });
  expect(() => decryptSession("b".repeat(43), sealed)).toThrow(/authenticate/);
});

test("a script whose session cannot be renewed begins no sign-in", async () => {
  const answer = await fetch(`${base()}/login`, { redirect: "manual", headers: { "sec-fetch-dest": "empty" } });
  expect([answer.status, answer.headers.get("set-cookie"), answer.headers.get("location")]).toEqual([204, null, null]);
});

test("a callback that this browser did not begin is refused", async () => {
  const browser = browserOf({ site: SITE, base: base() });
  expect((await browser.get(`${SITE}/callback?code=x&state=y`)).status).toBe(400);
  await browser.get(`${SITE}/login`);
  expect((await browser.get(`${SITE}/callback?code=x&state=y`)).status).toBe(400);
  const state = (await browser.get(`${SITE}/login`)).headers.get("location") ?? "";
  const failed = await browser.get(`${SITE}/callback?code=x&state=${new URL(state).searchParams.get("state")}`);
  expect(failed.status).toBe(502);
  expect(await failed.text()).toContain("returned no token");
  const error = await browser.get(`${SITE}/callback?error=<script>&state=${new URL(state).searchParams.get("state")}`);
  expect(await error.text()).not.toContain("<script>");
});

const rules = { publicUrl: "https://flyte.test", allowedOrigins: ["https://console.test"] };

test.each([
  ["/console", "https://flyte.test/console"],
  ["https://flyte.test/a?b=c#d", "https://flyte.test/a?b=c#d"],
  ["https://console.test/x", "https://console.test/x"],
])("a redirect back to %s is permitted", (wanted, target) => {
  expect(allowedRedirect(wanted, rules)).toBe(target);
});

test.each([
  "https://evil.test/",
  "//evil.test/",
  "/\\evil.test",
  "\\\\evil.test",
  "https://flyte.test@evil.test/",
  "https://flyte.test.evil.test/",
  "http://flyte.test/",
  "https://flyte.test:444/",
  "javascript:alert(1)",
  "data:text/html,x",
  "/\t/evil.test",
  "https://a:b@flyte.test/",
])("a redirect to %j is refused", (wanted) => {
  expect(allowedRedirect(wanted, rules)).toBeUndefined();
});

test.each(["/login", "/logout"])("%s redirects to no other site", async (path) => {
  const answer = await fetch(`${base()}${path}?redirect_url=https://evil.test/`, { redirect: "manual" });
  expect([answer.status, answer.headers.get("location")]).toEqual([400, null]);
});
