// The programs with settings, and the schema that each prints.
import { execFile } from "node:child_process";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { loadManifests } from "../deploy/manifests.mjs";
import { nodeProgram, root } from "../prepare.mjs";

const DESCRIBE = pathToFileURL(join(root, "scripts", "reference", "describe-settings.mjs")).href;

/** Services with settings: page, program, prefix of environment variables. */
export async function programsWithSettings() {
  const { services } = await loadManifests();
  return [
    ...services
      .filter(({ plane }) => plane !== "sidecar")
      .map(({ id, path, names }) => ({
        name: id,
        program: `services/${path}/dist/main.js`,
        prefix: names.envPrefix.slice("FLYTE_TS_".length, -1),
      })),
    { name: "node-runner", program: "services/local-cluster/dist/node-runner/main.js", prefix: "NODE_RUNNER" },
  ];
}

/** Returns the JSON schema of a program's settings, with descriptions. */
export async function settingsSchema(program) {
  return JSON.parse(await output("--import", DESCRIBE, program, "--print-schema"));
}

/** Returns the standard output of a program of this repository. */
export async function output(...args) {
  // Defaults below the home directory must not depend on the user.
  const options = { cwd: root, env: { ...process.env, HOME: "~", NODE_DISABLE_COMPILE_CACHE: "1" }, encoding: "utf8", maxBuffer: 1 << 26 };
  return (await promisify(execFile)(nodeProgram(), args, options)).stdout;
}
