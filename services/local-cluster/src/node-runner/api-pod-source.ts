import { randomUUID } from "node:crypto";
import {
  createInformer,
  type Informer,
  type InformerEvent,
  type KubeClient,
  type KubeObject as ApiObject,
  PODS,
} from "@flyte-ts/kubernetes";
import type { Logger } from "@flyte-ts/telemetry";
import type { PodChange, PodSource } from "../kubelet/pod/pod-source.js";
import { type JsonObject, type KubeObject, textAt } from "../object/model.js";
import { EventWriter } from "./event-writer.js";
import { PodSecretCache } from "./pod-secret-cache.js";
import { PodWriter } from "./pod-writer.js";

export interface ApiPodSourceOptions {
  readonly client: KubeClient;
  readonly logger: Logger;
  readonly nodeName: string;
  readonly now: () => number;
}

export interface ApiPodSource extends PodSource {
  /**
   * Time since the watch last delivered an event or bookmark, ms; undefined before the first list.
   */
  lagMs(): number | undefined;
  close(): Promise<void>;
}

const CLOSE_TIMEOUT_MS = 5_000;

const CHANGES = { added: "ADDED", modified: "MODIFIED", deleted: "DELETED" } as const;

/**
 * Connects to the pods of a cluster through its API. Resolves when the local copy of the pods is
 * complete.
 */
export async function openApiPodSource(options: ApiPodSourceOptions): Promise<ApiPodSource> {
  const source = new WatchedPods(options);
  await source.open();
  return source;
}

class WatchedPods implements ApiPodSource {
  readonly now: () => number;
  readonly newUid = randomUUID;
  readonly #writes: PodWriter;
  readonly #events: EventWriter;
  readonly #data: PodSecretCache;
  readonly #listeners = new Set<(change: PodChange) => void>();
  /**
   * Status written by this node, by uid. It takes precedence over the API's view, which lags: only
   * this node writes the status of its pods.
   */
  readonly #ownStatus = new Map<string, JsonObject>();
  readonly #prepared = new Set<string>();
  readonly #nodeName: string;
  readonly #informer: Informer<ApiObject>;
  #open = false;

  constructor({ client, logger, nodeName, now }: ApiPodSourceOptions) {
    this.now = now;
    this.#nodeName = nodeName;
    this.#writes = new PodWriter({ client, logger });
    this.#events = new EventWriter({ client, logger });
    this.#data = new PodSecretCache({ client, logger, now });
    this.#informer = createInformer<ApiObject>({ client, ref: PODS, logger, onEvent: (event) => this.#onEvent(event) });
  }

  async open(): Promise<void> {
    await this.#informer.synced;
    await Promise.all(
      this.list()
        .filter((pod) => this.#isOnThisNode(pod))
        .map((pod) => this.#prepare(pod)),
    );
    this.#open = true;
  }

  get(namespace: string, name: string): KubeObject | undefined {
    return this.#withOwnStatus(this.#informer.get(`${namespace}/${name}`));
  }

  list(): readonly KubeObject[] {
    return this.#informer.list().flatMap((pod) => this.#withOwnStatus(pod) ?? []);
  }

  subscribe(listener: (change: PodChange) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  writeStatus(pod: KubeObject, status: JsonObject): void {
    this.#ownStatus.set(pod.metadata.uid ?? "", status);
    this.#writes.status(pod, status);
  }

  bind(pod: KubeObject, { nodeName }: { nodeName: string }): void {
    // Discards the status that the scheduler wrote earlier: binding makes the server set the
    // condition PodScheduled itself.
    this.#ownStatus.delete(pod.metadata.uid ?? "");
    this.#writes.bind(pod, nodeName);
  }

  release(pod: KubeObject): void {
    this.#writes.release(pod);
  }

  lookup(namespace: string) {
    return this.#data.lookup(namespace);
  }

  writeEvent(event: KubeObject): void {
    this.#events.add(event);
  }

  lagMs(): number | undefined {
    return this.#informer.lagMs();
  }

  async close(): Promise<void> {
    await this.#informer.stop();
    this.#events.close();
    await this.#writes.close(CLOSE_TIMEOUT_MS);
  }

  #isOnThisNode(pod: KubeObject): boolean {
    return textAt(pod, "spec", "nodeName") === this.#nodeName;
  }

  #withOwnStatus(seen: Readonly<ApiObject> | undefined): KubeObject | undefined {
    if (seen === undefined) return undefined;
    const pod = seen as unknown as KubeObject;
    const status = this.#ownStatus.get(pod.metadata.uid ?? "");
    return status === undefined ? pod : { ...pod, status };
  }

  #onEvent({ type, object, previous }: InformerEvent<ApiObject>): void {
    const pod = object as unknown as KubeObject;
    // An interrupted watch may have missed that a pod was replaced by another of the same name.
    if (previous !== undefined && previous.metadata.uid !== object.metadata.uid) this.#forget(previous as unknown as KubeObject);
    if (type === "deleted") {
      this.#forget(pod);
      return;
    }
    if (!this.#open) return;
    const notify = () => this.#notify({ type: CHANGES[type], pod: this.#withOwnStatus(object) ?? pod });
    if (!this.#isOnThisNode(pod) || this.#prepared.has(pod.metadata.uid ?? "")) return notify();
    void this.#prepare(pod).then(() => {
      const { namespace = "", name, uid } = pod.metadata;
      const now = this.get(namespace, name);
      if (now?.metadata.uid === uid) this.#notify({ type: CHANGES[type], pod: now as KubeObject });
    });
  }

  async #prepare(pod: KubeObject): Promise<void> {
    await this.#data.prepare(pod);
    this.#prepared.add(pod.metadata.uid ?? "");
  }

  #forget(pod: KubeObject): void {
    this.#ownStatus.delete(pod.metadata.uid ?? "");
    this.#prepared.delete(pod.metadata.uid ?? "");
    this.#notify({ type: "DELETED", pod });
  }

  #notify(change: PodChange): void {
    for (const listener of this.#listeners) listener(change);
  }
}
