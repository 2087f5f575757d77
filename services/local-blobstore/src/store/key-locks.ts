/** Lets one at a time work on a key; others wait in the order in which they came. */
export class KeyedMutex {
  readonly #last = new Map<string, Promise<void>>();

  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key) ?? Promise.resolve();
    const mine = before.then(work);
    const done = mine.then(
      () => undefined,
      () => undefined,
    );
    this.#last.set(key, done);
    try {
      return await mine;
    } finally {
      if (this.#last.get(key) === done) this.#last.delete(key);
    }
  }
}
