import { randomUUID } from "node:crypto";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** Errors of a disk, or a quota on it, that has no room now and may have some later. */
const FULL: readonly string[] = ["ENOSPC", "EDQUOT"];

/** Bytes that a disk must take before it counts as having room again. */
const PROBE_BYTES = 256 * 1024;

export function isFull(error: unknown): boolean {
  return error instanceof Error && "code" in error && FULL.includes(String(error.code));
}

/** Tells a person of a full disk: which folder, and what to do. */
export function describeFull(error: unknown, folder: string): string {
  const text = error instanceof Error ? error.message : String(error);
  return `the disk that holds ${folder} is full (${text}): free some space, and writing goes on by itself`;
}

export interface DiskRoomOptions {
  /** Folder of the store, as it is told. */
  readonly folder: string;
  /** Folder on the same disk for the file that tries whether there is room; it is emptied when the store is opened. */
  readonly probes: string;
  /** Told once when the disk is full, and, with undefined, when it has room again. */
  readonly onChange: (problem: string | undefined) => void;
}

/** Whether the disk of the store takes writes. A write that fails says that it does not; from then on each question tries again. */
export class DiskRoom {
  #problem: string | undefined;
  #trial: Promise<void> | undefined;

  constructor(private readonly options: DiskRoomOptions) {}

  /** Takes note of a write that failed for want of room. @returns the problem, for a person */
  noteFull(error: unknown): string {
    const problem = describeFull(error, this.options.folder);
    if (this.#problem === undefined) this.options.onChange(problem);
    this.#problem = problem;
    return problem;
  }

  /** Reason why nothing can be written now; undefined when it can. */
  async problem(): Promise<string | undefined> {
    if (this.#problem === undefined) return undefined;
    this.#trial ??= this.#try().finally(() => {
      this.#trial = undefined;
    });
    await this.#trial;
    return this.#problem;
  }

  async #try(): Promise<void> {
    const file = join(this.options.probes, randomUUID());
    try {
      await writeFile(file, Buffer.alloc(PROBE_BYTES), { flag: "wx", flush: true });
      this.#problem = undefined;
      this.options.onChange(undefined);
    } catch (error) {
      if (isFull(error)) this.noteFull(error);
      else throw error;
    } finally {
      await rm(file, { force: true });
    }
  }
}
