import { setTimeout as sleep } from "node:timers/promises";
import { type Backoff, backoffDelay } from "@flyte-ts/async";
import { BINDINGS, isTransient, type KubeClient, KubeError, type KubeObject as ApiObject, PODS } from "@flyte-ts/kubernetes";
import type { Logger } from "@flyte-ts/telemetry";
import type { JsonObject, KubeObject } from "../object/model.js";

/** Pending writes of one pod; only the latest of each kind counts. */
interface PendingPodWrite {
  readonly pod: KubeObject;
  nodeName: string | undefined;
  status: JsonObject | undefined;
  release: boolean;
}

const RETRIES: Backoff = { initialMs: 100, maxMs: 5_000 };

/**
 * Writes pods to the API, one request at a time per pod: the binding, then the status, then the
 * deletion. Repeats a write until it succeeds, the pod is gone, or the error is permanent.
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

  /** Waits for writes in progress; the next start repeats failed ones. */
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
    let failures = 0;
    // Changes merge while a write is in progress, so that a slow server receives only the latest.
    for (let next = this.#pending.get(uid); next !== undefined && !signal.aborted; next = this.#pending.get(uid)) {
      this.#pending.delete(uid);
      try {
        await this.#write(next);
        failures = 0;
      } catch (error) {
        if (!isTransient(error)) {
          this.#handlePermanentError(next, error);
          continue;
        }
        this.options.logger.warn({ pod: next.pod.metadata.name, error: String(error) }, "pod update failed, will retry");
        this.#requeue(uid, next);
        await sleep(backoffDelay(RETRIES, failures++), undefined, { signal }).catch(() => undefined);
      }
    }
  }

  /** Requeues a failed write; newer values take precedence. */
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
      // The uid makes the patch conditional, so that another pod of the same name stays unchanged.
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
      // Either an earlier try or another scheduler has bound the pod, or the server could not reach
      // its store: kube-apiserver reports both as a conflict.
      const now = await client.get<ApiObject & { spec?: { nodeName?: string } }>(PODS, { namespace, name });
      const unbound = now?.metadata.uid === uid && now.spec?.nodeName === undefined;
      if (unbound) throw new KubeError(error.message, { status: 503, cause: error });
    }
  }

  #handlePermanentError({ pod }: PendingPodWrite, error: unknown): void {
    // The pod is gone or was replaced.
    if (error instanceof KubeError && (error.status === 404 || error.status === 409)) return;
    this.options.logger.error({ pod: pod.metadata.name, error: String(error) }, "pod update rejected");
  }
}
