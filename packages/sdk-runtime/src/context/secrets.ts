import { readFile } from "node:fs/promises";
import { join } from "node:path";

const DEFAULT_FOLDER = "/etc/flyte/secrets";
const DEFAULT_ENV_PREFIX = "_FSEC_";

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads a secret that the task requested: from its file, else from its variable. The environment
 * names the folder and the prefixes, and blanks around the secret are removed, as by flytekit.
 *
 * @throws Error that names the secret, and never contains one
 */
export async function readSecret(environment: Environment, group: string, key = ""): Promise<string> {
  if (!isName(group) || !(key === "" || isName(key)))
    throw new Error(`a secret's group and key are names, not ${JSON.stringify([group, key])}`);
  const folder = environment["FLYTE_SECRETS_DEFAULT_DIR"] || DEFAULT_FOLDER;
  const file = join(folder, group.toLowerCase(), `${environment["FLYTE_SECRETS_FILE_PREFIX"] ?? ""}${key.toLowerCase()}`);
  try {
    return (await readFile(file, "utf8")).trim();
  } catch {
    const prefix = environment["FLYTE_SECRETS_ENV_PREFIX"] || DEFAULT_ENV_PREFIX;
    const value = environment[`${prefix}${group}${key === "" ? "" : `_${key}`}`.toUpperCase()];
    if (value !== undefined) return value.trim();
    throw new Error(
      `the task has no secret ${group}${key === "" ? "" : `/${key}`}; name it in the task's secrets, and create it in its namespace`,
    );
  }
}

/** Accepts what names a Kubernetes Secret or a key in it: no path. */
const isName = (text: string): boolean => /^[A-Za-z0-9._-]+$/.test(text) && text !== "." && text !== "..";
