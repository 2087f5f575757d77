export type JobState = "pending" | "running" | "succeeded" | "failed" | "cancelled";

interface RemoteJob {
  /** Name that decides on its end: `succeed…`, `fail…`, others run until a cancellation. */
  readonly mode: string;
  reads: number;
  isCancelled: boolean;
}

/** Jobs of a remote API: pending at the first read, running at the second, then at their end. */
export class RemoteJobs {
  readonly #jobs = new Map<string, RemoteJob>();

  start(id: string, mode: string): void {
    if (this.#jobs.has(id)) throw new Error(`job ${id} was started twice`);
    this.#jobs.set(id, { mode, reads: 0, isCancelled: false });
  }

  cancel(id: string): void {
    const job = this.#jobs.get(id);
    if (job !== undefined) job.isCancelled = true;
  }

  /** Undefined for an unknown job. */
  read(id: string): JobState | undefined {
    const job = this.#jobs.get(id);
    if (job === undefined) return undefined;
    if (job.isCancelled) return "cancelled";
    const reads = job.reads++;
    if (reads === 0) return "pending";
    if (reads === 1) return "running";
    if (job.mode.startsWith("succeed")) return "succeeded";
    return job.mode.startsWith("fail") ? "failed" : "running";
  }

  /** Modes of cancelled jobs. */
  get cancelled(): readonly string[] {
    return [...this.#jobs.values()].filter(({ isCancelled }) => isCancelled).map(({ mode }) => mode);
  }

  /** Modes of all jobs. */
  get modes(): readonly string[] {
    return [...this.#jobs.values()].map(({ mode }) => mode);
  }
}
