/** Loads a value on first use and keeps it. After a failed load, the next use loads it again. */
export class Lazy<T> {
  #value: Promise<T> | undefined;

  constructor(private readonly load: () => Promise<T>) {}

  /**
   * The value that was loaded or is being loaded; undefined before the first use and after a failed
   * load.
   */
  get loaded(): Promise<T> | undefined {
    return this.#value;
  }

  /** @throws the error of the load, to all callers that share it. */
  get(): Promise<T> {
    if (this.#value === undefined) {
      const value = this.load();
      this.#value = value;
      value.catch(() => {
        if (this.#value === value) this.#value = undefined;
      });
    }
    return this.#value;
  }
}
