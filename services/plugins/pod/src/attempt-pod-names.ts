import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { objectKey } from "@flyte-ts/kubernetes";
import { decodeAttemptAnnotation, type Pod } from "@flyte-ts/pod-task";
import { takenAt } from "@flyte-ts/pod-task/warm";
import { attemptKey } from "@flyte-ts/task-plugin";

/** The key of a pod's attempt: of the attempt that took it, or of the pod's own name. */
export function podAttemptKey(pod: Pod): string {
  const taker = takenAt(pod) === undefined ? undefined : decodeAttemptAnnotation(pod);
  return taker === undefined ? objectKey(pod) : attemptKey(taker);
}

/** Names of the warm pods of attempts; other pods have the name of their attempt. */
export class AttemptPodNames {
  /** Key of the pod by the key of its attempt, and the reverse. */
  readonly #pods = new Map<string, string>();
  readonly #attempts = new Map<string, string>();

  /** Number of attempts whose pods have other names. */
  get size(): number {
    return this.#pods.size;
  }

  /** Notes the pod's attempt; returns its key. */
  add(pod: Pod): string {
    const attempt = podAttemptKey(pod);
    const key = objectKey(pod);
    // A reused pod serves one attempt after the other.
    const earlier = this.#attempts.get(key);
    if (earlier !== undefined && earlier !== attempt) this.delete(earlier);
    if (attempt === key) return key;
    this.#pods.set(attempt, key);
    this.#attempts.set(key, attempt);
    return attempt;
  }

  delete(attempt: string): void {
    this.#attempts.delete(this.#pods.get(attempt) ?? "");
    this.#pods.delete(attempt);
  }

  /** The key of an attempt's pod. */
  podOf(attempt: string): string {
    return this.#pods.get(attempt) ?? attempt;
  }

  /** The key of the attempt that a pod of this name serves. */
  attemptOf(namespace: string, name: string): string {
    const key = `${namespace}/${name}`;
    return this.#attempts.get(key) ?? key;
  }

  objectOf(attempt: Pick<TaskRequest, "namespace" | "generatedName">): { readonly namespace: string; readonly name: string } {
    const [namespace = "", name = ""] = this.podOf(attemptKey(attempt)).split("/");
    return { namespace, name };
  }
}
