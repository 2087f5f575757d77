import type { RayJob } from "@flyte-ts/idl/flyteidl/plugins/ray_pb";
import { badSpecification } from "../build/custom.js";

/**
 * The runtime environment as YAML; undefined without one. The older field holds JSON, which is
 * YAML, in base64.
 *
 * @throws PermanentFailure when the older field is not JSON
 */
export function runtimeEnvironment({ runtimeEnv, runtimeEnvYaml }: RayJob): string | undefined {
  if (runtimeEnvYaml !== "") return runtimeEnvYaml;
  if (runtimeEnv === "") return undefined;
  const json = Buffer.from(runtimeEnv, "base64").toString("utf8");
  try {
    return JSON.stringify(JSON.parse(json));
  } catch {
    throw badSpecification("template.custom.runtime_env: is not JSON in base64");
  }
}
