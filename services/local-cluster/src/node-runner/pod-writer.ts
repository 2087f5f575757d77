import { setTimeout as sleep } from "node:timers/promises";
import { BINDINGS, isTransient, type KubeClient, KubeError, type KubeObject as ApiObject, PODS } from "@flyte-ts/kubernetes";
import type { Logger } from "@flyte-ts/telemetry";
import type { JsonObject, KubeObject } from "../object/model.js";

/** What is yet to be told about one pod. Only the latest of each kind matters. */
interface PendingPodWrite {
  readonly pod: KubeObject;
  nodeName: string | undefined;
  status: JsonObject | undefined;
  release: boolean;
}

const INITIAL_BACKOFF_MS = 100;
const MAX_BACKOFF_MS = 5_000;

/**
 * Carries the writes about pods to the API, one at a time for each pod: its node,
 * then its status, and when nothing more is to be told its removal. A write is
 * repeated until it succeeds, the pod is gone, or the server refuses it for good.
 */
export class PodWriter {
  readonly #pending = new Map<string, PendingPodWrite>();
  readonly #active = new Map<string, Promise<void>>();
  readonly #abort = new AbortController();

  constructor(private readonly options: { readonly client: KubeClient; readonly logger: Logger }) {}

  bind(pod: KubeObject, nodeName: string): void {
    this.#pendingOf(pod).nodeName = nodeName;
    this.#startWriting(pod);
  }

  status(pod: KubeObject, status: JsonObject): void {
    this.#pendingOf(pod).status = status;
    this.#startWriting(pod);
  }

  release(pod: KubeObject): void {
    this.#pendingOf(pod).release = true;
    this.#startWriting(pod);
  }

  /** Waits for what is under way; what cannot be written now is left to the next start. */
  async close(timeoutMs: number): Promise<void> {
    await Promise.race([Promise.all(this.#active.values()), sleep(timeoutMs)]);
    this.#abort.abort();
    await Promise.all(this.#active.values());
  }

  #pendingOf(pod: KubeObject): PendingPodWrite {
    const { uid = "" } = pod.metadata;
    const known = this.#pending.get(uid) ?? { pod, nodeName: undefined, status: undefined, release: false };
    this.#pending.set(uid, known);
    return known;
  }

  #startWriting({ metadata: { uid = "" } }: KubeObject): void {
    if (this.#active.has(uid)) return;
    this.#active.set(
      uid,
      this.#writeAll(uid).finally(() => this.#active.delete(uid)),
    );
  }

  async #writeAll(uid: string): Promise<void> {
    const { signal } = this.#abort;
    let delay = INITIAL_BACKOFF_MS;
    // Later changes join what waits here, so that a slow server is told the latest and not each step.
    for (let next = this.#pending.get(uid); next !== undefined && !signal.aborted; next = this.#pending.get(uid)) {
      this.#pending.delete(uid);
      try {
        await this.#write(next);
        delay = INITIAL_BACKOFF_MS;
      } catch (error) {
        if (!isTransient(error)) {
          this.#handlePermanentError(next, error);
          continue;
        }
        this.options.logger.warn({ pod: next.pod.metadata.name, error: String(error) }, "pod could not be written, trying again");
        this.#requeue(uid, next);
        await sleep(delay, undefined, { signal }).catch(() => undefined);
        delay = Math.min(delay * 2, MAX_BACKOFF_MS);
      }
    }
  }

  /** A part that was told anew meanwhile stays; what has been written is written once more. */
  #requeue(uid: string, failed: PendingPodWrite): void {
    const newer = this.#pending.get(uid);
    this.#pending.set(uid, {
      pod: failed.pod,
      nodeName: newer?.nodeName ?? failed.nodeName,
      status: newer?.status ?? failed.status,
      release: (newer?.release ?? false) || failed.release,
    });
  }

  async #write({ pod, nodeName, status, release }: PendingPodWrite): Promise<void> {
    const { client } = this.options;
    const { namespace, name, uid } = pod.metadata;
    if (nodeName !== undefined) await this.#bind(pod, nodeName);
    if (status !== undefined) {
      // The uid makes it conditional: a later pod of the same name is not touched.
      await client.mergePatch(PODS, { namespace, name, subresource: "status", body: { metadata: { uid }, status }, metadataOnly: true });
    }
    if (release) await client.delete(PODS, { namespace, name, uid, gracePeriodSeconds: 0 });
  }

  async #bind({ metadata: { namespace = "", name, uid = "" } }: KubeObject, nodeName: string): Promise<void> {
    const { client } = this.options;
    const target = { apiVersion: "v1", kind: "Node", name: nodeName };
    try {
      await client.create(BINDINGS, { apiVersion: "v1", kind: "Binding", metadata: { namespace, name, uid }, target } as ApiObject);
    } catch (error) {
      if (!(error instanceof KubeError && error.status === 409)) throw error;
      // Bound already, by the attempt before this one or by another scheduler; or the server's store could
      // not be reached, which kube-apiserver calls a conflict too.
      const now = await client.get<ApiObject & { spec?: { nodeName?: string } }>(PODS, { namespace, name });
      const unbound = now?.metadata.uid === uid && now.spec?.nodeName === undefined;
      if (unbound) throw new KubeError(error.message, { status: 503, cause: error });
    }
  }

  #handlePermanentError({ pod }: PendingPodWrite, error: unknown): void {
    // Gone, or another pod of the same name.
    if (error instanceof KubeError && (error.status === 404 || error.status === 409)) return;
    this.options.logger.error({ pod: pod.metadata.name, error: String(error) }, "the server refuses what is told of a pod");
  }
}
