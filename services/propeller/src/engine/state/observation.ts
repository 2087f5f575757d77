import type { RuntimeNode } from "../graph/runtime.js";
import { type PluginHealth, UNKNOWN_PLUGIN_HEALTH } from "../plugin-health.js";
import type { EffectTiming } from "./effect-buffer.js";

export interface ObservationStart {
  /** ms. */
  readonly now: number;
  /**
   * Continues the previous observation, whose ready nodes may still start before the status write.
   */
  readonly continuesPrevious: boolean;
  /** Work of an earlier observation is queued. */
  readonly hasWork: boolean;
}

/** The current observation: its time, and the speculation that it permits. */
export class CurrentObservation {
  /** Time, ms. */
  now: number;
  /** Counts observations. */
  seq = 0;
  /**
   * True: nodes that this observation makes ready may start before the status is durable. Its
   * cause, an attempt's success, is reported again after a crash.
   */
  speculative = false;
  /**
   * Nodes that become ready now may have started before a restart, see
   * `NodeLifecycle.maybeAheadOfStatus`.
   */
  priorStartPossible = false;
  /**
   * The stored status says Running, or no other process ever loaded it: speculative effects need
   * not wait for a write.
   */
  speculationAllowed = false;
  /** Availability of task types. */
  plugins: PluginHealth = UNKNOWN_PLUGIN_HEALTH;
  /** Revision of the status that says Running. */
  #startedRevision = 0;
  /**
   * The observation that this one is or continues: effects of nodes that it made ready may precede
   * the status write, later ones may not.
   */
  #originSeq = 0;
  /**
   * This observation continues work left by another, so nothing that it makes ready follows from it
   * alone.
   */
  #hasInheritedWork = false;

  constructor(now: number) {
    this.now = now;
  }

  begin({ now, continuesPrevious, hasWork }: ObservationStart): void {
    // A clock that goes backwards must not date a phase before an earlier one.
    this.now = Math.max(this.now, now);
    this.seq++;
    // Stays set while work of the observation that set it is queued.
    this.priorStartPossible &&= hasWork;
    if (continuesPrevious) return;
    this.#hasInheritedWork = hasWork;
    this.#originSeq = this.seq;
    this.speculative = false;
  }

  /** Marks what follows as caused by an attempt's success or by the start of a new workflow. */
  startSpeculation(): void {
    this.speculative = true;
  }

  /** Makes later effects wait for the status write. */
  stopSpeculation(): void {
    this.speculative = false;
  }

  /** Sets whether speculative effects may precede the write, from the stored phase. */
  restoreSpeculation(allowed: boolean): void {
    this.speculationAllowed = allowed;
  }

  /** Notes the revision from which the status says Running. */
  workflowStarted(revision: number): void {
    this.#startedRevision = revision;
  }

  /** Allows speculation once the status that says Running is durable. */
  statusPersisted(revision: number): void {
    this.speculationAllowed ||= revision >= this.#startedRevision;
  }

  /** Sets `priorStartPossible` at the start of the workflow. */
  setPriorStartPossible(possible: boolean): void {
    this.priorStartPossible = possible;
  }

  setPluginHealth(plugins: PluginHealth): void {
    this.plugins = plugins;
  }

  /**
   * Effects may precede the status write only if a restart would derive them again: those that
   * follow at once from an attempt's success, which is reported again, or from the start of a
   * resource that no process has started, as long as it is stored as new. All others wait.
   */
  effectTimingFor(node: RuntimeNode): EffectTiming {
    return this.speculationAllowed && this.speculative && !this.#hasInheritedWork && node.readiness.readyAtObservation === this.#originSeq
      ? "immediate"
      : "afterWrite";
  }

  /**
   * True when the node's new effects may already have happened. A failure node never runs ahead of
   * the status.
   */
  priorStartPossibleFor(node: RuntimeNode): boolean {
    return this.priorStartPossible && node !== node.scope.failureNode;
  }
}
