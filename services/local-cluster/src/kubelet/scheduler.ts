import { at, type JsonObject, type KubeObject, isObject, listAt, textAt } from "../object/model.js";
import { add, type Amounts, isEnded, podResources } from "../api/pod/resources.js";
import type { EventRecorder } from "./event-recorder.js";
import { type NodeSpace, whyUnschedulable } from "./fit.js";
import type { PodChange, PodSource } from "./pod-source.js";
import { condition } from "./pod-status.js";

export interface SchedulerOptions {
  readonly pods: PodSource;
  readonly events: EventRecorder;
  readonly nodeName: string;
  readonly allocatable: Amounts;
  readonly labels: Readonly<Record<string, string>>;
}

interface Waiting {
  readonly namespace: string;
  readonly name: string;
  /** All that decides whether it fits. */
  readonly wish: string;
  /** The last refusal. */
  told: string | undefined;
}

function wishOf(pod: KubeObject): string {
  const spec = pod["spec"];
  const selectors = [at(spec, "nodeSelector"), at(spec, "affinity", "nodeAffinity"), at(spec, "volumes"), at(spec, "schedulingGates")];
  return JSON.stringify([[...podResources(pod, "requests")].map(([name, amount]) => [name, String(amount)]), ...selectors]);
}

/** Places pods on the one node, oldest first, as long as their requests fit. */
export class Scheduler {
  readonly #options: SchedulerOptions;
  /** Requests of the pods that hold space. */
  readonly #holding = new Map<string, Amounts>();
  readonly #used: Amounts = new Map();
  /** Pods that wait for a place, in order of arrival. */
  readonly #waiting = new Map<string, Waiting>();
  #scheduled = false;

  constructor(options: SchedulerOptions) {
    this.#options = options;
  }

  /** Takes note of a pod as it is now. */
  observe({ type, pod }: PodChange): void {
    const { uid = "", name, namespace = "" } = pod.metadata;
    const nodeName = textAt(pod, "spec", "nodeName") ?? "";
    const gone = type === "DELETED" || isEnded(pod);
    if (gone) this.#release(uid);
    else if (nodeName === this.#options.nodeName) this.#hold(uid, pod);
    // An event from before the binding may come after it; a place once given is kept.
    if (gone || nodeName !== "" || pod.metadata.deletionTimestamp !== undefined || this.#holding.has(uid)) this.#waiting.delete(uid);
    else if (!this.#waiting.has(uid)) {
      this.#waiting.set(uid, { namespace, name, wish: wishOf(pod), told: undefined });
      this.#wake();
    }
  }

  #hold(uid: string, pod: KubeObject): void {
    if (this.#holding.has(uid)) return;
    const requests = podResources(pod, "requests");
    this.#holding.set(uid, requests);
    add(this.#used, requests);
  }

  #release(uid: string): void {
    if (!this.#holding.has(uid)) return;
    for (const [name, amount] of this.#holding.get(uid) ?? []) this.#used.set(name, (this.#used.get(name) ?? 0n) - amount);
    this.#holding.delete(uid);
    if (this.#waiting.size > 0) this.#wake();
  }

  #wake(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      // Pods that ask for the same get the same answer in one pass, which keeps long queues cheap.
      const refused = new Map<string, string>();
      for (const [uid, waiting] of this.#waiting) {
        const known = refused.get(waiting.wish);
        if (known !== undefined && known === waiting.told) continue;
        waiting.told = this.#place(uid, waiting);
        if (waiting.told !== undefined) refused.set(waiting.wish, waiting.told);
      }
    });
  }

  /** Binds the pod, or answers why not. */
  #place(uid: string, { namespace, name, told }: Waiting): string | undefined {
    const { pods, allocatable, labels, nodeName, events } = this.#options;
    const pod = pods.get(namespace, name);
    if (pod?.metadata.uid !== uid || listAt(pod, "spec", "schedulingGates").length > 0) return undefined;
    const requests = podResources(pod, "requests");
    const space: NodeSpace = { allocatable, labels, used: this.#used, pods: this.#holding.size };
    const why = whyUnschedulable(pod, requests, space);
    const status = isObject(pod["status"]) ? pod["status"] : {};
    if (why !== undefined) {
      const next = {
        ...status,
        phase: "Pending",
        conditions: [this.#condition(pod, { status: "False", reason: "Unschedulable", message: why })],
      };
      if (told === why || textAt(listAt(pod, "status", "conditions")[0], "message") === why) return why;
      pods.writeStatus(pod, next);
      events.recordScheduling(pod, { type: "Warning", reason: "FailedScheduling", message: why, action: "Scheduling" });
      return why;
    }
    this.#waiting.delete(uid);
    this.#hold(uid, pod);
    pods.bind(pod, { nodeName, status: { ...status, phase: "Pending", conditions: [this.#condition(pod, { status: "True" })] } });
    events.recordScheduling(pod, {
      type: "Normal",
      reason: "Scheduled",
      message: `Successfully assigned ${namespace}/${name} to ${nodeName}`,
      action: "Binding",
    });
    return undefined;
  }

  #condition(pod: KubeObject, verdict: { status: "True" | "False"; reason?: string; message?: string }): JsonObject {
    return condition(listAt(pod, "status", "conditions"), { type: "PodScheduled", verdict, pod, now: this.#options.pods.now() });
  }
}
