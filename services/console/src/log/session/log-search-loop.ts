import { LineSearch } from "../text/line-search.js";
import type { LineStore } from "../text/line-store.js";
import type { LogQuery } from "../text/log-pattern.js";
import type { FoundMatch, SearchState } from "./protocol.js";

/** Parts of the log that the bar of marks tells apart. */
const MARKS = 400;
/** Time after which a search lets other work go first, ms. */
const SLICE_MS = 12;
/** Time between two states of a search that goes on, ms: each is a frame of the page. */
const POST_MS = 100;

interface SearchLoopOptions {
  readonly store: () => LineStore;
  readonly post: (state: SearchState | undefined) => void;
  readonly now: () => number;
  /** Runs later, after messages that have arrived. */
  readonly schedule: (run: () => void, delayMs: number) => void;
}

/** Searches a store in slices, and goes on with lines that are appended. */
export class SearchLoop {
  readonly #options: SearchLoopOptions;
  #search: LineSearch | undefined;
  #isScheduled = false;
  #isPostDue = false;
  #postedAt = Number.NEGATIVE_INFINITY;
  /** The lines that were there when the search began are searched. */
  #isAnswered = false;

  constructor(options: SearchLoopOptions) {
    this.#options = options;
  }

  /** Begins a search; undefined ends it. */
  begin(query: LogQuery | undefined): void {
    this.#search = undefined;
    this.#isAnswered = false;
    if (query === undefined || query.text === "") return this.#options.post(undefined);
    try {
      this.#search = new LineSearch(query);
    } catch (error) {
      return this.#options.post({ count: 0, marks: new Uint8Array(MARKS), isDone: true, problem: String((error as Error).message) });
    }
    this.resume();
  }

  /** Searches lines that have been appended. */
  resume(): void {
    if (this.#search === undefined || this.#isScheduled) return;
    this.#isScheduled = true;
    this.#options.schedule(() => this.#run(), 0);
  }

  find(line: number, direction: 1 | -1): FoundMatch {
    const search = this.#search;
    if (search === undefined || search.count === 0) return { index: -1, line: -1 };
    const at = search.indexFrom(line) - (direction === 1 ? 0 : 1);
    const index = (at + search.count) % search.count;
    return { index, line: search.lineAt(index) };
  }

  #run(): void {
    this.#isScheduled = false;
    const search = this.#search;
    if (search === undefined) return;
    const { store, now } = this.#options;
    const lines = store();
    const end = now() + SLICE_MS;
    let isDone = false;
    while (!isDone && now() < end) isDone = !search.step(lines);
    // A person waits for the answer; lines that are appended later can wait.
    if (isDone && !this.#isAnswered) this.#post();
    else this.#postInTime();
    this.#isAnswered ||= isDone;
    if (!isDone) this.resume();
  }

  #postInTime(): void {
    if (this.#isPostDue) return;
    this.#isPostDue = true;
    this.#options.schedule(
      () => {
        if (this.#isPostDue) this.#post();
      },
      Math.max(0, this.#postedAt + POST_MS - this.#options.now()),
    );
  }

  #post(): void {
    this.#isPostDue = false;
    const search = this.#search;
    if (search === undefined) return;
    const { store, post, now } = this.#options;
    const lines = store();
    this.#postedAt = now();
    post({
      count: search.count,
      marks: search.marks(MARKS, Math.max(1, lines.length)),
      isDone: search.next >= lines.completeLength,
    });
  }
}
