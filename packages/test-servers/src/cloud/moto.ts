import { join } from "node:path";
import { freePort } from "@flyte-ts/host";
import { type LocalServer, ServerStartError, startServerProcess } from "@flyte-ts/local-servers";
import type { InstallOptions } from "../program/install-options.js";
import { findPythonEnvironment } from "../program/python-environment.js";

const VERSION = "5.2.5";
/** Python imports many modules, which takes long on a busy machine. */
const START_TIMEOUT_MS = 150_000;

/**
 * Finds the Python of a virtual environment with moto; else creates the environment in the cache,
 * where concurrent callers share one.
 *
 * @throws ServerStartError when it cannot be created, as without Python.
 */
async function findMotoPython(options?: InstallOptions): Promise<string> {
  const packages = { title: `moto ${VERSION}`, name: `moto-${VERSION}`, requirements: [`moto[server]==${VERSION}`] };
  return join(await findPythonEnvironment(packages, options), "python");
}

/**
 * Starts moto, a stand-in for AWS services, on the loopback address. It accepts every credential,
 * and its jobs of AWS Batch run no containers.
 */
export async function startMoto(options?: InstallOptions): Promise<LocalServer> {
  const command = await findMotoPython(options);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const args = ["-m", "moto.server", "-H", "127.0.0.1", "-p", String(port)];
  const startTimeoutMs = START_TIMEOUT_MS;
  const server = await startServerProcess({ name: "moto", command, args, url, port, stopSignal: "SIGTERM", startTimeoutMs });
  const configured = await fetch(`${url}/moto-api/config`, { method: "POST", body: JSON.stringify({ batch: { use_docker: false } }) });
  if (configured.ok) return server;
  await server.stop();
  throw new ServerStartError(`moto refused its configuration with status ${configured.status}`);
}
