import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Registration } from "@flyte-ts/sdk/runtime";
import { type BundleManifest, cacheVersionOf, MANIFEST_FILE } from "../manifest.js";
import type { RunRequest } from "../run-request.js";

/** Variable with the image of the registration, as flytekit has it. */
export const IMAGE_VARIABLE = "FLYTE_INTERNAL_IMAGE";

/** Returns the registration of a running task, for templates that equal the registered ones. */
export function registrationOf({ environment, code }: RunRequest, folder: string): Registration {
  const manifest = JSON.parse(readFileSync(fileURLToPath(new URL(MANIFEST_FILE, folder)), "utf8")) as BundleManifest;
  const image = environment[IMAGE_VARIABLE] ?? "";
  return {
    project: environment["FLYTE_INTERNAL_TASK_PROJECT"] ?? "",
    domain: environment["FLYTE_INTERNAL_TASK_DOMAIN"] ?? "",
    version: environment["FLYTE_INTERNAL_TASK_VERSION"] ?? "",
    image,
    code: code.kind === "bundle" ? { bundle: { uri: code.uri, digest: code.digest } } : { entry: code.path },
    sdkVersion: manifest.sdkVersion,
    env: { [IMAGE_VARIABLE]: image },
    cacheVersion: (name) => cacheVersionOf(manifest, { name, image }),
  };
}
