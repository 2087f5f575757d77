import { closeSync, constants, fsyncSync, ftruncateSync, openSync, write } from "node:fs";
import { isDiskFull } from "./disk-errors.js";

/** Delay of retries on a full disk, ms. */
const DISK_FULL_RETRY_MS = 500;

/** Writes to an open file like `fs.write`; replaceable in tests. */
export type Write = (
  fd: number,
  from: { readonly buffer: Buffer; readonly offset: number },
  done: (error: NodeJS.ErrnoException | null, written: number) => void,
) => void;

const writeToDisk: Write = (fd, { buffer, offset }, done) => write(fd, buffer, offset, buffer.length - offset, null, done);

export interface LogFileOptions {
  /** Number of bytes to keep; the rest is truncated. */
  readonly length: number;
  /** Called once on a permanent write error; later writes are not acknowledged. */
  readonly fail: (error: Error) => void;
  /** Called when the disk is full, and with undefined when writes succeed again. */
  readonly onFull?: (error: Error | undefined) => void;
  /** Delays all writes until the previous log is complete. */
  readonly after?: Promise<void>;
  readonly write?: Write;
}

/**
 * Append-only file with durable writes. Lines that arrive during a write are combined in the next
 * one (group commit), so that many clients share a disk flush (0.1 ms or more). On a full disk a
 * write waits for space and continues where it stopped.
 */
export class LogFile {
  readonly #fd: number;
  readonly #fail: (error: Error) => void;
  readonly #onFull: ((error: Error | undefined) => void) | undefined;
  readonly #write: Write;
  #full = false;
  #lines: string[] = [];
  #waiting: (() => void)[] = [];
  #writing = false;
  #failed = false;
  /** Size of the file, bytes. */
  bytes: number;

  constructor(path: string, { length, fail, onFull, after, write: given = writeToDisk }: LogFileOptions) {
    this.#fd = openSync(path, constants.O_CREAT | constants.O_WRONLY | constants.O_APPEND | constants.O_DSYNC, 0o600);
    ftruncateSync(this.#fd, length);
    fsyncSync(this.#fd);
    this.bytes = length;
    this.#fail = fail;
    this.#onFull = onFull;
    this.#write = given;
    if (after === undefined) return;
    this.#writing = true;
    void after.then(() => this.#next());
  }

  /** Calls back in order when the line is durable. */
  append(line: string, written: () => void): void {
    this.#lines.push(line);
    this.#waiting.push(written);
    if (this.#writing || this.#failed) return;
    this.#writing = true;
    queueMicrotask(() => this.#flush());
  }

  #flush(): void {
    const waiting = this.#waiting;
    const buffer = Buffer.from(this.#lines.join(""));
    this.#lines = [];
    this.#waiting = [];
    this.#writeFrom(buffer, 0, () => {
      this.bytes += buffer.length;
      for (const written of waiting) written();
      this.#next();
    });
  }

  #next(): void {
    if (this.#lines.length > 0) this.#flush();
    else this.#writing = false;
  }

  #writeFrom(buffer: Buffer, offset: number, done: () => void): void {
    this.#write(this.#fd, { buffer, offset }, (error, count) => {
      if (error !== null && isDiskFull(error)) {
        this.#setFull(error);
        // Readiness reports the full disk meanwhile. The timer keeps the process alive, since
        // clients wait for these writes.
        setTimeout(() => this.#writeFrom(buffer, offset, done), DISK_FULL_RETRY_MS);
      } else if (error !== null) {
        this.#failed = true;
        this.#fail(error);
      } else if (offset + count < buffer.length) this.#writeFrom(buffer, offset + count, done);
      else {
        this.#setFull(undefined);
        done();
      }
    });
  }

  #setFull(error: Error | undefined): void {
    if (this.#full === (error !== undefined)) return;
    this.#full = error !== undefined;
    this.#onFull?.(error);
  }

  close(): void {
    closeSync(this.#fd);
  }
}
