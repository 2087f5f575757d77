/**
 * Optional calls that connectors of an endpoint lack, by task type: they are not tried again until
 * the endpoint has been away, since another build may have taken its place.
 */
export class UnsupportedCalls {
  readonly #calls = new Set<string>();

  add(call: string, taskType: string): void {
    this.#calls.add(`${call} ${taskType}`);
  }

  has(call: string, taskType: string): boolean {
    return this.#calls.has(`${call} ${taskType}`);
  }

  /** Forgets all, when the endpoint does not answer. */
  clear(): void {
    this.#calls.clear();
  }
}
