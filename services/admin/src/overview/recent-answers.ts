import { BoundedMap } from "@flyte-ts/async";

const LIFETIME_MS = 5_000;
const MAX_ANSWERS = 100;

interface Entry<Answer> {
  readonly answer: Promise<Answer>;
  readonly until: number;
}

/** Answers of the last seconds by key. Concurrent callers of the same key share one computation. */
export class RecentAnswers<Answer> {
  readonly #entries = new BoundedMap<string, Entry<Answer>>(MAX_ANSWERS);

  constructor(private readonly clock: () => Date) {}

  /** Returns the recent answer, or computes a new one. An error is not kept. */
  get(key: string, compute: () => Promise<Answer>): Promise<Answer> {
    const now = this.clock().getTime();
    const known = this.#entries.get(key);
    if (known !== undefined && known.until > now) return known.answer;
    const answer = compute();
    const entry = { answer, until: now + LIFETIME_MS };
    this.#entries.set(key, entry);
    answer.catch(() => {
      if (this.#entries.get(key) === entry) this.#entries.delete(key);
    });
    return answer;
  }
}
