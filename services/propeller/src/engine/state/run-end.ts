/** End of the execution: its abort, the publication of its terminal event, its finalization. */
export class RunEnd {
  /** Reason of the abort of the whole execution; undefined without one. */
  abortReason: string | undefined;
  /** Time at which the workflow ended, ms, if this process observed it. */
  endedAt: number | undefined;
  /** Time at which the terminal event is published again, ms. */
  republishAt: number | undefined;
  /** Number of publications of the terminal event. */
  publishCount = 0;
  /** The end is recorded: labels and finalizer must be changed. */
  finalization: "none" | "requested" | "patched" = "none";

  abort(reason: string): void {
    this.abortReason = reason;
  }

  markEnded(now: number): void {
    this.endedAt = now;
  }

  /** Counts a publication of the terminal event, which `republishAt` repeats. */
  terminalPublished(republishAt: number): void {
    this.publishCount++;
    this.republishAt = republishAt;
  }

  requestFinalization(): void {
    this.finalization = "requested";
    this.republishAt = undefined;
  }

  /** The patch that finalizes the resource was taken. */
  finalizationPatched(): void {
    this.finalization = "patched";
  }
}
