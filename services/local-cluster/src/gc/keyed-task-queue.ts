/**
 * Runs tasks later and deduplicated by key, at most 64 per turn of the event loop, so that requests
 * are served in between.
 */
export class KeyedTaskQueue {
  readonly #tasks = new Map<string, () => void>();
  readonly #onError: (error: unknown) => void;
  #scheduled = false;
  #closed = false;

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  add(key: string, task: () => void): void {
    if (this.#closed) return;
    this.#tasks.set(key, task);
    this.#schedule();
  }

  close(): void {
    this.#closed = true;
    this.#tasks.clear();
  }

  #schedule(): void {
    if (this.#scheduled || this.#tasks.size === 0) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      let budget = 64;
      for (const [key, task] of this.#tasks) {
        if (budget-- === 0) break;
        this.#tasks.delete(key);
        try {
          task();
        } catch (error) {
          this.#onError(error);
        }
      }
      this.#schedule();
    });
  }
}
