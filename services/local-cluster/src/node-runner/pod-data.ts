import { CONFIG_MAPS, type KubeClient, SECRETS } from "@flyte-ts/kubernetes";
import { BoundedMap, SingleFlight } from "@flyte-ts/async";
import type { Logger } from "@flyte-ts/telemetry";
import type { Lookup } from "../kubelet/container/environment.js";
import { dataOf } from "../kubelet/object-data.js";
import { isObject, type Json, type KubeObject, textAt } from "../object/model.js";

type Kind = "Secret" | "ConfigMap";

interface Entry {
  readonly data: ReadonlyMap<string, Buffer> | undefined;
  readonly readAt: number;
}

/** How old data may be before it is read again; of what was missing, less. ms */
const FRESH_MS = 60_000;
const MISSING_FRESH_MS = 1_000;
const REMEMBERED = 1_000;

/** Secrets and config maps that pods name, read when a pod arrives, so that its start finds them at once. */
export class PodData {
  readonly #entries = new BoundedMap<string, Entry>(REMEMBERED);
  readonly #reading = new SingleFlight<void>();

  constructor(private readonly options: { readonly client: KubeClient; readonly logger: Logger; readonly now: () => number }) {}

  /** Reads all that the pod names. Resolves in any case: what could not be read counts as missing and is asked for again. */
  async prepare(pod: KubeObject): Promise<void> {
    const { namespace = "" } = pod.metadata;
    const reads = namedIn(pod["spec"] ?? null).map(({ kind, name }) => this.#read(namespace, kind, name));
    await Promise.all(reads);
  }

  lookup(namespace: string): Lookup {
    return (kind, name) => {
      const entry = this.#entries.get(keyOf(namespace, kind, name));
      const fresh = entry?.data === undefined ? MISSING_FRESH_MS : FRESH_MS;
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
      logger.warn({ kind, namespace, name, error: String(error) }, "could not be read");
    }
  }
}

const keyOf = (namespace: string, kind: Kind, name: string) => `${kind}/${namespace}/${name}`;

/** Fields that name a secret or config map, wherever they stand in a pod's spec, and the field in which the name stands. */
const REFERENCES: Readonly<Record<string, readonly [Kind, string]>> = {
  secretRef: ["Secret", "name"],
  secretKeyRef: ["Secret", "name"],
  configMapRef: ["ConfigMap", "name"],
  configMapKeyRef: ["ConfigMap", "name"],
  configMap: ["ConfigMap", "name"],
};

function namedIn(value: Json | undefined): { kind: Kind; name: string }[] {
  if (Array.isArray(value)) return value.flatMap((item) => namedIn(item as Json));
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([field, inner]) => {
    // A volume of a secret names it differently from a projected one.
    const [kind, nameField] =
      field === "secret"
        ? (["Secret", textAt(inner, "secretName") === undefined ? "name" : "secretName"] as const)
        : (REFERENCES[field] ?? []);
    const name = nameField === undefined ? undefined : textAt(inner, nameField);
    return kind !== undefined && name !== undefined ? [{ kind, name }] : namedIn(inner);
  });
}
