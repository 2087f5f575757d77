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

/** Follows which kinds the cluster serves: operators are installed and removed while tasks run. */
export class ServedOperators {
  #served: readonly Operator[] | undefined;
  #stopped = false;
  #cancelTimer: () => void = () => undefined;

  constructor(private readonly options: ServedOperatorsOptions) {}

  get served(): readonly Operator[] {
    return this.#served ?? [];
  }

  /** Checks now, and in intervals from then on. */
  async start(): Promise<void> {
    await this.#check();
    if (this.#stopped) return;
    this.#cancelTimer = this.options.clock.schedule(this.options.intervalMs, () => void this.start());
  }

  stop(): void {
    this.#stopped = true;
    this.#cancelTimer();
  }

  async #check(): Promise<void> {
    const { operators, logger, onChange } = this.options;
    try {
      const exists = await Promise.all(operators.map((operator) => this.#isServed(operator)));
      const served = operators.filter((_, index) => exists[index]);
      if (this.#stopped || isSame(served, this.#served)) return;
      logger.info({ kinds: served.map(({ kind }) => kind) }, "the kinds of operators that the cluster serves have changed");
      await onChange(served);
      this.#served = served;
    } catch (error) {
      logger.warn({ error: String(error) }, "cannot check which operators' resources the cluster serves; retrying");
    }
  }

  async #isServed({ apiVersion, kind }: Operator): Promise<boolean> {
    return (await this.options.client.findResource(apiVersion, kind)) !== undefined;
  }
}

function isSame(a: readonly Operator[], b: readonly Operator[] | undefined): boolean {
  return b !== undefined && a.length === b.length && a.every((operator, index) => operator === b[index]);
}
