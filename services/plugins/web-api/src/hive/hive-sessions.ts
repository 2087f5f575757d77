import { BoundedSet } from "@flyte-ts/async";
import { ApiError } from "../frame/call/api-error.js";
import { ignoreMissing } from "../frame/call/ignore-missing.js";
import type { Reading } from "../frame/web-api.js";
import type { HiveAttempt } from "./hive-attempt.js";
import type { HiveClient } from "./hive-client.js";
import type { HiveJob } from "./hive-job.js";
import { hadNoEffect } from "./http-transport.js";
import { refusedStatement, statementLost, stepProgress } from "./observe-operation.js";

/** Number of closed sessions that are remembered, for an abort that reads them once more. */
const MAX_CLOSED = 10_000;

/**
 * Opens sessions of attempts in HiveServer2, starts statements in them, and closes them.
 * @throws ApiError, BlobUnavailableError
 */
export class HiveSessions {
  /** Attempts with further statements that this process follows, by session. */
  readonly #attempts = new Map<string, HiveAttempt>();
  readonly #closed = new BoundedSet<string>(MAX_CLOSED);
  /** Sessions whose next statement was refused without an effect. */
  readonly #unsent = new Set<string>();

  constructor(private readonly client: HiveClient) {}

  /** Follows a job that another process started. */
  add(attempt: HiveAttempt, job: HiveJob): HiveJob {
    if (job.steps > 1) this.#attempts.set(job.session, attempt);
    return job;
  }

  isClosed({ session }: HiveJob): boolean {
    return this.#closed.has(session);
  }

  /** Opens a session and starts the first statement in it. */
  async open(attempt: HiveAttempt): Promise<HiveJob> {
    const { statements, configuration } = attempt.query;
    const session = await this.client.openSession(configuration);
    const job: HiveJob = { session, operation: "", step: 0, steps: statements.length };
    return this.add(attempt, await this.#execute(attempt, job));
  }

  startNext(job: HiveJob): Promise<Reading<HiveJob>> {
    return this.#start({ ...job, operation: "", step: job.step + 1 });
  }

  /** Starts a statement without a handle again; stops it when it may have been started before. */
  async startAgain(job: HiveJob): Promise<Reading<HiveJob>> {
    if (this.#unsent.delete(job.session)) return this.#start(job);
    await this.close(job);
    return { kind: "observed", observation: statementLost(job) };
  }

  /** Cancels the statement and closes the session, which ends all that runs in it. */
  async close({ session, operation }: HiveJob): Promise<void> {
    if (operation !== "") await ignoreMissing(() => this.client.cancelOperation(operation));
    await ignoreMissing(() => this.client.closeSession(session));
    this.#closed.add(session);
  }

  /** Forgets what only further statements need. */
  forget({ session }: HiveJob): void {
    this.#attempts.delete(session);
    this.#unsent.delete(session);
  }

  async #start(job: HiveJob): Promise<Reading<HiveJob>> {
    const attempt = this.#attempts.get(job.session);
    if (attempt === undefined) throw new Error("a statement was to be started for an attempt that is not followed");
    try {
      return stepProgress(await this.#execute(attempt, job));
    } catch (error) {
      if (!(error instanceof ApiError) || error.kind === "missing") throw error;
      if (!error.passes) return { kind: "observed", observation: refusedStatement(job, error), job };
      if (!hadNoEffect(error)) return this.startAgain(job);
      this.#unsent.add(job.session);
      throw error;
    }
  }

  /** Records the job before and after the call. */
  async #execute({ query, record }: HiveAttempt, job: HiveJob): Promise<HiveJob> {
    await record.write(job);
    const operation = await this.client.execute(job.session, query.statements[job.step] ?? "");
    const started = { ...job, operation };
    await record.write(started);
    return started;
  }
}
