import { randomUUID } from "node:crypto";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** Errors of a disk, or a quota on it, that has no room now and may have some later. */
const DISK_FULL_CODES: readonly string[] = ["ENOSPC", "EDQUOT"];

/** Bytes that a disk must take before it counts as having room again. */
const PROBE_BYTES = 256 * 1024;

export function isDiskFull(error: unknown): boolean {
  return error instanceof Error && "code" in error && DISK_FULL_CODES.includes(String(error.code));
}

/** Tells a person of a full disk: which folder, and what to do. */
export function describeDiskFull(error: unknown, folder: string): string {
  const text = error instanceof Error ? error.message : String(error);
  return `the disk that holds ${folder} is full (${text}): free some space, and writing goes on by itself`;
}

export interface DiskSpaceOptions {
  /** Folder of the store, as it is told. */
  readonly dataDir: string;
  /** Folder on the same disk for the file that tries whether there is room; it is emptied when the store is opened. */
  readonly probeDir: string;
  /** Told once when the disk is full, and, with undefined, when it has room again. */
  readonly onChange: (problem: string | undefined) => void;
}

/** Whether the disk of the store takes writes. A write that fails says that it does not; from then on each question tries again. */
export class DiskSpaceMonitor {
  #problem: string | undefined;
  #probing: Promise<void> | undefined;

  constructor(private readonly options: DiskSpaceOptions) {}

  /** Takes note of a write that failed for want of room. @returns the problem, for a person */
  reportFull(error: unknown): string {
    const problem = describeDiskFull(error, this.options.dataDir);
    if (this.#problem === undefined) this.options.onChange(problem);
    this.#problem = problem;
    return problem;
  }

  /** Reason why nothing can be written now; undefined when it can. */
  async problem(): Promise<string | undefined> {
    if (this.#problem === undefined) return undefined;
    this.#probing ??= this.#probe().finally(() => {
      this.#probing = undefined;
    });
    await this.#probing;
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
