import { createHmac } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { AdminService } from "@flyte-ts/idl/flyteidl/service/admin_pb";
import { Health } from "@flyte-ts/idl/grpc/health/v1/health_pb";
import { ServerReflection } from "@flyte-ts/idl/grpc/reflection/v1/reflection_pb";
import { Code, codeName, createClient, RpcError } from "@flyte-ts/rpc";
import { signToken, type TokenIssuer, tokenIssuer } from "@flyte-ts/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { adminConfigSchema } from "../../config.js";
import { type AdminDatabase, adminDatabase } from "../../database.fixture.js";
import { type ServedAdmin, serveAdmin } from "../../served-admin.fixture.js";

// Sends each kind of token to a running admin over each kind of access: a call, a stream, REST, a
// plain path, and a change.
const AUDIENCE = "https://flyte.test";
let database: AdminDatabase;
let idp: TokenIssuer;
let elsewhere: TokenIssuer;
let admin: ServedAdmin;
let fetched: string[];
let decoy: ReturnType<typeof createServer>;
beforeAll(async () => {
  [database, idp, elsewhere] = await Promise.all([adminDatabase(), tokenIssuer(), tokenIssuer()]);
  fetched = [];
  decoy = createServer((request, response) => {
    fetched.push(request.url ?? "");
    response.end("{}");
  });
  await new Promise<void>((resolve) => decoy.listen(0, "127.0.0.1", resolve));
  const providers = [{ issuer: idp.issuer, requiredScopes: ["all"] }];
  const auth = { mode: "required", publicUrl: AUDIENCE, providers, roles: [{ subject: "root", role: "admin" }] };
  admin = await serveAdmin({ db: database.db, config: adminConfigSchema.parse({ auth }) });
});
afterAll(async () => {
  await admin.stop();
  decoy.close();
  await Promise.all([database.stop(), idp.stop(), elsewhere.stop()]);
});

const seconds = () => Math.floor(Date.now() / 1000);
const claims = (changes: object = {}) => ({
  iss: idp.issuer,
  aud: AUDIENCE,
  sub: "root",
  scope: "all",
  iat: seconds(),
  exp: seconds() + 600,
  ...changes,
});
const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
const good = (changes: object = {}, header: object = {}) =>
  idp.token(claims(changes) as Record<string, unknown>, header as Record<string, unknown>);
const baitUrl = () => `http://127.0.0.1:${(decoy.address() as AddressInfo).port}/keys`;

function byHmac(alg: string, secret: string | Buffer): string {
  const text = `${part({ alg, kid: idp.key.kid })}.${part(claims())}`;
  return `${text}.${createHmac("sha256", secret).update(text).digest("base64url")}`;
}

const publicKey = (type: "pem" | "der" | "jwk") => {
  const key = idp.key.publicKey;
  if (type === "jwk") return JSON.stringify(key.export({ format: "jwk" }));
  return type === "pem" ? key.export({ format: "pem", type: "spki" }) : key.export({ format: "der", type: "spki" });
};

const REFUSED: readonly (readonly [string, () => string | undefined])[] = [
  ["no token", () => undefined],
  ["an empty token", () => ""],
  ["expired", () => good({ exp: seconds() - 60 })],
  ["without an expiry", () => good({ exp: undefined })],
  ["not valid yet", () => good({ nbf: seconds() + 600 })],
  ["for another audience", () => good({ aud: "https://other.test" })],
  ["for an audience with ours as its prefix", () => good({ aud: `${AUDIENCE}.evil.test` })],
  ["without an audience", () => good({ aud: undefined })],
  ["of another issuer, signed with the right key", () => good({ iss: "https://evil.test" })],
  ["of another existing issuer, signed with its own key", () => elsewhere.token(claims({ iss: elsewhere.issuer }))],
  ["of the right issuer, signed with another's key", () => elsewhere.token(claims(), { kid: idp.key.kid })],
  ["without the scope", () => good({ scope: "offline" })],
  ["with a scope with ours as its prefix", () => good({ scope: "all-but-one" })],
  ["without any scope", () => good({ scope: undefined })],
  ["algorithm none", () => `${part({ alg: "none" })}.${part(claims())}.`],
  ["algorithm None", () => `${part({ alg: "None" })}.${part(claims())}.`],
  ["algorithm none, with a signature", () => `${part({ alg: "none" })}.${part(claims())}.${good().split(".")[2]}`],
  ["without its signature", () => `${good().split(".").slice(0, 2).join(".")}.`],
  ["two parts", () => good().split(".").slice(0, 2).join(".")],
  ["HS256 with the public key as PEM", () => byHmac("HS256", publicKey("pem") as string)],
  ["HS256 with the public key as DER", () => byHmac("HS256", publicKey("der") as Buffer)],
  ["HS256 with the public key as JWK", () => byHmac("HS256", publicKey("jwk") as string)],
  ["HS256 with an empty key", () => byHmac("HS256", "")],
  ["RS256 with an HMAC signature", () => byHmac("RS256", publicKey("pem") as string)],
  ["a changed payload", () => good().replace(/\.[^.]+\./, `.${part(claims({ sub: "root", groups: ["x"] }))}.`)],
  ["a public key in the header", () => elsewhere.token(claims(), { jwk: elsewhere.key.publicKey.export({ format: "jwk" }) })],
  ["a key set URL in the header", () => signToken({ alg: "RS256", kid: "x", jku: baitUrl(), x5u: baitUrl() }, claims(), elsewhere.key)],
  ["a kid that is a path", () => signToken({ alg: "RS256", kid: "../../../../dev/null" }, claims(), elsewhere.key)],
  ["an unknown critical header", () => good({}, { crit: ["exp"] })],
  ["a logout token", () => good({}, { typ: "logout+jwt" })],
  ["without a subject", () => good({ sub: undefined })],
];

async function codeOf(call: Promise<unknown>): Promise<string> {
  try {
    await call;
    return "OK";
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    return codeName(error.code);
  }
}

async function* one<Value>(value: Value): AsyncGenerator<Value> {
  yield value;
}

async function first(answers: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of answers) return;
}

/** Returns the status code of each kind of access. */
async function answersTo(token: string | undefined): Promise<Record<string, string>> {
  const metadata: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const client = createClient({ channel: admin.channel, service: AdminService });
  const reflection = createClient({ channel: admin.channel, service: ServerReflection });
  const listing = one({ messageRequest: { case: "listServices" as const, value: "" } });
  const http = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(`http://127.0.0.1:${admin.port}${path}`, {
      ...init,
      headers: { ...metadata, "content-type": "application/json" },
    });
    await response.arrayBuffer();
    return response.status === 401 ? "UNAUTHENTICATED" : response.ok ? "OK" : String(response.status);
  };
  return {
    call: await codeOf(client.listProjects({}, { metadata })),
    change: await codeOf(client.updateProject({ id: "flytesnacks", name: "flytesnacks" }, { metadata })),
    stream: await codeOf(first(reflection.serverReflectionInfo(listing, { metadata }))),
    rest: await http("/api/v1/projects"),
    "rest change": await http("/api/v1/projects/flytesnacks", { method: "PUT", body: '{"name":"flytesnacks"}' }),
    plain: await http("/api/v1/openapi"),
  };
}

const every = (code: string) => ({ call: code, change: code, stream: code, rest: code, "rest change": code, plain: code });

test("a valid token is accepted by every endpoint", async () => {
  expect(await answersTo(good())).toEqual(every("OK"));
});

test.each(REFUSED)("%s is UNAUTHENTICATED at every endpoint", async (_, token) => {
  expect(await answersTo(token())).toEqual(every("UNAUTHENTICATED"));
});

test("URLs in tokens are not fetched, and tokens in a query or a cookie are ignored", async () => {
  expect(fetched).toEqual([]);
  const url = `http://127.0.0.1:${admin.port}/api/v1/projects?access_token=${good()}&authorization=Bearer%20${good()}`;
  expect((await fetch(url)).status).toBe(401);
  expect((await fetch(url, { headers: { cookie: `flyte_idt=${good()}; authorization=${good()}` } })).status).toBe(401);
});

test("a health check without a token returns the serving status and nothing else", async () => {
  const health = createClient({ channel: admin.channel, service: Health });
  for await (const { status } of health.watch({ service: "" })) {
    expect(status).toBe(1);
    break;
  }
  for await (const { status } of health.watch({ service: "flyteidl.service.AdminService" })) {
    expect(status).toBe(3);
    break;
  }
  await expect(health.check({ service: "x" })).rejects.toMatchObject({ code: Code.NOT_FOUND });
});
