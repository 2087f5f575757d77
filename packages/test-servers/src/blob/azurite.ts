import { createHmac } from "node:crypto";
import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import type { InstallOptions } from "../program/install-options.js";
import { freePort } from "@flyte-ts/host";
import { findNpmProgram, type NpmProgram } from "../program/npm-program.js";
import { type LocalServer, ServerStartError, startServerProcess } from "@flyte-ts/local-servers";

const AZURITE: NpmProgram = {
  name: "azurite",
  version: "3.37.0",
  module: "azurite/dist/src/blob/main.js",
  overrideVariable: "FLYTE_TS_AZURITE",
};

export interface AzuriteOptions {
  readonly dataDir: string;
  readonly account: string;
  /** Base64. */
  readonly accountKey: string;
  /** Created if missing. */
  readonly containers: readonly string[];
  /**
   * Certificate and key files, PEM. They enable TLS and, with it, authentication by identity
   * tokens.
   */
  readonly tls?: { readonly cert: string; readonly key: string } | undefined;
}

export function findAzurite(options?: InstallOptions): Promise<string> {
  return findNpmProgram(AZURITE, options);
}

/**
 * Starts Microsoft's emulator of Azure's blob service on the loopback address. The address of the
 * account is its `url`.
 */
export async function startAzurite(options: AzuriteOptions): Promise<LocalServer> {
  const { dataDir, account, accountKey, tls, containers } = options;
  const module = await findAzurite();
  const port = await freePort();
  const location = ["--blobHost", "127.0.0.1", "--blobPort", String(port), "--location", dataDir];
  const secure = tls === undefined ? [] : ["--oauth", "basic", "--cert", tls.cert, "--key", tls.key];
  const server = await startServerProcess({
    name: "azurite",
    command: process.execPath,
    // The SDK may be newer than the emulator.
    args: [module, ...location, ...secure, "--silent", "--disableTelemetry", "--skipApiVersionCheck"],
    options: { env: { ...process.env, AZURITE_ACCOUNTS: `${account}:${accountKey}` } },
    url: `${tls === undefined ? "http" : "https"}://127.0.0.1:${port}/${account}`,
    port,
    stopSignal: "SIGTERM",
  });
  for (const container of containers) await createContainer(`${server.url}/${container}`, options);
  return server;
}

/** Sends one signed request of the service's protocol. */
async function createContainer(url: string, { account, accountKey }: AzuriteOptions): Promise<void> {
  const headers = { "x-ms-date": new Date().toUTCString(), "x-ms-version": "2021-12-02" };
  const named = Object.entries(headers).map(([name, value]) => `${name}:${value}\n`);
  const text = `PUT${"\n".repeat(12)}${named.join("")}/${account}${new URL(url).pathname}\nrestype:container`;
  const signature = createHmac("sha256", Buffer.from(accountKey, "base64")).update(text).digest("base64");
  const send = url.startsWith("https:") ? requestHttps : requestHttp;
  const status = await new Promise<number | undefined>((resolve, reject) => {
    const options = {
      method: "PUT",
      headers: { ...headers, authorization: `SharedKey ${account}:${signature}` },
      rejectUnauthorized: false,
      signal: AbortSignal.timeout(30_000),
    };
    send(`${url}?restype=container`, options, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on("error", reject)
      .end();
  });
  if (status !== 201 && status !== 409) throw new ServerStartError(`azurite created no container at ${url}: status ${status}`);
}
