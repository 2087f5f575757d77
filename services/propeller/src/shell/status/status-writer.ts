import { isTransient, type KubeClient, KubeError } from "@flyte-ts/kubernetes";
import type { Logger } from "@flyte-ts/telemetry";
import type { StatusWrite, StoredVersion } from "../../engine-io/write-gate.js";
import type { PropellerMetrics } from "../metrics.js";
import type { ExecutionSpans } from "../tracing/execution-spans.js";
import { objectName } from "../object-name.js";
import { patchConditionally } from "./conditional-patch.js";
import type { SliceStore } from "./slice-store.js";

/**
 * Outcome of a write. `unknown`: the write may have happened, or another client changed the
 * resource: the stored version must be read. `tooLarge`: the resource cannot hold this status.
 */
export type WriteOutcome =
  | { readonly kind: "written"; readonly stored: StoredVersion }
  /** `afterMs`: delay that the server requested. */
  | { readonly kind: "unknown"; readonly afterMs?: number | undefined }
  | { readonly kind: "tooLarge"; readonly message: string };

export interface StatusWriterOptions {
  readonly client: Pick<KubeClient, "get" | "mergePatch">;
  readonly slices: SliceStore;
  readonly metrics: PropellerMetrics;
  readonly logger: Logger;
  readonly spans?: Pick<ExecutionSpans, "onStatusWrite"> | undefined;
  readonly now: () => number;
}

/** Number of patches of which one is measured. */
const SIZE_SAMPLE_RATE = 8;

/** Writes a workflow's status, on condition that the resource is still the version of its run. */
export class StatusWriter {
  #writes = 0;

  constructor(private readonly options: StatusWriterOptions) {}

  /**
   * Writes the slices, then the resource that names them, which commits them. Never rejects.
   * `mayWrite`: true while this process holds the run.
   */
  async write(key: string, write: StatusWrite, mayWrite: () => boolean): Promise<WriteOutcome> {
    const { client, slices, metrics, logger, spans, now } = this.options;
    const { blobs = [], obsoleteSlices: _u, deleteOtherSlices: _s, ...patch } = write.patch;
    // Serializing a patch costs as much as sending it, so only a sample is measured.
    if (this.#writes++ % SIZE_SAMPLE_RATE === 0) metrics.statusWriteBytes.observe(JSON.stringify(patch).length);
    const start = now();
    const end = metrics.statusWrites.startTimer();
    try {
      if (blobs.length > 0 && !(await slices.write(blobs, mayWrite))) return { kind: "unknown" };
      // The lease may have expired while the write was queued or the process paused.
      if (!mayWrite()) return { kind: "unknown" };
      const stored = await patchConditionally(client, { name: objectName(key), patch, base: write.base, mayWrite });
      end({ outcome: "ok" });
      spans?.onStatusWrite(key, { start, end: now(), outcome: "written" });
      slices.deleteObsolete(write.patch);
      return { kind: "written", stored };
    } catch (error) {
      end({ outcome: "error" });
      spans?.onStatusWrite(key, { start, end: now(), outcome: "error" });
      if (error instanceof KubeError && error.status === 413) {
        logger.warn({ workflow: key }, "status is too large for the resource");
        return { kind: "tooLarge", message: error.message };
      }
      const level = isTransient(error) ? "warn" : "info";
      logger[level]({ workflow: key, error: String(error) }, "status could not be written; reloading the resource");
      return { kind: "unknown", afterMs: error instanceof KubeError ? error.retryAfterMs : undefined };
    }
  }
}
