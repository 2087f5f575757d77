import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { EntityAddress, Registration } from "@flyte-ts/sdk/runtime";
import { type BundleManifest, cacheVersionOf, MANIFEST_FILE } from "../manifest.js";
import type { RunRequest } from "../run-request.js";

/** Variable with the image of the registration, as flytekit has it. */
export const IMAGE_VARIABLE = "FLYTE_INTERNAL_IMAGE";

/** Variable of dynamic and eager tasks with the versions of references, by `referenceKey`. */
const REFERENCES_VARIABLE = "FLYTE_TS_REFERENCES";
/** Maximum length of that variable; Linux takes 128 KiB. */
const MAX_REFERENCES_LENGTH = 100_000;

/** Identifies a reference whose version is looked up. */
export const referenceKey = ({ kind, project = "", domain = "", name }: EntityAddress): string =>
  JSON.stringify([kind, project, domain, name]);

/** Returns the variables of dynamic and eager tasks, which know these versions of references. */
export function callerEnvOf(versions: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const entries = Object.entries(versions).toSorted(([a], [b]) => (a < b ? -1 : 1));
  if (entries.length === 0) return {};
  const text = JSON.stringify(Object.fromEntries(entries));
  if (text.length > MAX_REFERENCES_LENGTH)
    throw new Error(`${entries.length} references without a version are more than a dynamic or eager task takes; give them versions`);
  return { [REFERENCES_VARIABLE]: text };
}

/** Returns the registration of a running task, for templates that equal the registered ones. */
export function registrationOf({ environment, code }: RunRequest, folder: string): Registration {
  const manifest = JSON.parse(readFileSync(fileURLToPath(new URL(MANIFEST_FILE, folder)), "utf8")) as BundleManifest;
  const image = environment[IMAGE_VARIABLE] ?? "";
  const versions = JSON.parse(environment[REFERENCES_VARIABLE] || "{}") as Readonly<Record<string, string>>;
  return {
    project: environment["FLYTE_INTERNAL_TASK_PROJECT"] ?? "",
    domain: environment["FLYTE_INTERNAL_TASK_DOMAIN"] ?? "",
    version: environment["FLYTE_INTERNAL_TASK_VERSION"] ?? "",
    image,
    code: code.kind === "bundle" ? { bundle: { uri: code.uri, digest: code.digest } } : { entry: code.path },
    sdkVersion: manifest.sdkVersion,
    env: { [IMAGE_VARIABLE]: image },
    callerEnv: callerEnvOf(versions),
    resolve: (address) => versions[referenceKey(address)],
    cacheVersion: (name) => cacheVersionOf(manifest, { name, image }),
  };
}
