import type { Effect, EngineMetric, KubeEvent } from "../types.js";

/** `afterWrite`: only when the status as of the end of this observation is durable. */
export type EffectTiming = "immediate" | "afterWrite";

/** Effects of the current observation, in order. */
export class EffectBuffer {
  #effects: Effect[] = [];
  #afterWriteIndexes: number[] = [];

  emit(effect: Effect, timing: EffectTiming = "immediate"): void {
    if (timing === "afterWrite") this.#afterWriteIndexes.push(this.#effects.length);
    this.#effects.push(effect);
  }

  metric(metric: EngineMetric, labels?: Readonly<Record<string, string>>, seconds?: number): void {
    this.#effects.push({ kind: "metric", metric, ...(labels && { labels }), ...(seconds === undefined ? {} : { seconds }) });
  }

  kubeEvent(type: KubeEvent["type"], reason: string, message: string): void {
    this.#effects.push({ kind: "kubeEvent", kubeEvent: { type, reason, message } });
  }

  /**
   * Returns the observation's effects and clears them; those with timing `afterWrite` wait for
   * `revision`.
   */
  drain(revision: number): readonly Effect[] {
    const effects = this.#effects;
    for (const at of this.#afterWriteIndexes) {
      const effect = effects[at];
      switch (effect?.kind) {
        case "sendTaskRequest":
        case "publish":
        case "call":
        case "finalize":
          effects[at] = { ...effect, afterRevision: revision };
          break;
        default:
          break;
      }
    }
    this.#effects = [];
    this.#afterWriteIndexes = [];
    return effects;
  }
}
