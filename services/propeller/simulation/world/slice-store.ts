import { encodeSlice } from "@flyte-ts/workflow-crd/status";
import type { ResourcePatch, SliceBlob } from "../../src/engine/types.js";
import type { Random } from "../random.js";
import type { Faults } from "./faults.js";
import type { ProcessLifetime } from "../processes/process-lifetime.js";
import type { Schedule } from "./schedule.js";

export interface SliceStoreOptions {
  readonly schedule: Schedule;
  readonly random: Random;
  readonly faults: Faults;
  readonly onRemoved: (uri: string) => void;
}

export interface SliceWriter {
  /** True while the writing process may continue. */
  readonly mayWrite: () => boolean;
  /** Lifetime of the writing process. */
  readonly life: ProcessLifetime;
  /** Called when all slices are durable. */
  readonly done: () => void;
}

/**
 * The part of the blob store that holds slices. Writes and deletions are delayed, fail, and their
 * responses are lost.
 */
export class SliceStore {
  readonly blobs = new Map<string, Uint8Array>();
  written = 0;

  constructor(private readonly options: SliceStoreOptions) {}

  write(blobs: readonly SliceBlob[], writer: SliceWriter): void {
    let left = blobs.length;
    for (const blob of blobs) {
      this.#put(blob, writer, () => {
        left--;
        if (left === 0) writer.done();
      });
    }
  }

  /** Repeats the write until it is confirmed as stored. */
  #put(blob: SliceBlob, writer: SliceWriter, done: () => void): void {
    const { schedule, random, faults } = this.options;
    schedule.after(random.between(0.5, 30), () => {
      // A request of an ended process may arrive.
      if (!writer.life.alive && random.chance(0.5)) return;
      const failed = random.chance(faults.blobError);
      if (!failed || random.chance(0.5)) {
        this.blobs.set(blob.uri, encodeSlice(blob.entries));
        this.written++;
      }
      writer.life.after(0, () => {
        if (!writer.mayWrite()) return;
        if (failed) writer.life.after(random.between(50, 1_000), () => this.#put(blob, writer, done));
        else done();
      });
    });
  }

  /** After a write of the resource: deletes obsolete slices, sometimes too late or never. */
  deleteObsolete({ obsoleteSlices = [], deleteOtherSlices }: ResourcePatch, life: ProcessLifetime): void {
    const { random } = this.options;
    life.after(random.between(0.5, 500), () => {
      this.stop(obsoleteSlices);
      if (deleteOtherSlices !== undefined)
        this.stop(
          [...this.blobs.keys()].filter((uri) => uri.startsWith(`${deleteOtherSlices.prefix}/`) && !deleteOtherSlices.keep.includes(uri)),
        );
    });
  }

  stop(uris: readonly string[]): void {
    for (const uri of uris) if (this.blobs.delete(uri)) this.options.onRemoved(uri);
  }
}
