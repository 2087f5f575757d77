import type { Time } from "@flyte-ts/async";
import type { KubeApplier } from "@flyte-ts/kubernetes";
import type { Logger } from "@flyte-ts/telemetry";
import type { Operator } from "../operator.js";

export interface ServedOperatorsOptions {
  readonly client: Pick<KubeApplier, "findResource">;
  /** Operators that this deployment is configured for. */
  readonly operators: readonly Operator[];
  readonly clock: Time;
  readonly logger: Logger;
  /** Time between two checks, ms. */
  readonly intervalMs: number;
  /** Called when the set of kinds that the cluster serves has changed, and once at the start. */
  readonly onChange: (operators: readonly Operator[]) => Promise<void>;
}

/**
 * Time for which the API must not know a kind that it has served, ms, before the kind counts as
 * gone: its jobs are then reported as lost.
 */
const CONFIRM_MS = 5_000;

/** Follows which kinds the cluster serves: operators are installed and removed while tasks run. */
export class ServedOperators {
  #served: readonly Operator[] | undefined;
  /** Served kinds that the API does not know, with the time since which it does not, ms. */
  readonly #missingSince = new Map<Operator, number>();
  #checking: Promise<void> | undefined;
  #stopped = false;
  #cancelTimer: () => void = () => undefined;

  constructor(private readonly options: ServedOperatorsOptions) {}

  get served(): readonly Operator[] {
    return this.#served ?? [];
  }

  /** Checks now, and in intervals from then on. */
  start(): Promise<void> {
    this.#checking ??= this.#run().finally(() => (this.#checking = undefined));
    return this.#checking;
  }

  /** Checks now, when a kind may be gone. */
  onMissing(): void {
    if (!this.#stopped && this.#missingSince.size === 0) void this.start();
  }

  stop(): void {
    this.#stopped = true;
    this.#cancelTimer();
  }

  async #run(): Promise<void> {
    const { clock, intervalMs } = this.options;
    this.#cancelTimer();
    await this.#check();
    if (this.#stopped) return;
    const delayMs = this.#missingSince.size === 0 ? intervalMs : Math.min(CONFIRM_MS, intervalMs);
    this.#cancelTimer = clock.schedule(delayMs, () => void this.start());
  }

  async #check(): Promise<void> {
    const { operators, logger, onChange } = this.options;
    try {
      const exists = await Promise.all(operators.map((operator) => this.#isServed(operator)));
      const served = operators.filter((operator, index) => exists[index] || this.#mayReturn(operator));
      for (const [index, operator] of operators.entries()) if (exists[index]) this.#missingSince.delete(operator);
      if (this.#stopped || isSame(served, this.#served)) return;
      logger.info({ kinds: served.map(({ kind }) => kind) }, "the kinds of operators that the cluster serves have changed");
      await onChange(served);
      this.#served = served;
    } catch (error) {
      logger.warn({ error: String(error) }, "cannot check which operators' resources the cluster serves; retrying");
    }
  }

  /** True for a served kind that the API does not know, but not for long. */
  #mayReturn(operator: Operator): boolean {
    if (!this.served.includes(operator)) return false;
    const now = this.options.clock.now();
    const since = this.#missingSince.get(operator) ?? now;
    this.#missingSince.set(operator, since);
    if (now - since < CONFIRM_MS) return true;
    this.#missingSince.delete(operator);
    return false;
  }

  async #isServed({ apiVersion, kind }: Operator): Promise<boolean> {
    return (await this.options.client.findResource(apiVersion, kind)) !== undefined;
  }
}

function isSame(a: readonly Operator[], b: readonly Operator[] | undefined): boolean {
  return b !== undefined && a.length === b.length && a.every((operator, index) => operator === b[index]);
}
