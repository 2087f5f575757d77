import { CONFIG_MAPS, type KubeClient, SECRETS } from "@flyte-ts/kubernetes";
import { BoundedMap, SingleFlight } from "@flyte-ts/async";
import type { Logger } from "@flyte-ts/telemetry";
import type { Lookup } from "../kubelet/container/environment.js";
import { dataOf } from "../kubelet/pod/object-data.js";
import { isObject, type Json, type KubeObject, textAt } from "../object/model.js";

type Kind = "Secret" | "ConfigMap";

interface Entry {
  readonly data: ReadonlyMap<string, Buffer> | undefined;
  readonly readAt: number;
}

/** Time to live of cached data, ms. Missing entries expire earlier (`MISSING_TTL_MS`). */
const TTL_MS = 60_000;
const MISSING_TTL_MS = 1_000;
const MAX_ENTRIES = 1_000;

/**
 * Caches the secrets and config maps of pods: reads them when a pod arrives, so that its start
 * finds them.
 */
export class PodSecretCache {
  readonly #entries = new BoundedMap<string, Entry>(MAX_ENTRIES);
  readonly #reading = new SingleFlight<void>();

  constructor(private readonly options: { readonly client: KubeClient; readonly logger: Logger; readonly now: () => number }) {}

  /**
   * Reads all objects that the pod refers to. Always resolves: failed reads count as missing and
   * are retried.
   */
  async prepare(pod: KubeObject): Promise<void> {
    const { namespace = "" } = pod.metadata;
    const reads = referencesIn(pod["spec"] ?? null).map(({ kind, name }) => this.#read(namespace, kind, name));
    await Promise.all(reads);
  }

  lookup(namespace: string): Lookup {
    return (kind, name) => {
      const entry = this.#entries.get(keyOf(namespace, kind, name));
      const fresh = entry?.data === undefined ? MISSING_TTL_MS : TTL_MS;
      if (entry === undefined || this.options.now() - entry.readAt > fresh) void this.#read(namespace, kind, name);
      return entry?.data;
    };
  }

  #read(namespace: string, kind: Kind, name: string): Promise<void> {
    const key = keyOf(namespace, kind, name);
    return this.#reading.run(key, () => this.#readNow(key, { namespace, kind, name }));
  }

  async #readNow(key: string, { namespace, kind, name }: { namespace: string; kind: Kind; name: string }): Promise<void> {
    const { client, logger, now } = this.options;
    try {
      const object = await client.get(kind === "Secret" ? SECRETS : CONFIG_MAPS, { namespace, name });
      const data = object === undefined ? undefined : dataOf(kind, object as unknown as KubeObject);
      this.#entries.set(key, { data, readAt: now() });
    } catch (error) {
      logger.warn({ kind, namespace, name, error: String(error) }, "failed to read secret or config map");
    }
  }
}

const keyOf = (namespace: string, kind: Kind, name: string) => `${kind}/${namespace}/${name}`;

/** Fields of a pod's spec that refer to a secret or config map, with the field of its name. */
const REFERENCES: Readonly<Record<string, readonly [Kind, string]>> = {
  secretRef: ["Secret", "name"],
  secretKeyRef: ["Secret", "name"],
  configMapRef: ["ConfigMap", "name"],
  configMapKeyRef: ["ConfigMap", "name"],
  configMap: ["ConfigMap", "name"],
};

function referencesIn(value: Json | undefined): { kind: Kind; name: string }[] {
  if (Array.isArray(value)) return value.flatMap((item) => referencesIn(item as Json));
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([field, inner]) => {
    // Secret volumes and projected volumes name the secret in different fields.
    const [kind, nameField] =
      field === "secret"
        ? (["Secret", textAt(inner, "secretName") === undefined ? "name" : "secretName"] as const)
        : (REFERENCES[field] ?? []);
    const name = nameField === undefined ? undefined : textAt(inner, nameField);
    return kind !== undefined && name !== undefined ? [{ kind, name }] : referencesIn(inner);
  });
}
