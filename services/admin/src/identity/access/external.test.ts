import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClientToken } from "@flyte-ts/auth";
import { AdminService } from "@flyte-ts/idl/flyteidl/service/admin_pb";
import { AuthMetadataService } from "@flyte-ts/idl/flyteidl/service/auth_pb";
import { Code, createClient } from "@flyte-ts/rpc";
import Provider from "oidc-provider";
import { afterAll, beforeAll, expect, test } from "vitest";
import { adminConfigSchema } from "../../config.js";
import { type AdminDatabase, adminDatabase } from "../../database.fixture.js";
import { browserOf } from "../issuer/browser.fixture.js";
import { type ServedAdmin, serveAdmin } from "../../served-admin.fixture.js";

const SITE = "http://flyte.test";
const SECRET = "a secret of the console";

let database: AdminDatabase;
let admin: ServedAdmin;
let idp: Server;
let issuer = "";
const folder = mkdtempSync(join(tmpdir(), "flyte-ts-test-external-"));

/**
 * An external identity provider, which knows admin both as a client and as a service that it issues
 * tokens for.
 */
beforeAll(async () => {
  idp = createServer();
  await new Promise<void>((resolve) => idp.listen(0, "127.0.0.1", resolve));
  issuer = `http://127.0.0.1:${(idp.address() as AddressInfo).port}`;
  const provider = new Provider(issuer, {
    clients: [
      { client_id: "robot", client_secret: "robot's secret", grant_types: ["client_credentials"], redirect_uris: [], response_types: [] },
      {
        client_id: "console",
        client_secret: SECRET,
        redirect_uris: [`${SITE}/callback`],
        grant_types: ["authorization_code", "refresh_token"],
      },
    ],
    cookies: { keys: ["k"] },
    pkce: { required: () => true },
    features: {
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: (_, __, oneOf) => (Array.isArray(oneOf) ? oneOf[0] : oneOf) ?? SITE,
        useGrantedResource: () => true,
        getResourceServerInfo: (_, resource) => ({
          scope: "all",
          audience: resource,
          accessTokenFormat: "jwt",
          accessTokenTTL: 600,
          jwt: { sign: { alg: "RS256" } },
        }),
      },
    },
    extraTokenClaims: () => ({ roles: ["makers"] }),
    findAccount: (_, accountId) => ({ accountId, claims: () => ({ sub: accountId }) }),
  });
  const handle = provider.callback();
  idp.on("request", (request, response) => void handle(request, response));
  database = await adminDatabase();
  const secretFile = join(folder, "secret");
  writeFileSync(secretFile, `${SECRET}\n`);
  const auth = {
    mode: "required",
    publicUrl: SITE,
    providers: [{ issuer, groupsClaim: "roles", requiredScopes: [] }],
    browser: { clientId: "console", clientSecretFile: secretFile, scopes: ["openid", "all"] },
    roles: [{ group: "makers", role: "viewer", project: "flytesnacks" }],
  };
  admin = await serveAdmin({ db: database.db, config: adminConfigSchema.parse({ auth }) });
});
afterAll(async () => {
  await admin.stop();
  await database.stop();
  idp.closeAllConnections();
  idp.close();
  rmSync(folder, { recursive: true });
});

const list = (token: string, project = "flytesnacks") =>
  createClient({ channel: admin.channel, service: AdminService }).listTasks(
    { id: { project, domain: "development" }, limit: 1 },
    { metadata: { authorization: `Bearer ${token}` } },
  );

async function robotToken(resource: string): Promise<string> {
  const response = await fetch(`${issuer}/token`, {
    method: "POST",
    headers: { authorization: `Basic ${Buffer.from("robot:robot%27s%20secret").toString("base64")}` },
    body: new URLSearchParams({ grant_type: "client_credentials", scope: "all", resource }),
  });
  return ((await response.json()) as { access_token: string }).access_token;
}

test("tokens of an external provider are accepted for the configured audience", async () => {
  await list(await robotToken(SITE));
  await expect(list(await robotToken(SITE), "other")).rejects.toMatchObject({ code: Code.PERMISSION_DENIED });
  await expect(list(await robotToken("http://other.test"))).rejects.toMatchObject({
    code: Code.UNAUTHENTICATED,
    message: "the audience of the token is not accepted",
  });
});

test("clients are directed to the external provider", async () => {
  const metadata = await createClient({ channel: admin.channel, service: AuthMetadataService }).getOAuth2Metadata({});
  expect(metadata).toMatchObject({ issuer, tokenEndpoint: `${issuer}/token`, authorizationEndpoint: `${issuer}/auth` });
  const tokens = createClientToken({
    clientId: "robot",
    secret: async () => "robot's secret",
    tokenEndpoint: async () => metadata.tokenEndpoint,
    scopes: ["all"],
    clock: () => new Date(),
  });
  await list(await tokens.current());
});

test("browsers sign in at the external provider through a client with a secret", async () => {
  const base = `http://127.0.0.1:${admin.port}`;
  const us = browserOf({ site: SITE, base });
  const them = browserOf({ site: issuer, base: issuer });
  const sent = (await us.get(`${SITE}/login?redirect_url=/console`)).headers.get("location") ?? "";
  let { url } = await them.follow(sent);
  const forms: Record<string, string>[] = [{ prompt: "login", login: "ann", password: "any" }, { prompt: "consent" }];
  for (const form of forms) {
    const answer = await them.post(url, form);
    ({ url } = await them.follow(answer.headers.get("location") ?? ""));
  }
  expect(url.startsWith(`${SITE}/callback?code=`)).toBe(true);
  expect((await us.get(url)).headers.get("location")).toBe(`${SITE}/console`);
  const cookie = `flyte_session=${us.cookies.get("flyte_session")}`;
  expect(await (await fetch(`${base}/me`, { headers: { cookie } })).json()).toMatchObject({ subject: "ann" });
  expect((await fetch(`${base}/api/v1/tasks/flytesnacks/development?limit=1`, { headers: { cookie } })).status).toBe(200);
});
