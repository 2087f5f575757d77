import type { AwsKeys } from "./sign.js";
import { readContainerCredentials, readInstanceCredentials, type TemporaryKeys, readWebIdentityCredentials } from "./credential-sources.js";

export type Environment = Readonly<Record<string, string | undefined>>;

/** Time before their end at which temporary credentials are replaced, ms. */
const RENEW_BEFORE_MS = 300_000;

/**
 * Returns a function that finds credentials, in this order: `FLYTE_AWS_*`, which a Flyte deployment
 * sets; `AWS_*`; the web identity of a service account; the credentials of a container; those of
 * the machine. Temporary ones are kept until five minutes before their end.
 *
 * @returns undefined when there are none
 */
export function findKeys(environment: Environment): () => Promise<AwsKeys | undefined> {
  const fixed = keysOf(environment, "FLYTE_AWS") ?? keysOf(environment, "AWS");
  if (fixed !== undefined) return () => Promise.resolve(fixed);
  let current: Promise<TemporaryKeys | undefined> | undefined;
  return async () => {
    const known = await current;
    if (known !== undefined && known.expiresAt - RENEW_BEFORE_MS > Date.now()) return known.keys;
    current = temporaryKeys(environment);
    try {
      return (await current)?.keys;
    } catch (error) {
      current = undefined;
      throw error;
    }
  };
}

function keysOf(environment: Environment, prefix: string): AwsKeys | undefined {
  const accessKeyId = environment[`${prefix}_ACCESS_KEY_ID`];
  const secretAccessKey = environment[`${prefix}_SECRET_ACCESS_KEY`];
  if (!accessKeyId || !secretAccessKey) return undefined;
  return { accessKeyId, secretAccessKey, sessionToken: environment[`${prefix}_SESSION_TOKEN`] || undefined };
}

async function temporaryKeys(environment: Environment): Promise<TemporaryKeys | undefined> {
  return (
    (await readWebIdentityCredentials(environment)) ??
    (await readContainerCredentials(environment)) ??
    (await readInstanceCredentials(environment))
  );
}
