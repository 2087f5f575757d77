/** Faults of the next calls of a stand-in, in order. */
export type Fault =
  /** The call is answered. */
  | { readonly kind: "none" }
  /** The call is refused with this error and has no effect. */
  | { readonly kind: "refuse"; readonly error: Error }
  /** The call has its effect, and its answer is lost. */
  | { readonly kind: "lose"; readonly error: Error };

export class Faults {
  readonly #next: Fault[] = [];

  add(...faults: readonly Fault[]): void {
    this.#next.push(...faults);
  }

  clear(): void {
    this.#next.length = 0;
  }

  async apply<T>(call: () => Promise<T> | T): Promise<T> {
    const fault = this.#next.shift();
    if (fault?.kind === "refuse") throw fault.error;
    const result = await call();
    if (fault?.kind === "lose") throw fault.error;
    return result;
  }
}

export const lostConnection = (): Error => Object.assign(new Error("socket hang up"), { code: "ECONNRESET" });

/** An error as AWS's SDK throws it. */
export function awsSdkError(name: string, status: number, message = name): Error {
  return Object.assign(new Error(message), { name, $metadata: { httpStatusCode: status } });
}
