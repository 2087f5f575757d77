import { LineSearch } from "../text/line-search.js";
import type { LineStore } from "../text/line-store.js";
import type { LogQuery } from "../text/log-pattern.js";
import type { FoundMatch, SearchState } from "./protocol.js";

/** Parts of the log that the bar of marks tells apart. */
const MARKS = 400;
/** Time after which a search lets other work go first, ms. */
const SLICE_MS = 12;

interface SearchLoopOptions {
  readonly store: () => LineStore;
  readonly post: (state: SearchState | undefined) => void;
  readonly now: () => number;
  /** Runs later, after messages that have arrived. */
  readonly schedule: (run: () => void) => void;
}

/** Searches a store in slices, and goes on with lines that are appended. */
export class SearchLoop {
  readonly #options: SearchLoopOptions;
  #search: LineSearch | undefined;
  #isScheduled = false;

  constructor(options: SearchLoopOptions) {
    this.#options = options;
  }

  /** Begins a search; undefined ends it. */
  begin(query: LogQuery | undefined): void {
    this.#search = undefined;
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
    this.#options.schedule(() => this.#run());
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
    const { store, post, now } = this.#options;
    const lines = store();
    const end = now() + SLICE_MS;
    let isDone = false;
    while (!isDone && now() < end) isDone = !search.step(lines);
    post({ count: search.count, marks: search.marks(MARKS, Math.max(1, lines.length)), isDone });
    if (!isDone) this.resume();
  }
}
