import { at, type JsonObject, type KubeObject, isObject, listAt, textAt } from "../../object/model.js";
import { add, type Amounts, isEnded, podResources } from "../../api/pod/resources.js";
import type { EventRecorder } from "../pod/event-recorder.js";
import { type NodeCapacity, unschedulableReason } from "./node-fit.js";
import type { PodChange, PodSource } from "../pod/pod-source.js";
import { condition } from "../pod/pod-status.js";

export interface SchedulerOptions {
  readonly pods: PodSource;
  readonly events: EventRecorder;
  readonly nodeName: string;
  readonly allocatable: Amounts;
  readonly labels: Readonly<Record<string, string>>;
}

interface PendingPod {
  readonly namespace: string;
  readonly name: string;
  /** Everything that determines whether the pod fits. */
  readonly requirements: string;
  /** Reason of the last failure. */
  lastReason: string | undefined;
}

function requirementsOf(pod: KubeObject): string {
  const spec = pod["spec"];
  const selectors = [at(spec, "nodeSelector"), at(spec, "affinity", "nodeAffinity"), at(spec, "volumes"), at(spec, "schedulingGates")];
  return JSON.stringify([[...podResources(pod, "requests")].map(([name, amount]) => [name, String(amount)]), ...selectors]);
}

/** Binds pods to the node, oldest first, while their requests fit. */
export class Scheduler {
  readonly #options: SchedulerOptions;
  /** Requests of bound pods, by uid. */
  readonly #requestsByPod = new Map<string, Amounts>();
  readonly #used: Amounts = new Map();
  /** Pods without a node, in order of arrival. */
  readonly #pending = new Map<string, PendingPod>();
  #scheduled = false;

  constructor(options: SchedulerOptions) {
    this.#options = options;
  }

  /** Processes a change of a pod. */
  observe({ type, pod }: PodChange): void {
    const { uid = "", name, namespace = "" } = pod.metadata;
    const nodeName = textAt(pod, "spec", "nodeName") ?? "";
    const gone = type === "DELETED" || isEnded(pod);
    if (gone) this.#release(uid);
    else if (nodeName === this.#options.nodeName) this.#reserve(uid, pod);
    // An event from before the binding may arrive after it; a binding is final.
    if (gone || nodeName !== "" || pod.metadata.deletionTimestamp !== undefined || this.#requestsByPod.has(uid)) this.#pending.delete(uid);
    else if (!this.#pending.has(uid)) {
      this.#pending.set(uid, { namespace, name, requirements: requirementsOf(pod), lastReason: undefined });
      this.#schedulePass();
    }
  }

  #reserve(uid: string, pod: KubeObject): void {
    if (this.#requestsByPod.has(uid)) return;
    const requests = podResources(pod, "requests");
    this.#requestsByPod.set(uid, requests);
    add(this.#used, requests);
  }

  #release(uid: string): void {
    if (!this.#requestsByPod.has(uid)) return;
    for (const [name, amount] of this.#requestsByPod.get(uid) ?? []) this.#used.set(name, (this.#used.get(name) ?? 0n) - amount);
    this.#requestsByPod.delete(uid);
    if (this.#pending.size > 0) this.#schedulePass();
  }

  #schedulePass(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      // Pods with equal requirements fail for the same reason, which is computed once per pass.
      const refused = new Map<string, string>();
      for (const [uid, waiting] of this.#pending) {
        const known = refused.get(waiting.requirements);
        if (known !== undefined && known === waiting.lastReason) continue;
        waiting.lastReason = this.#bind(uid, waiting);
        if (waiting.lastReason !== undefined) refused.set(waiting.requirements, waiting.lastReason);
      }
    });
  }

  /** Binds the pod, or returns why it does not fit. */
  #bind(uid: string, { namespace, name, lastReason }: PendingPod): string | undefined {
    const { pods, allocatable, labels, nodeName, events } = this.#options;
    const pod = pods.get(namespace, name);
    if (pod?.metadata.uid !== uid || listAt(pod, "spec", "schedulingGates").length > 0) return undefined;
    const requests = podResources(pod, "requests");
    const space: NodeCapacity = { allocatable, labels, used: this.#used, pods: this.#requestsByPod.size };
    const reason = unschedulableReason(pod, requests, space);
    const status = isObject(pod["status"]) ? pod["status"] : {};
    if (reason !== undefined) {
      const next = {
        ...status,
        phase: "Pending",
        conditions: [this.#condition(pod, { status: "False", reason: "Unschedulable", message: reason })],
      };
      if (lastReason === reason || textAt(listAt(pod, "status", "conditions")[0], "message") === reason) return reason;
      pods.writeStatus(pod, next);
      events.recordScheduling(pod, { type: "Warning", reason: "FailedScheduling", message: reason, action: "Scheduling" });
      return reason;
    }
    this.#pending.delete(uid);
    this.#reserve(uid, pod);
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
