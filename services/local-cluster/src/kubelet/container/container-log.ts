import { appendFileSync, closeSync, copyFileSync, openSync, readFileSync, readSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { logFile, logTimesFile, type RunDir } from "./run-dir.js";

/** kubelet's limits of messages from logs. */
const MAX_MESSAGE_BYTES = 2048;
const MAX_MESSAGE_LINES = 80;
/** Maximum size of a termination message, bytes. */
export const MAX_TERMINATION_BYTES = 4096;

export function logSize(run: RunDir): number {
  try {
    return statSync(logFile(run)).size;
  } catch {
    return 0;
  }
}

/** Reads part of the log. */
export function readLog(run: RunDir, start: number, length: number): Buffer {
  const buffer = Buffer.alloc(length);
  const fd = openSync(logFile(run), "r");
  try {
    return buffer.subarray(0, readSync(fd, buffer, 0, length, start));
  } finally {
    closeSync(fd);
  }
}

/** Returns the end of the log as termination message (FallbackToLogsOnError). */
export function logTail(run: RunDir): string {
  const size = logSize(run);
  if (size === 0) return "";
  const text = readLog(run, Math.max(0, size - MAX_MESSAGE_BYTES), MAX_MESSAGE_BYTES).toString("utf8");
  const lines = text.split("\n");
  return lines.slice(Math.max(0, lines.length - MAX_MESSAGE_LINES - 1)).join("\n");
}

/** Returns the offset of the last `count` lines. */
export function tailOffset(run: RunDir, count: number): number {
  const size = logSize(run);
  if (count <= 0) return size;
  const step = 64 << 10;
  let lines = 0;
  for (let end = size; end > 0; end -= step) {
    const start = Math.max(0, end - step);
    const bytes = readLog(run, start, end - start);
    for (let i = bytes.length - 1; i >= 0; i--) {
      if (bytes[i] !== 10 || start + i === size - 1) continue;
      if (++lines === count) return start + i + 1;
    }
  }
  return 0;
}

/**
 * Records when parts of a log were written. Processes write to the file directly; its size is
 * sampled several times a second, which bounds the precision of the times.
 */
export class LogGrowthRecorder {
  readonly #run: RunDir;
  readonly #maxBytes: number;
  #seen: number;

  constructor(run: RunDir, maxBytes: number) {
    this.#run = run;
    this.#maxBytes = maxBytes;
    this.#seen = readTimes(run).at(-1)?.end ?? 0;
  }

  /**
   * Records growth, and rotates a log that exceeds the limit to `log.1`. On a full disk the times
   * of lines, and what a rotation would keep, are lost: the pod goes on.
   */
  sample(now: number): void {
    const size = logSize(this.#run);
    if (size > this.#maxBytes) {
      attempt(() => copyFileSync(logFile(this.#run), `${logFile(this.#run)}.1`));
      attempt(() => truncateSync(logFile(this.#run), 0));
      attempt(() => writeFileSync(logTimesFile(this.#run), ""));
      this.#seen = 0;
    } else if (size !== this.#seen) {
      attempt(() => appendFileSync(logTimesFile(this.#run), `${size} ${now}\n`));
      this.#seen = size;
    }
  }
}

function attempt(write: () => void): void {
  try {
    write();
  } catch {
    // Tried again with the next growth.
  }
}

/** Returns growth records: the log had `end` bytes at time `at`. */
export function readTimes(run: RunDir): readonly { end: number; at: number }[] {
  try {
    return readFileSync(logTimesFile(run), "utf8")
      .split("\n")
      .slice(0, -1)
      .map((line) => {
        const [end, at] = line.split(" ").map(Number);
        return { end: end ?? 0, at: at ?? 0 };
      });
  } catch {
    return [];
  }
}
