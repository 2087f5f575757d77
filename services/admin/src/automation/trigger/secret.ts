import { createHmac, randomBytes } from "node:crypto";
import { Lazy } from "@flyte-ts/async";
import { readSecret, type SecretSource, secretText } from "@flyte-ts/outbound";
import type { Queryable } from "@flyte-ts/postgres";
import type { StoredTrigger } from "../store/triggers.js";
import { storedKey } from "../store/trigger-keys.js";

export interface SecretDeps {
  readonly db: Queryable;
  readonly key: SecretSource | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
}

type Keyed = Pick<StoredTrigger, "rowId" | "project" | "domain" | "name">;

/** Derives the webhook secret of a trigger and generation, so that no table contains it. */
export type DeriveSecret = (trigger: Keyed, generation: number) => Promise<string>;

const MIN_KEY_BYTES = 32;

export function createSecretDeriver(deps: SecretDeps): DeriveSecret {
  const key = new Lazy(() => loadKey(deps));
  return async ({ rowId, project, domain, name }, generation) => {
    const what = JSON.stringify(["trigger webhook", String(rowId), project, domain, name, generation]);
    return secretText(
      createHmac("sha256", await key.get())
        .update(what)
        .digest(),
    );
  };
}

async function loadKey({ db, key, env }: SecretDeps): Promise<Uint8Array> {
  if (key !== undefined) {
    const bytes = Buffer.from(await readSecret(key, env));
    if (bytes.length < MIN_KEY_BYTES) throw new Error(`triggers.webhooks.key must have at least ${MIN_KEY_BYTES} bytes`);
    return bytes;
  }
  // When several replicas generate a key concurrently, the first one's is stored.
  return storedKey(db, randomBytes(MIN_KEY_BYTES));
}
