import { createHmac } from "node:crypto";
import { create, type DescMethod } from "@bufbuild/protobuf";
import { TokenService } from "@flyte-ts/idl/flytets/admin/v1/access_pb";
import { restCalls, signToken, type TokenIssuer, tokenIssuer } from "@flyte-ts/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Attacker, openAttacker } from "../attacker.fixture.js";
import { AUDIENCE, METHODS, OPEN_METHODS, startVictim, type Victim } from "../victim.fixture.js";

// Calls every method with each kind of invalid token, by gRPC and by each REST route.
let victim: Victim;
let attacker: Attacker;
let elsewhere: TokenIssuer;
let revoked: string;
beforeAll(async () => {
  [victim, elsewhere] = await Promise.all([startVictim(), tokenIssuer({ audience: AUDIENCE })]);
  attacker = openAttacker(victim.admin.api);
  revoked = victim.tokenOf("left");
  await victim.clientFor("root", TokenService).revokeTokens({ subject: "left", issuer: victim.issuer.issuer });
});
afterAll(async () => {
  attacker?.close();
  await victim?.stop();
  await elsewhere?.stop();
});

const seconds = () => Math.floor(Date.now() / 1000);
const claims = (changes: object = {}) => ({
  iss: victim.issuer.issuer,
  aud: AUDIENCE,
  sub: "root",
  iat: seconds(),
  exp: seconds() + 600,
  ...changes,
});
const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
const validToken = (changes: Readonly<Record<string, unknown>> = {}) => victim.tokenOf("root", changes);

/** A token signed by HMAC with the issuer's public key as the secret (algorithm confusion). */
function confusedAlgorithm(alg: string): string {
  const { kid, publicKey } = victim.issuer.key;
  const text = `${encoded({ alg, kid })}.${encoded(claims())}`;
  return `${text}.${createHmac("sha256", publicKey.export({ format: "pem", type: "spki" }))
    .update(text)
    .digest("base64url")}`;
}

const KINDS: readonly (readonly [string, () => string | undefined])[] = [
  ["no token", () => undefined],
  ["an empty token", () => ""],
  ["random text", () => "not-a-token"],
  ["algorithm none", () => `${encoded({ alg: "none" })}.${encoded(claims())}.`],
  ["a public key used as an HMAC secret", () => confusedAlgorithm("HS256")],
  ["an HMAC that claims to be RS256", () => confusedAlgorithm("RS256")],
  ["another issuer's key under the right key id", () => elsewhere.token(claims(), { kid: victim.issuer.key.kid })],
  ["an issuer that is not accepted", () => elsewhere.token(claims({ iss: elsewhere.issuer }))],
  ["another audience", () => validToken({ aud: "https://other.test" })],
  ["expired", () => validToken({ exp: seconds() - 60 })],
  ["no expiry", () => validToken({ exp: undefined })],
  ["not valid yet", () => validToken({ nbf: seconds() + 600 })],
  ["a revoked token, replayed", () => revoked],
  ["no signature", () => `${validToken().split(".").slice(0, 2).join(".")}.`],
  ["a logout token", () => signToken({ alg: "RS256", kid: victim.issuer.key.kid, typ: "logout+jwt" }, claims(), victim.issuer.key)],
  ["100,000 characters", () => "x".repeat(100_000)],
];

const GUARDED = METHODS.filter(({ name }) => !OPEN_METHODS.includes(name));
const pathOf = ({ parent, name }: DescMethod) => `/${parent.typeName}/${name}`;

async function responseCodes(method: DescMethod, token: string | undefined): Promise<string[]> {
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const rest = restCalls(method, create(method.input)).map(async (call) => {
    const { status } = await attacker.http({ ...call, headers: { "content-type": "application/json", ...headers } });
    return `${call.method} ${status}`;
  });
  return Promise.all([attacker.grpc({ path: pathOf(method), headers }), ...rest]);
}

test("a valid token is accepted", async () => {
  const headers = { authorization: `Bearer ${validToken()}` };
  expect(await attacker.grpc({ path: "/flyteidl.service.AdminService/ListProjects", headers })).toBe("OK");
  expect((await attacker.http({ method: "GET", path: "/api/v1/projects", headers })).status).toBe(200);
});

describe.each(KINDS)("%s", (kind, token) => {
  test.each(GUARDED.map((method) => [pathOf(method), method] as const))("%s", async (_, method) => {
    const refused =
      kind === "100,000 characters" ? /^(UNAUTHENTICATED|CLOSED|RESOURCE_EXHAUSTED|[A-Z]+ (401|431|0))$/ : /^(UNAUTHENTICATED|[A-Z]+ 401)$/;
    for (const answer of await responseCodes(method, token())) expect(answer).toMatch(refused);
  });
});
