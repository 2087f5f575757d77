/** Time after which a stream goes on although the page has not drawn. */
const PATIENCE_MS = 150;

/**
 * Pause of a stream while the page draws its first rows. Reading the others takes a processor that
 * the page, the browser and the server share.
 */
export class FirstDraw {
  readonly #schedule: (run: () => void, delayMs: number) => void;
  #isOver = false;
  #end = (): void => undefined;

  /** @param schedule runs a function after a delay */
  constructor(schedule: (run: () => void, delayMs: number) => void) {
    this.#schedule = schedule;
  }

  /** Resolves when the page has drawn, or after some time; the stream waits once. */
  async wait(): Promise<void> {
    if (this.#isOver) return;
    await new Promise<void>((resolve) => {
      this.#end = resolve;
      this.#schedule(resolve, PATIENCE_MS);
    });
    this.#isOver = true;
  }

  /** Ends the pause: the page has drawn, or shows something else. */
  end(): void {
    this.#isOver = true;
    this.#end();
  }
}
