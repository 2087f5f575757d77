/** Checks one dependency; returns why it cannot be used now, or undefined when it can. */
export type Check = () => string | undefined | Promise<string | undefined>;

export interface ReadinessOptions {
  /** By name; called only while the service is serving. */
  readonly checks?: Readonly<Record<string, Check>>;
  /** A monotonic clock, ms. */
  readonly now: () => number;
  /**
   * Grace period before a failing dependency makes the service not ready, ms: a short outage
   * removes no replica from a load balancer. Default 5 s.
   */
  readonly graceMs?: number;
  /** Timeout of a check, ms. Default 2 s. */
  readonly timeoutMs?: number;
}

export interface CheckState {
  readonly ok: boolean;
  readonly problem?: string;
  /** Duration of the current state, ms. */
  readonly sinceMs?: number;
}

export interface ReadinessState {
  readonly ready: boolean;
  /** Reason of the failure. */
  readonly reason?: string;
  readonly checks: Readonly<Record<string, CheckState>>;
}

/**
 * Readiness of a service: false before it has started, while it shuts down, and without a
 * dependency.
 */
export class Readiness {
  readonly #checks: Readonly<Record<string, Check>>;
  readonly #failingSince = new Map<string, number>();
  /** Checks that have passed at least once; only these get the grace period. */
  readonly #succeededOnce = new Set<string>();
  #reason: string | undefined = "starting";

  constructor(private readonly options: ReadinessOptions) {
    this.#checks = options.checks ?? {};
  }

  /** Marks the service as not ready; `step` names the step of the start. */
  starting(step: string): void {
    this.#reason = `starting: ${step}`;
  }

  serving(): void {
    this.#reason = undefined;
  }

  /** Marks the service as not ready for good. */
  stopping(): void {
    this.#reason = "stopping";
  }

  async state(): Promise<ReadinessState> {
    if (this.#reason !== undefined) return { ready: false, reason: this.#reason, checks: {} };
    const { now, graceMs = 5_000 } = this.options;
    const names = Object.keys(this.#checks);
    const problems = await Promise.all(names.map((name) => this.#runCheck(name)));
    const checks: Record<string, CheckState> = {};
    let reason: string | undefined;
    for (const [index, name] of names.entries()) {
      const problem = problems[index];
      if (problem === undefined) {
        this.#failingSince.delete(name);
        this.#succeededOnce.add(name);
        checks[name] = { ok: true };
        continue;
      }
      const since = this.#failingSince.get(name) ?? now();
      this.#failingSince.set(name, since);
      const sinceMs = now() - since;
      checks[name] = { ok: false, problem, sinceMs };
      if (sinceMs >= graceMs || !this.#succeededOnce.has(name)) reason ??= problem;
    }
    // The shutdown may have begun meanwhile.
    reason = this.#reason ?? reason;
    return { ready: reason === undefined, ...(reason !== undefined && { reason }), checks };
  }

  async #runCheck(name: string): Promise<string | undefined> {
    const { timeoutMs = 2_000 } = this.options;
    let timer: NodeJS.Timeout | undefined;
    const timedOut = new Promise<string>((resolve) => {
      timer = setTimeout(() => resolve(`${name}: check timed out after ${timeoutMs} ms`), timeoutMs);
    });
    try {
      return await Promise.race([this.#checks[name]?.(), timedOut]);
    } catch (error) {
      return `${name}: ${error instanceof Error ? error.message : String(error)}`;
    } finally {
      clearTimeout(timer);
    }
  }
}
