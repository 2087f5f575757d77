import pg from "pg";
import { isAnswerMissing } from "./errors.js";
import type { Query, Queryable, Result } from "./query.js";

/** The connection broke after COMMIT was sent: the transaction may or may not be committed. */
export class CommitOutcomeUnknownError extends Error {
  override readonly name = "CommitOutcomeUnknownError";
}

export async function run<T>(client: pg.Pool | pg.PoolClient, query: Query): Promise<Result<T>> {
  const result = await client.query({
    text: query.text,
    values: query.values as unknown[] | undefined,
    ...(query.name ? { name: query.name } : {}),
  });
  return { rows: result.rows as T[], rowCount: result.rowCount ?? 0 };
}

export async function transaction<T>(pool: pg.Pool, work: (tx: Queryable) => Promise<T>): Promise<T> {
  const session = new Session(await pool.connect());
  try {
    await session.query({ text: "BEGIN" });
    const result = await rolledBackOnError(session, work);
    await commit(session);
    return result;
  } finally {
    session.release();
  }
}

async function rolledBackOnError<T>(session: Session, work: (tx: Queryable) => Promise<T>): Promise<T> {
  try {
    return await work(session);
  } catch (error) {
    if (session.lost === undefined) await session.query({ text: "ROLLBACK" }).catch((failure: Error) => session.lose(failure));
    throw error;
  }
}

async function commit(session: Session): Promise<void> {
  if (session.lost !== undefined) throw session.lost;
  try {
    await session.query({ text: "COMMIT" });
  } catch (cause) {
    // A refusal by the server (a deferred constraint, a serialization failure) has a code and
    // means: not committed.
    if (cause instanceof pg.DatabaseError && !cause.code?.startsWith("57")) throw cause;
    session.lose(cause as Error);
    throw new CommitOutcomeUnknownError("the connection was lost while the transaction was being committed", { cause });
  }
}

/**
 * A connection of the pool during one transaction. Once it is lost, its statements fail at once,
 * and the pool does not reuse it: a statement behind one without an answer would wait for it.
 */
class Session implements Queryable {
  #lost: Error | undefined;
  readonly #onError = (error: Error) => this.lose(error);

  constructor(private readonly client: pg.PoolClient) {
    client.on("error", this.#onError);
  }

  /** First error that ended the connection. */
  get lost(): Error | undefined {
    return this.#lost;
  }

  lose(error: Error): void {
    this.#lost ??= error;
  }

  async query<T>(query: Query): Promise<Result<T>> {
    if (this.#lost !== undefined) throw this.#lost;
    try {
      return await run<T>(this.client, query);
    } catch (error) {
      if (isAnswerMissing(error)) this.lose(error);
      throw error;
    }
  }

  release(): void {
    this.client.off("error", this.#onError);
    this.client.release(this.#lost);
  }
}
