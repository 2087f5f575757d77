/** A reason why an execution makes no progress, which may not resolve itself. */
export interface Hindrance {
  /** Text for users. Constant while its cause lasts, since each change is published. */
  readonly text: string;
  /** True while the reason applies. */
  readonly holds: () => boolean;
}

/** Blockers of one execution, by subject; only the oldest is published. */
export class Hindrances {
  readonly #found = new Map<unknown, Hindrance>();

  /** Sets or replaces the blocker of a subject. */
  set(subject: unknown, hindrance: Hindrance): void {
    this.#found.set(subject, hindrance);
  }

  /** True when the subject has a blocker. */
  has(subject: unknown): boolean {
    return this.#found.get(subject)?.holds() === true;
  }

  /** Text of the first active blocker; removes inactive ones before it. */
  first(): string | undefined {
    for (const [subject, { text, holds }] of this.#found) {
      if (holds()) return text;
      this.#found.delete(subject);
    }
    return undefined;
  }
}
