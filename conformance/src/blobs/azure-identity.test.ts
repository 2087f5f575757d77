import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BlobStore, createBlobStore } from "@flyte-ts/blobstore";
import { type LocalServer } from "@flyte-ts/local-servers";
import { startAzurite } from "@flyte-ts/test-servers";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { STORES, storeUnavailable } from "./stores.js";

const AZURITE = STORES.find(({ name }) => name === "azurite");
const unavailable = AZURITE === undefined || (await storeUnavailable(AZURITE)) !== undefined;
const TENANT = "11111111-1111-1111-1111-111111111111";

/** A token as the emulator expects it: it reads the claims and checks no signature. */
function token(): string {
  const now = Math.floor(Date.now() / 1_000);
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const claims = { aud: "https://storage.azure.com", iss: `https://sts.windows.net/${TENANT}/`, iat: now, nbf: now - 60, exp: now + 3_600 };
  return [part({ alg: "RS256", typ: "JWT" }), part({ ...claims, tid: TENANT, oid: "22222222-2222-2222-2222-222222222222" }), "sign"].join(
    ".",
  );
}

/** Issues tokens as a cloud issues them to its pods, and counts them. */
async function identityEndpoint(): Promise<{ readonly server: Server; readonly url: string; asked: number }> {
  const endpoint = {
    asked: 0,
    url: "",
    server: createServer((_, response) => {
      endpoint.asked++;
      const body = {
        access_token: token(),
        expires_on: String(Math.floor(Date.now() / 1_000) + 3_600),
        resource: "x",
        token_type: "Bearer",
      };
      response.setHeader("content-type", "application/json").end(JSON.stringify(body));
    }),
  };
  await new Promise<void>((listening) => endpoint.server.listen(0, "127.0.0.1", listening));
  endpoint.url = `http://127.0.0.1:${(endpoint.server.address() as AddressInfo).port}/token`;
  return endpoint;
}

describe.skipIf(unavailable)("Azure with a pod's identity and without a key", () => {
  const folder = mkdtempSync(join(tmpdir(), "flyte-ts-identity-"));
  let server: LocalServer;
  let identity: Awaited<ReturnType<typeof identityEndpoint>>;
  let blobs: BlobStore;
  beforeAll(async () => {
    const tls = { cert: join(folder, "tls.crt"), key: join(folder, "tls.key") };
    const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"];
    const made = ["-keyout", tls.key, "-out", tls.cert];
    execFileSync("openssl", ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", ...subject, ...made], { stdio: "ignore" });
    identity = await identityEndpoint();
    vi.stubEnv("IDENTITY_ENDPOINT", identity.url);
    vi.stubEnv("IDENTITY_HEADER", "x");
    // Affects this process only, which connects to the emulator with its self-signed certificate.
    vi.stubEnv("NODE_TLS_REJECT_UNAUTHORIZED", "0");
    const account = { account: "flytets", accountKey: Buffer.from("an unused account key").toString("base64") };
    server = await startAzurite({ dataDir: folder, containers: ["container"], tls, ...account });
    blobs = createBlobStore({ azure: { account: "flytets", endpoint: server.url } });
  });
  afterAll(async () => {
    blobs.close();
    vi.unstubAllEnvs();
    await server.stop();
    identity.server.closeAllConnections();
    identity.server.close();
    rmSync(folder, { recursive: true, force: true });
  });

  test("one token serves many reads and writes", async () => {
    for (const name of ["a", "b", "c"]) await blobs.put(`abfs://container/x/${name}`, new TextEncoder().encode(name));
    expect(new TextDecoder().decode(await blobs.get("abfs://container/x/b"))).toBe("b");
    expect(identity.asked).toBe(1);
  });

  test("URLs are signed with a user delegation key", async () => {
    const { url, headers } = await blobs.presignPut("abfs://container/p/ü +.gz", { expiresInSeconds: 60 });
    expect(headers).toEqual({ "x-ms-blob-type": "BlockBlob" });
    expect(new URL(url).searchParams.get("skoid")).toBe("22222222-2222-2222-2222-222222222222");
    expect((await fetch(url, { method: "PUT", body: "content", headers: { ...headers } })).status).toBe(201);
    const get = await blobs.presignGet("abfs://container/p/ü +.gz", { expiresInSeconds: 604_800 });
    expect(await (await fetch(get.url)).text()).toBe("content");
    expect((await fetch(get.url.replace("p/", "x/"))).status).toBe(403);
    expect((await fetch(get.url, { method: "DELETE" })).status).toBe(403);
  });
});
