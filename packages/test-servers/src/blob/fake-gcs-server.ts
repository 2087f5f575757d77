import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { InstallOptions } from "../program/install-options.js";
import { freePort } from "@flyte-ts/host";
import { findGoProgram, type GoProgram } from "../program/go-program.js";
import { type LocalServer, startServerProcess } from "@flyte-ts/local-servers";

const FAKE_GCS_SERVER: GoProgram = {
  name: "fake-gcs-server",
  version: "1.56.1",
  module: "fake-gcs-server",
  mainPackage: "github.com/fsouza/fake-gcs-server",
  overrideVariable: "FLYTE_TS_FAKE_GCS_SERVER",
};

export interface FakeGcsServerOptions {
  readonly dataDir: string;
  /** Created if missing. */
  readonly buckets: readonly string[];
}

export function findFakeGcsServer(options?: InstallOptions): Promise<string> {
  return findGoProgram(FAKE_GCS_SERVER, options);
}

/**
 * Starts an emulator of Google Cloud Storage on the loopback address. It accepts every credential
 * and every signature.
 */
export async function startFakeGcsServer({ dataDir, buckets }: FakeGcsServerOptions): Promise<LocalServer> {
  const command = await findFakeGcsServer();
  for (const bucket of buckets) mkdirSync(join(dataDir, bucket), { recursive: true });
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  return startServerProcess({
    name: "fake-gcs-server",
    command,
    args: [
      "-scheme",
      "http",
      "-host",
      "127.0.0.1",
      "-port",
      String(port),
      "-backend",
      "memory",
      "-data",
      dataDir,
      "-external-url",
      url,
      "-public-host",
      `127.0.0.1:${port}`,
    ],
    url,
    port,
    stopSignal: "SIGTERM",
  });
}
