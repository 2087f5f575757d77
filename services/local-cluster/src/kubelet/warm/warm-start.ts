/** Command to run; `environment` is complete, including the identifying variables. */
export interface StartRequest {
  /** Folder of the run's files. */
  readonly run: string;
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly directory: string;
}

/**
 * Result of a request. `declined`: nothing was started, and the caller must start a new process.
 * `taken`: another runner has claimed the run.
 */
export type WarmStart =
  | {
      readonly kind: "started";
      readonly pid: number;
      /** Resolves with the runner's exit status, negative for a signal; undefined when unknown. */
      readonly ended: Promise<number | undefined>;
    }
  | { readonly kind: "taken" }
  | { readonly kind: "declined" };

/** Origin of a container's process: a fork of a loaded one, a spare, or a new process. */
export type StartOrigin = "fork" | "spare" | "new";

/** Starts commands of some programs by processes that have loaded them. */
export interface WarmStarter {
  readonly origin: StartOrigin;
  /** Returns undefined when the command needs a new process. */
  start(request: StartRequest): Promise<WarmStart> | undefined;
  /** Ends the processes that wait; started runs continue. */
  close(): void;
  /** Kills the processes that wait, synchronously: pending requests do not start. */
  kill(): void;
}

/** Variables that differ between pods, and that no module reads before its task begins. */
export const PER_POD_VARIABLE = /^(HOME|TMPDIR|PWD|HOSTNAME|FLYTE_.*|_F_.*|BATCH_JOB_ARRAY_INDEX_.*)$/;
