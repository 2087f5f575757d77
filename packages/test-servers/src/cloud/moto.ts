import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cacheDir, createOnce, freePort, runProgram } from "@flyte-ts/host";
import { type LocalServer, ServerStartError, startServerProcess } from "@flyte-ts/local-servers";
import type { InstallOptions } from "../program/install-options.js";

const VERSION = "5.2.5";
/** Python imports many modules, which takes long on a busy machine. */
const START_TIMEOUT_MS = 150_000;

/**
 * Finds the Python of a virtual environment with moto; else creates the environment in the cache,
 * where concurrent callers share one.
 *
 * @throws ServerStartError when it cannot be created, as without Python.
 */
async function findMotoPython({ onProgress }: InstallOptions = {}): Promise<string> {
  const folder = join(cacheDir(), `moto-${VERSION}`);
  const python = join(folder, "bin", "python");
  const complete = join(folder, "complete");
  const create = async () => {
    onProgress?.(`moto ${VERSION}`);
    rmSync(folder, { recursive: true, force: true });
    await runProgram("python3", ["-m", "venv", folder]);
    await runProgram(python, ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", `moto[server]==${VERSION}`]);
    writeFileSync(complete, "");
  };
  await createOnce(folder, { exists: () => existsSync(complete), create }).catch((cause: unknown) => {
    throw new ServerStartError(`moto ${VERSION} cannot be installed: ${(cause as Error).message}`);
  });
  return python;
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
