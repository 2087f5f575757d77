import type { Random } from "../random.js";
import type { Faults } from "../world/faults.js";
import type { Schedule } from "../world/schedule.js";

export type Outcome =
  | { readonly kind: "succeeds" }
  | { readonly kind: "fails"; readonly recoverable: boolean; readonly system: boolean; readonly cleanup: boolean }
  | { readonly kind: "hangs" };

export interface Pod {
  readonly key: string;
  readonly node: string;
  readonly attempt: number;
  state: "pending" | "live" | "ended";
  readonly outcome: Outcome;
}

export interface ClusterOptions {
  readonly schedule: Schedule;
  readonly random: Random;
  readonly faults: Faults;
  /** Outcome of a node's attempt; deterministic. */
  readonly outcomeOf: (node: string, attempt: number) => Outcome;
  readonly onStart: (pod: Pod, others: readonly Pod[]) => void;
  /** Maximum run time of a pod, ms. */
  readonly longest: number;
}

/** Pods, which outlive the processes that started them. */
export class Cluster {
  readonly pods = new Map<string, Pod>();
  /** Called on each change of a pod, when watched. */
  onChange: ((pod: Pod) => void) | undefined;

  constructor(private readonly options: ClusterOptions) {}

  start(key: string, node: string, attempt: number): Pod {
    const { schedule, random, longest, outcomeOf, onStart } = this.options;
    const others = [...this.pods.values()].filter((pod) => pod.node === node && pod.key !== key);
    const pod: Pod = { key, node, attempt, state: "pending", outcome: outcomeOf(node, attempt) };
    onStart(pod, others);
    this.pods.set(key, pod);
    schedule.after(random.between(1, 50), () => this.#begin(pod));
    if (pod.outcome.kind !== "hangs") schedule.after(random.between(51, longest), () => this.#end(pod));
    return pod;
  }

  /** Stops the pod, with a delay, and removes it. */
  kill(key: string, done: () => void): void {
    const pod = this.pods.get(key);
    if (pod === undefined) return done();
    this.options.schedule.after(this.options.random.between(1, 300), () => {
      if (this.pods.get(key) === pod) this.pods.delete(key);
      done();
    });
  }

  remove(key: string): void {
    this.pods.delete(key);
  }

  get running(): readonly Pod[] {
    return [...this.pods.values()].filter((pod) => pod.state !== "ended");
  }

  #begin(pod: Pod): void {
    if (this.pods.get(pod.key) !== pod || pod.state !== "pending") return;
    pod.state = "live";
    this.onChange?.(pod);
    const { schedule, random, faults } = this.options;
    if (!random.chance(faults.podRemoved)) return;
    schedule.after(random.between(1, 200), () => {
      if (this.pods.get(pod.key) !== pod || pod.state === "ended") return;
      this.pods.delete(pod.key);
      this.onChange?.(pod);
    });
  }

  #end(pod: Pod): void {
    if (this.pods.get(pod.key) !== pod) return;
    pod.state = "ended";
    this.onChange?.(pod);
  }
}
