import { randomUUID } from "node:crypto";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { SingleFlight } from "@flyte-ts/async";

/** Error codes of a disk, or a quota on it, without free space; transient. */
const DISK_FULL_CODES: readonly string[] = ["ENOSPC", "EDQUOT"];

/** Size of the test file, bytes: the disk counts as writable again when it fits. */
const PROBE_BYTES = 256 * 1024;

export function isDiskFull(error: unknown): boolean {
  return error instanceof Error && "code" in error && DISK_FULL_CODES.includes(String(error.code));
}

/** Formats the error for the operator: the directory and the remedy. */
export function describeDiskFull(error: unknown, folder: string): string {
  const text = error instanceof Error ? error.message : String(error);
  return `the disk that holds ${folder} is full (${text}): free some space; writes then resume`;
}

export interface DiskSpaceOptions {
  /** Directory of the store, for messages. */
  readonly dataDir: string;
  /** Directory on the same disk for test files; it is emptied when the store is opened. */
  readonly probeDir: string;
  /** Called once when the disk is full, and with undefined when it has space again. */
  readonly onChange: (problem: string | undefined) => void;
}

/**
 * Tracks whether the disk of the store accepts writes. A failed write marks it as full; then each
 * query writes a test file.
 */
export class DiskSpaceMonitor {
  #problem: string | undefined;
  readonly #probing = new SingleFlight<void>();

  constructor(private readonly options: DiskSpaceOptions) {}

  /** Records a write that failed for lack of space. @returns the problem for the operator */
  reportFull(error: unknown): string {
    const problem = describeDiskFull(error, this.options.dataDir);
    if (this.#problem === undefined) this.options.onChange(problem);
    this.#problem = problem;
    return problem;
  }

  /** Reason why writes fail now; undefined when they succeed. */
  async problem(): Promise<string | undefined> {
    if (this.#problem === undefined) return undefined;
    await this.#probing.run("", () => this.#probe());
    return this.#problem;
  }

  async #probe(): Promise<void> {
    const file = join(this.options.probeDir, randomUUID());
    try {
      await writeFile(file, Buffer.alloc(PROBE_BYTES), { flag: "wx", flush: true });
      this.#problem = undefined;
      this.options.onChange(undefined);
    } catch (error) {
      if (isDiskFull(error)) this.reportFull(error);
      else throw error;
    } finally {
      await rm(file, { force: true });
    }
  }
}
