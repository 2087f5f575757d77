import { Semaphore } from "@flyte-ts/async";

/**
 * Limits the calls of a connection that are processed at the same time. Further calls wait in the
 * order of their arrival. A client that sends thousands of calls then delays its own calls; the
 * calls of other connections wait for a few of them only.
 */
export class ConnectionLimits {
  readonly #semaphores = new WeakMap<object, Semaphore>();

  /** @param maxCalls maximum number of calls per connection that are processed at the same time */
  constructor(private readonly maxCalls: number) {}

  /** Runs the task when fewer calls of the connection than the limit are processed. */
  run<T>(connection: object, task: () => Promise<T>): Promise<T> {
    let semaphore = this.#semaphores.get(connection);
    if (semaphore === undefined) this.#semaphores.set(connection, (semaphore = new Semaphore(this.maxCalls)));
    return semaphore.run(task);
  }
}
