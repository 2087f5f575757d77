import type { Literal } from "@flyte-ts/idl/flyteidl/core/literals_pb";

/**
 * A value that TypeScript cannot read, such as a pickle of Python. It may be passed on to another
 * task.
 */
export class FlyteOpaque {
  readonly #literal: Literal;

  constructor(
    literal: Literal,
    /** The cause why it cannot be read. */
    readonly reason: string,
  ) {
    this.#literal = literal;
  }

  /** Returns the address of the content, if it has one. */
  get uri(): string | undefined {
    const value = this.#literal.value;
    const scalar = value.case === "scalar" ? value.value.value : undefined;
    return scalar?.case === "blob" || scalar?.case === "schema" ? scalar.value.uri : undefined;
  }

  /** Returns the value as Flyte carries it. */
  toLiteral(): Literal {
    return this.#literal;
  }

  toJSON(): never {
    throw new TypeError(`this value cannot be read in TypeScript: ${this.reason}; pass it on to a task that can`);
  }
}
