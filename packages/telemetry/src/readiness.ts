/** What a service stands on: why it cannot be used now; undefined when it can. */
export type Check = () => string | undefined | Promise<string | undefined>;

export interface ReadinessOptions {
  /** By name; asked only while the service serves. */
  readonly checks?: Readonly<Record<string, Check>>;
  /** Milliseconds of any clock that does not go back. */
  readonly now: () => number;
  /** A dependency counts as away after so long, ms: one that is gone for a moment takes nobody out of a balancer. 5 s when not given. */
  readonly graceMs?: number;
  /** A check that takes longer has failed, ms; 2 s when not given. */
  readonly timeoutMs?: number;
}

export interface CheckState {
  readonly ok: boolean;
  readonly problem?: string;
  /** For how long it has been so, ms. */
  readonly sinceMs?: number;
}

export interface ReadinessState {
  readonly ready: boolean;
  /** Why not. */
  readonly reason?: string;
  readonly checks: Readonly<Record<string, CheckState>>;
}

/** Whether a service can serve: not before it has begun, not when it is told to end, and not without what it stands on. */
export class Readiness {
  readonly #checks: Readonly<Record<string, Check>>;
  readonly #failing = new Map<string, number>();
  /** Those that have once been well: what never was is no mere interruption. */
  readonly #known = new Set<string>();
  #reason: string | undefined = "starting";

  constructor(private readonly options: ReadinessOptions) {
    this.#checks = options.checks ?? {};
  }

  /** It does not serve yet: what it waits for. */
  starting(what: string): void {
    this.#reason = `starting: ${what}`;
  }

  serving(): void {
    this.#reason = undefined;
  }

  /** From now on it is not ready, whatever else. */
  stopping(): void {
    this.#reason = "stopping";
  }

  async state(): Promise<ReadinessState> {
    if (this.#reason !== undefined) return { ready: false, reason: this.#reason, checks: {} };
    const { now, graceMs = 5_000 } = this.options;
    const names = Object.keys(this.#checks);
    const problems = await Promise.all(names.map((name) => this.#ask(name)));
    const checks: Record<string, CheckState> = {};
    let reason: string | undefined;
    for (const [index, name] of names.entries()) {
      const problem = problems[index];
      if (problem === undefined) {
        this.#failing.delete(name);
        this.#known.add(name);
        checks[name] = { ok: true };
        continue;
      }
      const since = this.#failing.get(name) ?? now();
      this.#failing.set(name, since);
      const sinceMs = now() - since;
      checks[name] = { ok: false, problem, sinceMs };
      if (sinceMs >= graceMs || !this.#known.has(name)) reason ??= problem;
    }
    // It may have been told to end meanwhile.
    reason = this.#reason ?? reason;
    return { ready: reason === undefined, ...(reason !== undefined && { reason }), checks };
  }

  async #ask(name: string): Promise<string | undefined> {
    const { timeoutMs = 2_000 } = this.options;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<string>((resolve) => {
      timer = setTimeout(() => resolve(`${name} has not answered for ${timeoutMs} ms`), timeoutMs);
    });
    try {
      return await Promise.race([this.#checks[name]?.(), late]);
    } catch (error) {
      return `${name}: ${error instanceof Error ? error.message : String(error)}`;
    } finally {
      clearTimeout(timer);
    }
  }
}
