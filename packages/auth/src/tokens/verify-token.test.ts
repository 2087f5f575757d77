import { createHmac } from "node:crypto";
import { Code, RpcError } from "@flyte-ts/rpc";
import { signToken, type TokenIssuer, tokenIssuer } from "@flyte-ts/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createProvider } from "./oidc-discovery.js";
import { tokenFromMetadata } from "./token-from-metadata.js";
import { createVerifier, type VerifyToken } from "./verify-token.js";

const AUDIENCE = "https://flyte.test";
let idp: TokenIssuer;
let verify: VerifyToken;
let now = 0;
const clock = () => new Date(Date.now() + now);
beforeEach(async () => {
  now = 0;
  idp = await tokenIssuer({ audience: AUDIENCE });
  verify = verifierOf({ requiredScopes: [] });
});
afterEach(() => idp.stop());

function verifierOf({
  requiredScopes,
  cooldownMs = 0,
  cacheTtlMs = 0,
}: {
  requiredScopes: string[];
  cooldownMs?: number;
  cacheTtlMs?: number;
}): VerifyToken {
  const { keys } = createProvider({ issuer: idp.issuer, clock, cooldownMs });
  return createVerifier({
    issuers: [{ issuer: idp.issuer, audience: [AUDIENCE], keys, requiredScopes, groupsClaim: "groups" }],
    clock,
    cacheTtlMs,
  });
}

async function refusalOf(token: string): Promise<RpcError> {
  const error: unknown = await verify(token).catch((thrown: unknown) => thrown);
  if (!(error instanceof RpcError)) throw new Error(`accepted, or failed otherwise: ${String(error)}`);
  const leaked = token.split(".").filter((part) => part.length > 8 && error.message.includes(part));
  expect(leaked).toEqual([]);
  return error;
}

const seconds = () => Math.floor(Date.now() / 1000);

test("a token of the issuer identifies the caller", async () => {
  const identity = await verify(idp.token({ sub: "ann", client_id: "flytectl", scope: "all offline", groups: ["g1", "g2"] }));
  expect(identity).toMatchObject({ subject: "ann", clientId: "flytectl", scopes: ["all", "offline"], groups: ["g1", "g2"] });
  expect((await verify(idp.token({ sub: undefined, azp: "service" }))).subject).toBe("service");
  expect((await verify(idp.token({ aud: ["other", AUDIENCE] }, { typ: "at+jwt" }))).subject).toBe("someone");
  idp.rotate({ algorithm: "ES256" });
  expect((await verify(idp.token())).subject).toBe("someone");
});

test.each([
  ["expired", { exp: 1_000 }, /expired/],
  ["without an expiry", { exp: undefined }, /claim exp/],
  ["with an expiry that is not a time", { exp: "tomorrow" }, /./],
  ["not yet valid", { nbf: seconds() + 3_600 }, /not valid yet/],
  ["of another issuer", { iss: "https://evil.test" }, /issuer/],
  ["without an issuer", { iss: undefined }, /issuer/],
  ["for another audience", { aud: "https://other.test" }, /audience/],
  ["without an audience", { aud: undefined }, /audience/],
  ["without a subject or client", { sub: undefined }, /neither a subject nor a client/],
  ["of an empty subject", { sub: "" }, /neither a subject nor a client/],
])("a token %s is UNAUTHENTICATED with the reason", async (_, claims, reason) => {
  const error = await refusalOf(idp.token(claims));
  expect(error.code).toBe(Code.UNAUTHENTICATED);
  expect(error.message).toMatch(reason);
});

const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
const payload = () => ({ iss: idp.issuer, aud: AUDIENCE, sub: "someone", exp: seconds() + 600 });

test.each<[string, () => string, RegExp]>([
  ["no signature at all", () => `${part({ alg: "none" })}.${part(payload())}.`, /./],
  ["an HMAC with the public key as its secret", () => hmac("RS256"), /signature/],
  ["an HMAC with the public key as its secret and alg HS256", () => hmac("HS256"), /RS256/],
  ["another key under a known key id", () => forged(), /signature/],
  ["a changed payload", () => idp.token().replace(/\.[^.]+\./, `.${part({ ...payload(), sub: "root" })}.`), /signature/],
  ["a key that is not published", () => idp.token({}, { kid: "nosuch" }), /does not publish/],
  ["a logout token", () => idp.token({}, { typ: "logout+jwt" }), /access token/],
  ["an unknown critical header", () => idp.token({}, { crit: ["x"], x: 1 }), /./],
  ["no token", () => "abc", /JSON Web Token/],
  ["a token that is too long", () => idp.token({ long: "x".repeat(20_000) }), /too long/],
])("%s is UNAUTHENTICATED", async (_, token, reason) => {
  const error = await refusalOf(token());
  expect(error.code).toBe(Code.UNAUTHENTICATED);
  expect(error.message).toMatch(reason);
});

function hmac(alg: string): string {
  const text = `${part({ alg, kid: idp.key.kid })}.${part(payload())}`;
  const secret = idp.key.publicKey.export({ format: "pem", type: "spki" });
  return `${text}.${createHmac("sha256", secret).update(text).digest("base64url")}`;
}

function forged(): string {
  const { kid } = idp.key;
  return signToken({ alg: "RS256", kid }, payload(), idp.rotate({ keep: true }));
}

test("scopes are read from a list or a string, in the claim scope or scp", async () => {
  verify = verifierOf({ requiredScopes: ["all"] });
  for (const claims of [{ scope: "offline all" }, { scp: ["offline", "all"] }, { scp: "all offline" }, { scope: ["all"] }]) {
    expect((await verify(idp.token(claims))).scopes).toContain("all");
  }
  expect((await refusalOf(idp.token({ scope: "offline" }))).message).toMatch(/scope "all"/);
});

test("a new signing key is accepted at once, and an old one until it is no longer published", async () => {
  const before = idp.token();
  await verify(before);
  idp.rotate();
  await verify(idp.token());
  await verify(before);
  const last = idp.token();
  idp.rotate({ keep: false });
  await verify(idp.token());
  expect((await refusalOf(last)).message).toMatch(/does not publish/);
});

test("repeated tokens with unknown keys do not cause repeated requests to the issuer", async () => {
  verify = verifierOf({ requiredScopes: [], cooldownMs: 60_000 });
  await verify(idp.token());
  for (let i = 0; i < 20; i++) await refusalOf(idp.token({}, { kid: `made-up-${i}` }));
  expect(idp.keyRequests()).toBe(1);
});

test("an accepted token is cached until it expires and no longer", async () => {
  verify = verifierOf({ requiredScopes: [], cacheTtlMs: 3_600_000 });
  const token = idp.token({ exp: seconds() + 100 });
  await verify(token);
  idp.rotate({ keep: false });
  await verify(token);
  now = 110_000;
  expect((await refusalOf(token)).message).toMatch(/expired/);
});

test("an issuer that does not answer is UNAVAILABLE", async () => {
  const token = idp.token();
  await idp.stop();
  expect((await refusalOf(token)).code).toBe(Code.UNAVAILABLE);
  idp = await tokenIssuer();
});

test("metadata that name another issuer are refused", async () => {
  const url = `${idp.issuer}/.well-known/openid-configuration`;
  await expect(createProvider({ issuer: "http://other.test", metadataUrl: url, clock }).metadata()).rejects.toThrow(/has issuer/);
  await expect(createProvider({ issuer: "https://other.test", metadataUrl: url, clock }).metadata()).rejects.toThrow(/https/);
});

test("keys are fetched from the configured address while the issuer is unreachable", async () => {
  const issuer = "https://flyte.invalid";
  const { keys } = createProvider({ issuer, keysUrl: `${idp.issuer}/jwks`, clock });
  verify = createVerifier({
    issuers: [{ issuer, audience: [AUDIENCE], keys, requiredScopes: [], groupsClaim: "groups" }],
    clock,
    cacheTtlMs: 0,
  });
  expect((await verify(idp.token({ iss: issuer, sub: "ann" }))).subject).toBe("ann");
  expect((await refusalOf(idp.token({ sub: "ann" }))).code).toBe(Code.UNAUTHENTICATED);
});

test("the token is read from the configured metadata key, otherwise from authorization", () => {
  const of = (values: Record<string, string>) => tokenFromMetadata({ get: (name) => values[name] }, "flyte-authorization");
  expect(of({ authorization: "Bearer a.b.c" })).toEqual({ scheme: "bearer", token: "a.b.c" });
  expect(of({ "flyte-authorization": "bearer x", authorization: "Bearer y" })).toEqual({ scheme: "bearer", token: "x" });
  expect(of({ authorization: "IDToken a.b.c" })).toEqual({ scheme: "id", token: "a.b.c" });
  expect(of({})).toBeUndefined();
  for (const value of ["Basic abc", "Bearer", "Bearer a b", "IDToken", "IDTokenx y", "Bearer é"]) {
    expect(() => of({ authorization: value })).toThrow(expect.objectContaining({ code: Code.UNAUTHENTICATED }));
  }
});
