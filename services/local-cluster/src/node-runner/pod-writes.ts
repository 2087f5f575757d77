import { setTimeout as sleep } from "node:timers/promises";
import { type Backoff, backoffDelay } from "@flyte-ts/async";
import { BINDINGS, isTransient, type KubeClient, KubeError, type KubeObject as ApiObject, PODS } from "@flyte-ts/kubernetes";
import type { Logger } from "@flyte-ts/telemetry";
import type { JsonObject, KubeObject } from "../object/model.js";

/** What is yet to be told about one pod. Only the latest of each kind matters. */
interface Unwritten {
  readonly pod: KubeObject;
  nodeName: string | undefined;
  status: JsonObject | undefined;
  release: boolean;
}

const RETRIES: Backoff = { initialMs: 100, maxMs: 5_000 };

/**
 * Carries the writes about pods to the API, one at a time for each pod: its node,
 * then its status, and when nothing more is to be told its removal. A write is
 * repeated until it succeeds, the pod is gone, or the server refuses it for good.
 */
export class PodWrites {
  readonly #unwritten = new Map<string, Unwritten>();
  readonly #active = new Map<string, Promise<void>>();
  readonly #abort = new AbortController();

  constructor(private readonly options: { readonly client: KubeClient; readonly logger: Logger }) {}

  bind(pod: KubeObject, nodeName: string): void {
    this.#note(pod).nodeName = nodeName;
    this.#work(pod);
  }

  status(pod: KubeObject, status: JsonObject): void {
    this.#note(pod).status = status;
    this.#work(pod);
  }

  release(pod: KubeObject): void {
    this.#note(pod).release = true;
    this.#work(pod);
  }

  /** Waits for what is under way; what cannot be written now is left to the next start. */
  async close(patienceMs: number): Promise<void> {
    await Promise.race([Promise.all(this.#active.values()), sleep(patienceMs)]);
    this.#abort.abort();
    await Promise.all(this.#active.values());
  }

  #note(pod: KubeObject): Unwritten {
    const { uid = "" } = pod.metadata;
    const known = this.#unwritten.get(uid) ?? { pod, nodeName: undefined, status: undefined, release: false };
    this.#unwritten.set(uid, known);
    return known;
  }

  #work({ metadata: { uid = "" } }: KubeObject): void {
    if (this.#active.has(uid)) return;
    this.#active.set(
      uid,
      this.#writeAll(uid).finally(() => this.#active.delete(uid)),
    );
  }

  async #writeAll(uid: string): Promise<void> {
    const { signal } = this.#abort;
    let failures = 0;
    // Later changes join what waits here, so that a slow server is told the latest and not each step.
    for (let next = this.#unwritten.get(uid); next !== undefined && !signal.aborted; next = this.#unwritten.get(uid)) {
      this.#unwritten.delete(uid);
      try {
        await this.#write(next);
        failures = 0;
      } catch (error) {
        if (!isTransient(error)) {
          this.#refused(next, error);
          continue;
        }
        this.options.logger.warn({ pod: next.pod.metadata.name, error: String(error) }, "pod could not be written, trying again");
        this.#putBack(uid, next);
        await sleep(backoffDelay(RETRIES, failures++), undefined, { signal }).catch(() => undefined);
      }
    }
  }

  /** A part that was told anew meanwhile stays; what has been written is written once more. */
  #putBack(uid: string, failed: Unwritten): void {
    const newer = this.#unwritten.get(uid);
    this.#unwritten.set(uid, {
      pod: failed.pod,
      nodeName: newer?.nodeName ?? failed.nodeName,
      status: newer?.status ?? failed.status,
      release: (newer?.release ?? false) || failed.release,
    });
  }

  async #write({ pod, nodeName, status, release }: Unwritten): Promise<void> {
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

  #refused({ pod }: Unwritten, error: unknown): void {
    // Gone, or another pod of the same name.
    if (error instanceof KubeError && (error.status === 404 || error.status === 409)) return;
    this.options.logger.error({ pod: pod.metadata.name, error: String(error) }, "the server refuses what is told of a pod");
  }
}
