import { createHash, randomBytes } from "node:crypto";
import { mkdtempSync, openSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClientToken } from "@flyte-ts/auth";
import { AdminService } from "@flyte-ts/idl/flyteidl/service/admin_pb";
import { AuthMetadataService } from "@flyte-ts/idl/flyteidl/service/auth_pb";
import { Code, createClient } from "@flyte-ts/rpc";
import { createLogger } from "@flyte-ts/telemetry";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { adminConfigSchema } from "../../config.js";
import { type AdminDatabase, adminDatabase } from "../../database.fixture.js";
import { type ServedAdmin, serveAdmin } from "../../served-admin.fixture.js";
import { browserOf } from "./browser.fixture.js";
import { putServiceClient } from "../store/issuer-clients.js";
import { addSigningKey, dropSigningKeys } from "../store/issuer-keys.js";
import { hashPassword, verifyPassword } from "./password.js";

const SITE = "http://flyte.test";
const REDIRECT = "http://localhost:53593/callback";
const PASSWORD = "correct horse battery";

let database: AdminDatabase;
/** Two replicas: one starts a login, the other completes it. */
let admins: ServedAdmin[] = [];
const folder = mkdtempSync(join(tmpdir(), "flyte-ts-test-issuer-"));
const logFile = join(folder, "log");
beforeAll(async () => {
  database = await adminDatabase();
  const roles = [{ group: "makers", role: "contributor", project: "flytesnacks" }];
  const auth = { mode: "required", publicUrl: `${SITE}/`, builtIn: { secretsFolder: join(folder, "secrets") }, roles };
  const config = adminConfigSchema.parse({ auth });
  const logger = createLogger({ service: "test", level: "trace", fd: openSync(logFile, "w") });
  admins = await Promise.all([serveAdmin({ db: database.db, config, logger }), serveAdmin({ db: database.db, config, logger })]);
  await database.db.query({
    text: `INSERT INTO issuer_users (name, password_hash, display_name, groups, created_at) VALUES ('ann', $1, 'Ann A', '{makers}', now())`,
    values: [await hashPassword(PASSWORD)],
  });
});
afterAll(async () => {
  await Promise.all(admins.map((each) => each.stop()));
  await database.stop();
  rmSync(folder, { recursive: true });
});

let turn = 0;
/** Alternates between the replicas. */
const baseUrl = () => `http://127.0.0.1:${admins[turn++ % 2]?.port}`;
const secretOf = (name: string) => readFileSync(join(folder, "secrets", name), "utf8");

interface Tokens {
  readonly access_token: string;
  readonly refresh_token?: string;
  readonly expires_in: number;
  readonly error?: string;
}

async function tokenRequest(
  form: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ status: number; body: Tokens }> {
  const response = await fetch(`${baseUrl()}/oauth2/token`, { method: "POST", body: new URLSearchParams(form), headers });
  return { status: response.status, body: (await response.json()) as Tokens };
}

const list = (token: string, project = "flytesnacks") =>
  createClient({ channel: (admins[turn++ % 2] as ServedAdmin).channel, service: AdminService }).listTasks(
    { id: { project, domain: "development" }, limit: 1 },
    { metadata: { "flyte-authorization": `Bearer ${token}` } },
  );

/** URL with which flytekit begins a login, including unneeded scopes and an audience. */
function authorizeUrl(verifier: string, changes: Record<string, string> = {}): string {
  const query = new URLSearchParams({
    client_id: "flytectl",
    response_type: "code",
    scope: "all offline",
    redirect_uri: REDIRECT,
    state: "state-1",
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
    ...changes,
  });
  return `${SITE}/oauth2/authorize?${query.toString()}`;
}

async function signIn(verifier: string, password = PASSWORD): Promise<URL> {
  const browser = browserOf({ site: SITE, base: baseUrl() });
  const page = await browser.follow(authorizeUrl(verifier));
  expect(await page.response.text()).toContain('name="password"');
  const answer = await browser.post(page.url, { name: "ann", password });
  if (answer.status === 403) throw new Error(await answer.text());
  return new URL((await browser.follow(answer.headers.get("location") ?? "")).url);
}

const exchange = (code: string, verifier: string) =>
  tokenRequest({
    grant_type: "authorization_code",
    code,
    code_verifier: verifier,
    client_id: "flytectl",
    redirect_uri: REDIRECT,
    // flytekit repeats all earlier parameters.
    response_type: "code",
    scope: "all offline",
    state: "state-1",
    code_challenge: "x",
    code_challenge_method: "S256",
  });

test("a user signs in with PKCE and exchanges each refresh token once", async () => {
  const verifier = randomBytes(40).toString("base64url");
  const back = await signIn(verifier);
  expect(back.href.startsWith(REDIRECT)).toBe(true);
  expect(back.searchParams.get("state")).toBe("state-1");
  const code = back.searchParams.get("code") ?? "";
  expect((await exchange(code, "x".repeat(50))).body.error).toBe("invalid_grant");
  const { status, body } = await exchange((await signIn(verifier)).searchParams.get("code") ?? "", verifier);
  expect(status).toBe(200);
  expect(body.expires_in).toBe(1_800);
  await list(body.access_token);
  await expect(list(body.access_token, "other")).rejects.toMatchObject({ code: Code.PERMISSION_DENIED });
  const refresh = (token: string) => tokenRequest({ grant_type: "refresh_token", refresh_token: token, client_id: "flytectl" });
  const next = await refresh(body.refresh_token ?? "");
  expect(next.status).toBe(200);
  await list(next.body.access_token);
  expect((await refresh(body.refresh_token ?? "")).body.error).toBe("invalid_grant");
  const who = await fetch(`${baseUrl()}/me`, { headers: { authorization: `Bearer ${next.body.access_token}` } });
  expect(await who.json()).toMatchObject({
    subject: "ann",
    name: "Ann A",
    preferredUsername: "ann",
    additionalClaims: { groups: ["makers"] },
  });
});

test("a nonce in a request without an ID token, as flytectl sends it, is accepted", async () => {
  const browser = browserOf({ site: SITE, base: baseUrl() });
  const page = await browser.follow(authorizeUrl(randomBytes(40).toString("base64url"), { nonce: "bm9uY2U" }));
  expect(await page.response.text()).toContain('name="password"');
});

test("a code is valid once and only for the registered redirect URI", async () => {
  const verifier = randomBytes(40).toString("base64url");
  const code = (await signIn(verifier)).searchParams.get("code") ?? "";
  const { body } = await exchange(code, verifier);
  expect((await exchange(code, verifier)).body.error).toBe("invalid_grant");
  expect(
    (await tokenRequest({ grant_type: "refresh_token", refresh_token: body.refresh_token ?? "", client_id: "flytectl" })).body.error,
  ).toBe("invalid_grant");
  const browser = browserOf({ site: SITE, base: baseUrl() });
  const unregistered: Record<string, string>[] = [{ redirect_uri: "https://evil.test/callback" }, { client_id: "nosuch" }];
  for (const changes of unregistered) {
    const { url, response } = await browser.follow(authorizeUrl(verifier, changes));
    expect([url.startsWith(SITE), response.status]).toEqual([true, 400]);
  }
  const unproven = await browser.follow(authorizeUrl(verifier, { code_challenge: "" }));
  expect(unproven.url).toContain("error=invalid_request");
});

test("a signed-in user must consent before another program gets a token", async () => {
  const verifier = randomBytes(40).toString("base64url");
  const browser = browserOf({ site: SITE, base: baseUrl() });
  const { url } = await browser.follow(authorizeUrl(verifier));
  const answer = await browser.post(url, { name: "ann", password: PASSWORD });
  expect((await browser.follow(answer.headers.get("location") ?? "")).url.startsWith(REDIRECT)).toBe(true);
  const again = await browser.follow(authorizeUrl(verifier));
  expect(await again.response.text()).toMatch(/flytectl.*will act for.*ann/s);
  const agreed = await browser.post(again.url, {});
  expect((await browser.follow(agreed.headers.get("location") ?? "")).url.startsWith(REDIRECT)).toBe(true);
});

test("a wrong password is refused, and after ten failures further attempts are refused unchecked", async () => {
  const verifier = randomBytes(40).toString("base64url");
  await expect(signIn(verifier, "wrong")).rejects.toThrow(/Name or password is wrong/);
  const base = baseUrl();
  const browser = browserOf({ site: SITE, base });
  const { url } = await browser.follow(authorizeUrl(verifier));
  const statuses: number[] = [];
  for (let i = 0; i < 11; i++) statuses.push((await browser.post(url, { name: "<b>nobody", password: "x" })).status);
  expect(statuses.slice(0, 10)).toEqual(Array(10).fill(403));
  expect(statuses[10]).toBe(429);
  const elsewhere = await browserOf({ site: SITE, base }).get(url);
  expect(elsewhere.status).toBe(400);
}, 60_000);

test("service clients have secrets of their own, stored only in files", async () => {
  expect(readdirSync(join(folder, "secrets")).sort()).toEqual(["flytedatacatalog", "flyteplugins", "flytepropeller", "flytescheduler"]);
  expect(statSync(join(folder, "secrets", "flytepropeller")).mode & 0o777).toBe(0o600);
  const client = (secret: string) =>
    createClientToken({
      clientId: "flytepropeller",
      secret: async () => secret,
      tokenEndpoint: async () => `${baseUrl()}/oauth2/token`,
      scopes: ["all"],
      audience: SITE,
      clock: () => new Date(),
    });
  const token = await client(secretOf("flytepropeller")).current();
  await list(token);
  await expect(client("propeller-secret").current()).rejects.toMatchObject({ code: Code.UNAUTHENTICATED });
  await expect(client(secretOf("flytescheduler")).current()).rejects.toMatchObject({ code: Code.UNAUTHENTICATED });
  const { rows } = await database.db.query<{ all: string }>({ text: "SELECT json_agg(c)::text AS all FROM issuer_clients c" });
  expect(rows[0]?.all).not.toContain(secretOf("flytepropeller"));
  const before = secretOf("flytepropeller");
  const after = await putServiceClient(database.db, "flytepropeller", () => new Date());
  await expect(client(before).current()).rejects.toMatchObject({ code: Code.UNAUTHENTICATED });
  await list(await client(after).current());
});

test("a device is signed in by a user in a browser", async () => {
  const begun = await fetch(`${baseUrl()}/oauth2/device_authorization`, {
    method: "POST",
    body: new URLSearchParams({ client_id: "flytectl", scope: "all offline", audience: SITE }),
  });
  const device = (await begun.json()) as {
    device_code: string;
    user_code: string;
    verification_uri: string;
    interval: number;
    expires_in: number;
  };
  expect(device).toMatchObject({ verification_uri: `${SITE}/oauth2/device`, interval: 5, expires_in: 600 });
  const poll = () =>
    tokenRequest({ grant_type: "urn:ietf:params:oauth:grant-type:device_code", device_code: device.device_code, client_id: "flytectl" });
  expect((await poll()).body.error).toBe("authorization_pending");
  const browser = browserOf({ site: SITE, base: baseUrl() });
  const submit = async (html: string, more: Record<string, string>) => {
    const fields = [...html.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)].map(([, name = "", value = ""]) => [
      name,
      value,
    ]);
    return browser.post(`${SITE}/oauth2/device`, { ...Object.fromEntries(fields), ...more });
  };
  const page = await submit(await (await browser.get(`${SITE}/oauth2/device`)).text(), { user_code: device.user_code });
  const confirmed = await submit(await page.text(), { user_code: device.user_code, confirm: "yes" });
  const login = await browser.follow(confirmed.headers.get("location") ?? "");
  const answer = await browser.post(login.url, { name: "ann", password: PASSWORD });
  expect(await (await browser.follow(answer.headers.get("location") ?? "")).response.text()).toContain("The device is signed in");
  const { status, body } = await poll();
  expect(status).toBe(200);
  await list(body.access_token);
});

test("signing keys are rotated while tokens of the old key stay valid", async () => {
  const verifier = randomBytes(40).toString("base64url");
  const { body } = await exchange((await signIn(verifier)).searchParams.get("code") ?? "", verifier);
  await addSigningKey(database.db, new Date());
  await list(body.access_token);
  // A new replica signs with the new key; the others accept it before they have loaded it.
  const { config } = (admins[0] as ServedAdmin).deps;
  const third = await serveAdmin({ db: database.db, config });
  try {
    const client = createClientToken({
      clientId: "flytescheduler",
      secret: async () => secretOf("flytescheduler"),
      tokenEndpoint: async () => `http://127.0.0.1:${third.port}/oauth2/token`,
      clock: () => new Date(),
    });
    const token = await client.current();
    await expect.poll(() => list(token).then(() => "let in"), { timeout: 10_000 }).toBe("let in");
    const { keys } = (await (await fetch(`http://127.0.0.1:${third.port}/oauth2/jwks`)).json()) as { keys: Record<string, unknown>[] };
    expect(keys).toHaveLength(2);
    expect(Object.keys(Object.assign({}, ...keys) as object).sort()).toEqual(["alg", "e", "kid", "kty", "n", "use"]);
  } finally {
    await third.stop();
  }
  expect(await dropSigningKeys(database.db, new Date(Date.now() + 1_000))).toBe(1);
  expect(await dropSigningKeys(database.db, new Date(Date.now() + 1_000))).toBe(0);
});

test("metadata contain the configured issuer, for any Host header", async () => {
  const response = await fetch(`${baseUrl()}/.well-known/openid-configuration`, { headers: { "x-forwarded-host": "evil.test" } });
  const metadataDocument = (await response.json()) as Record<string, string>;
  const metadata = createClient({ channel: (admins[0] as ServedAdmin).channel, service: AuthMetadataService });
  const ours = await metadata.getOAuth2Metadata({});
  expect(metadataDocument).toMatchObject({
    issuer: SITE,
    authorization_endpoint: ours.authorizationEndpoint,
    token_endpoint: ours.tokenEndpoint,
    jwks_uri: ours.jwksUri,
    device_authorization_endpoint: ours.deviceAuthorizationEndpoint,
  });
  expect(ours.issuer).toBe(SITE);
  const standard = await fetch(`${baseUrl()}/.well-known/oauth-authorization-server`, { headers: { accept: "application/json" } });
  expect(await standard.json()).toMatchObject({
    issuer: SITE,
    token_endpoint: ours.tokenEndpoint,
    code_challenge_methods_supported: ["S256"],
  });
});

test("passwords are stored as scrypt hashes", async () => {
  const hash = await hashPassword("a");
  expect(hash).toMatch(/^scrypt:32768:8:3:/);
  expect(await hashPassword("a")).not.toBe(hash);
  expect(await verifyPassword("a", hash)).toBe(true);
  for (const [password, known] of [
    ["b", hash],
    ["a", ""],
    ["", ""],
    ["a", "plain:a"],
    ["a".repeat(2_000), hash],
  ] as const) {
    expect(await verifyPassword(password, known)).toBe(false);
  }
});

test("the log contains neither passwords nor secrets nor tokens", async () => {
  const text = readFileSync(logFile, "utf8");
  const { rows } = await database.db.query<{ id: string }>({ text: "SELECT id FROM issuer_state" });
  expect(rows.length).toBeGreaterThan(0);
  const secrets = [PASSWORD, secretOf("flytescheduler"), ...rows.map(({ id }) => id), "eyJ"];
  expect(secrets.filter((secret) => text.includes(secret))).toEqual([]);
});

describe("hostile requests to the issuer", () => {
  const challenge = "a".repeat(43);
  const authorize = (changes: string) =>
    `/oauth2/authorize?client_id=flytectl&response_type=code&scope=all&redirect_uri=${encodeURIComponent(REDIRECT)}&code_challenge=${challenge}&code_challenge_method=S256&${changes}`;
  const send = (path: string, form?: string, headers: Readonly<Record<string, string>> = {}) =>
    fetch(`${baseUrl()}${path}`, {
      redirect: "manual",
      headers: { ...(form !== undefined && { "content-type": "application/x-www-form-urlencoded" }), ...headers },
      ...(form !== undefined && { method: "POST", body: form }),
    });

  test.each([
    ["a state with a NUL", authorize("state=%00"), undefined],
    ["a login hint with a NUL", authorize("state=1&login_hint=a%00"), undefined],
    ["a device's login hint with a NUL", "/oauth2/device_authorization", "client_id=flytectl&scope=all&login_hint=%00"],
    ["a device form without a session", "/oauth2/device", "user_code=ABCD-EFGH&xsrf=x"],
    ["a device form with a NUL", "/oauth2/device", "user_code=%00&xsrf=%00"],
    ["an empty device form", "/oauth2/device", ""],
    ["a code with a NUL", "/oauth2/token", `grant_type=authorization_code&client_id=flytectl&code=%00&code_verifier=${challenge}`],
    ["a refresh token with a NUL", "/oauth2/token", "grant_type=refresh_token&client_id=flytectl&refresh_token=%00"],
    ["a client with a NUL", "/oauth2/token", "grant_type=client_credentials&client_id=%00&client_secret=%00"],
  ])("%s is refused as a client error", async (_, path, form) => {
    const { status, headers } = await send(path, form);
    // An authorization request of a known client is rejected by a redirect to the client (RFC 6749,
    // 4.1.2.1).
    const refused = new URL(headers.get("location") ?? REDIRECT).searchParams.get("error");
    expect(["303 invalid_request", "400 null", "401 null"]).toContain(`${status} ${refused}`);
  });

  test.each([
    ["/.well-known/openid-configuration", undefined],
    ["/oauth2/jwks", undefined],
    ["/oauth2/token", "grant_type=client_credentials"],
    ["/oauth2/device_authorization", "client_id=flytectl&scope=all"],
    ["/oauth2/revoke", "client_id=flytectl&token=x"],
  ])("pages of other origins may not read %s", async (path, form) => {
    const { status, headers } = await send(path, form);
    expect(status).toBeLessThan(500);
    expect([...headers.keys()].filter((name) => name.startsWith("access-control-"))).toEqual([]);
    expect((await send(path, form, { origin: "https://evil.example" })).status).toBe(403);
  });
});

/** Sends a request whose target is not normalized, and returns its status. */
function sendTarget(port: number | undefined, method: string, target: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    const request = httpRequest({ host: "127.0.0.1", port, method, path: target, headers }, (response) => {
      response.resume().once("end", () => resolve(response.statusCode));
    });
    request.once("error", reject).end(method === "POST" ? "client_id=flytectl&scope=all" : undefined);
  });
}

test("other spellings of the endpoints store no state, whose number per address is limited", async () => {
  const authorize = `client_id=flytectl&response_type=code&scope=all&redirect_uri=${encodeURIComponent(REDIRECT)}&code_challenge=${"c".repeat(43)}&code_challenge_method=S256`;
  const stored = async () => (await database.db.query<{ n: number }>({ text: "SELECT count(*)::int AS n FROM issuer_state" })).rows[0]?.n;
  const before = await stored();
  for (const [method, target] of [
    ["POST", "/oauth2/device_authorization/"],
    ["POST", "/oauth2/DEVICE_AUTHORIZATION"],
    ["POST", "/oauth2/device_authorization#x"],
    ["POST", "/oauth2/device_authorization\\#x"],
    ["POST", "/oauth2//device_authorization"],
    ["POST", "/oauth2/device%5Fauthorization"],
    ["POST", "/OAUTH2/device_authorization"],
    ["GET", `/oauth2/authorize/?${authorize}`],
    ["GET", `/oauth2/authorize/#?${authorize}`],
    ["GET", `/oauth2/authorize/\\..?${authorize}#`],
    ["GET", `/oauth2/Authorize?${authorize}`],
  ] as const) {
    const status = await sendTarget(admins[0]?.port, method, target);
    expect([307, 404], target).toContain(status);
  }
  expect(await stored()).toBe(before);
});

test("sign-ins from one address are limited, and those of others continue", async () => {
  const [admin] = admins;
  const url = `http://127.0.0.1:${admin?.port}/oauth2/device_authorization`;
  const begin = async () => fetch(url, { method: "POST", body: new URLSearchParams({ client_id: "flytectl", scope: "all" }) });
  const answers = [];
  for (let count = 0; count < 121; count++) answers.push(await begin());
  const refused = answers.at(-1) as Response;
  expect([refused.status, Number(refused.headers.get("retry-after")) > 0]).toEqual([429, true]);
  expect(await refused.json()).toMatchObject({ error: "temporarily_unavailable" });
  expect(await sendTarget(admin?.port, "POST", url)).toBe(429);
  // Token requests are not limited, so that services and logged-in users continue.
  const basic = Buffer.from(`flytescheduler:${secretOf("flytescheduler").trim()}`).toString("base64");
  const form = { grant_type: "client_credentials", scope: "all" };
  const response = await fetch(`http://127.0.0.1:${admin?.port}/oauth2/token`, {
    method: "POST",
    body: new URLSearchParams(form),
    headers: { authorization: `Basic ${basic}` },
  });
  expect(response.status).toBe(200);
});
