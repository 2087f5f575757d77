/** A reason why an execution makes no progress, which may not resolve itself. */
export interface Blocker {
  /** Text for users. Constant while its cause lasts, since each change is published. */
  readonly text: string;
  /** True while the reason applies. */
  readonly isActive: () => boolean;
}

/** Blockers of one execution, by subject; only the oldest is published. */
export class Blockers {
  readonly #blockers = new Map<unknown, Blocker>();

  /** Sets or replaces the blocker of a subject. */
  set(subject: unknown, blocker: Blocker): void {
    this.#blockers.set(subject, blocker);
  }

  /** True when the subject has a blocker. */
  has(subject: unknown): boolean {
    return this.#blockers.get(subject)?.isActive() === true;
  }

  /** Text of the first active blocker; removes inactive ones before it. */
  firstActive(): string | undefined {
    for (const [subject, { text, isActive }] of this.#blockers) {
      if (isActive()) return text;
      this.#blockers.delete(subject);
    }
    return undefined;
  }
}
