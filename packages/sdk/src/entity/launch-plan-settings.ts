import type { DurationText } from "../type/duration.js";

export type Schedule =
  | {
      /** Five fields, or an alias such as `@daily`. */
      readonly cron: string;
      readonly timezone?: string;
      readonly kickoffTimeInput?: string;
    }
  | { readonly every: DurationText; readonly kickoffTimeInput?: string };

export interface NotifyRule {
  readonly phases: readonly ("succeeded" | "failed" | "aborted" | "timed-out")[];
  readonly email?: readonly string[];
  readonly slack?: readonly string[];
  readonly pagerDuty?: readonly string[];
}

/** Settings of a launch plan; defaults and fixed inputs are typed by `launchPlan`. */
export interface LaunchPlanSettings {
  readonly name?: string;
  readonly defaults?: Readonly<Record<string, unknown>>;
  readonly fixed?: Readonly<Record<string, unknown>>;
  readonly schedule?: Schedule;
  /** True: `flyte-ts register --activate` activates the launch plan. Default false. */
  readonly active?: boolean;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly maxParallelism?: number;
  /** Executions of this plan at a time; further ones are skipped. */
  readonly maxConcurrentExecutions?: number;
  readonly overwriteCache?: boolean;
  readonly interruptible?: boolean;
  readonly env?: Readonly<Record<string, string>>;
  readonly notify?: readonly NotifyRule[];
}
