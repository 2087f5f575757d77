/** Serializes tasks with the same key, in the order of their calls. */
export class KeyedMutex {
  readonly #last = new Map<string, Promise<void>>();

  /** Runs the task when all earlier ones of the key have ended, whatever their result. */
  async run<T>(key: string, task: () => Promise<T>): Promise<T> {
    const previous = this.#last.get(key) ?? Promise.resolve();
    const result = previous.then(task);
    const done = result.then(
      () => undefined,
      () => undefined,
    );
    this.#last.set(key, done);
    try {
      return await result;
    } finally {
      if (this.#last.get(key) === done) this.#last.delete(key);
    }
  }
}
