import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "@flyte-ts/host";
import { findGoProgram, type GoProgram } from "../program/go-program.js";
import { type LocalServer, startServerProcess } from "@flyte-ts/local-servers";

const VERSITYGW: GoProgram = {
  name: "versitygw",
  version: "1.8.0",
  module: "versitygw",
  mainPackage: "github.com/versity/versitygw/cmd/versitygw",
  overrideVariable: "FLYTE_TS_VERSITYGW",
};

export interface VersitygwOptions {
  readonly dataDir: string;
  /** Default: any free port. */
  readonly port?: number;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Created if missing. */
  readonly buckets: readonly string[];
  /** Called before the program is built. */
  readonly onProgress?: (what: string) => void;
}

export function findVersitygw(onProgress?: (what: string) => void): Promise<string> {
  return findGoProgram(VERSITYGW, { onProgress });
}

/**
 * Starts an S3 gateway over a folder, on the loopback address: every bucket is a folder there,
 * every object a file.
 */
export async function startVersitygw(options: VersitygwOptions): Promise<LocalServer> {
  const { dataDir, buckets, accessKeyId, secretAccessKey } = options;
  const command = await findVersitygw(options.onProgress);
  for (const bucket of buckets) mkdirSync(join(dataDir, bucket), { recursive: true, mode: 0o700 });
  const port = options.port ?? (await freePort());
  return startServerProcess({
    name: "versitygw",
    command,
    args: ["--port", `127.0.0.1:${port}`, "--keep-alive", "--quiet", "posix", dataDir],
    options: { env: { ...process.env, ROOT_ACCESS_KEY_ID: accessKeyId, ROOT_SECRET_ACCESS_KEY: secretAccessKey } },
    url: `http://127.0.0.1:${port}`,
    port,
    stopSignal: "SIGTERM",
  });
}
