import type { Time } from "@flyte-ts/async";
import type { TaskStatus } from "@flyte-ts/task-plugin";
import type { Logger } from "@flyte-ts/telemetry";
import type { Routes } from "../discovery/routes.js";
import type { Endpoint } from "../endpoint/endpoint.js";
import type { ResultLimits } from "@flyte-ts/task-plugin/files";
import type { CreationRecords } from "../record/creation-record.js";
import type { DataStore } from "../result/read-result.js";
import type { LiveAttempt } from "../attempt/live-attempt.js";
import type { PollingConfig } from "./poll-delay.js";

/** Result of one step of an attempt. */
export interface StepResult {
  readonly status: TaskStatus;
  /** Delay before the next step, ms; absent after the end. */
  readonly againInMs?: number;
  /**
   * Repeats the step early: when the route of the task type changes or its endpoint answers again,
   * or when this endpoint has room.
   */
  readonly waitsFor?: "route" | Endpoint;
  /** True for an end at which the job may still run: the finalization stops it. */
  readonly leavesJob?: boolean;
}

export interface StepConfig {
  readonly polling: PollingConfig;
  /** Task type → intervals. */
  readonly pollingOfTaskTypes: Readonly<Record<string, PollingConfig>>;
  readonly unavailableMs: number;
  readonly getTaskErrors: number;
  readonly limits: ResultLimits;
  readonly taskLogs: { readonly enabled: boolean; readonly maxBytes: number };
  readonly taskMetrics: {
    readonly enabled: boolean;
    /** Task type → queries; absent: those that the connector chooses. */
    readonly queriesOfTaskTypes: Readonly<Record<string, readonly string[]>>;
    readonly stepMs: number;
  };
}

/** Environment of the steps. */
export interface StepContext {
  readonly config: StepConfig;
  readonly store: DataStore;
  readonly records: CreationRecords;
  readonly clock: Time;
  readonly random: () => number;
  readonly logger: Logger;
  readonly endpoints: ReadonlyMap<string, Endpoint>;
  readonly routes: () => Routes;
  /** Asks all endpoints for their task types; resolves when each has answered or failed. */
  readonly refreshRoutes: () => Promise<void>;
  /** Reports a status in the middle of a step. */
  readonly show: (attempt: LiveAttempt, status: TaskStatus) => void;
}
