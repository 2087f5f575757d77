/** Something that keeps an execution from going on and may not go away by itself. */
export interface Hindrance {
  /** For people. It stays the same for as long as the cause does, for each change is told. */
  readonly text: string;
  /** Whether it is so still. */
  readonly holds: () => boolean;
}

/** What is in the way of one execution, by what it is about; the first that was found stands for all. */
export class Hindrances {
  readonly #found = new Map<unknown, Hindrance>();

  /** What is known of the subject already is replaced. */
  set(subject: unknown, hindrance: Hindrance): void {
    this.#found.set(subject, hindrance);
  }

  /** Whether the subject is in the way. */
  has(subject: unknown): boolean {
    return this.#found.get(subject)?.holds() === true;
  }

  /** The text of the first that holds; those before it are forgotten. */
  first(): string | undefined {
    for (const [subject, { text, holds }] of this.#found) {
      if (holds()) return text;
      this.#found.delete(subject);
    }
    return undefined;
  }
}
