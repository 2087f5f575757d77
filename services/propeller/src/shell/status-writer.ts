import { isTransient, type KubeClient, KubeError } from "@flyte-ts/kubernetes";
import type { Logger } from "@flyte-ts/telemetry";
import type { StatusWrite, StoredVersion } from "../shell-core/run-io.js";
import type { PropellerMetrics } from "./metrics.js";
import type { ExecutionSpans } from "./tracing/execution-spans.js";
import { objectName } from "./object-name.js";
import { patchUpon } from "./patch-upon.js";
import type { SliceStore } from "./slice-store.js";

/**
 * What became of a write. `unknown`: whether it took place is not known, or
 * somebody else changed the resource: what is stored must be read again.
 * `tooLarge`: the resource cannot hold this status.
 */
export type WriteOutcome =
  | { readonly kind: "written"; readonly stored: StoredVersion }
  /** `afterMs`: the server asked to be left alone for so long. */
  | { readonly kind: "unknown"; readonly afterMs?: number | undefined }
  | { readonly kind: "tooLarge"; readonly message: string };

export interface StatusWriterOptions {
  readonly client: Pick<KubeClient, "get" | "mergePatch">;
  readonly slices: SliceStore;
  readonly metrics: PropellerMetrics;
  readonly logger: Logger;
  readonly spans?: Pick<ExecutionSpans, "wrote"> | undefined;
  readonly now: () => number;
}

/** One in so many patches is measured. */
const MEASURED = 8;

/** Writes the status of a workflow, on the condition that the resource is still what its run knows. */
export class StatusWriter {
  #writes = 0;

  constructor(private readonly options: StatusWriterOptions) {}

  /** Slices first, then the resource that names them, whose write is what counts. Never rejects. `wanted`: whether the run is still this process's. */
  async write(key: string, write: StatusWrite, wanted: () => boolean): Promise<WriteOutcome> {
    const { client, slices, metrics, logger, spans, now } = this.options;
    const { blobs = [], unused: _u, sweep: _s, ...patch } = write.patch;
    // Making the text of a patch costs as much as sending it, so only some are measured.
    if (this.#writes++ % MEASURED === 0) metrics.statusWriteBytes.observe(JSON.stringify(patch).length);
    const start = now();
    const end = metrics.statusWrites.startTimer();
    try {
      if (blobs.length > 0 && !(await slices.write(blobs, wanted))) return { kind: "unknown" };
      // It may have waited for its turn, or the process may have slept, beyond the time of its Lease.
      if (!wanted()) return { kind: "unknown" };
      const stored = await patchUpon(client, { name: objectName(key), patch, base: write.base, wanted });
      end({ outcome: "ok" });
      spans?.wrote(key, { start, end: now(), outcome: "written" });
      slices.cleanUp(write.patch);
      return { kind: "written", stored };
    } catch (error) {
      end({ outcome: "error" });
      spans?.wrote(key, { start, end: now(), outcome: "error" });
      if (error instanceof KubeError && error.status === 413) {
        logger.warn({ workflow: key }, "status is too large for the resource");
        return { kind: "tooLarge", message: error.message };
      }
      const level = isTransient(error) ? "warn" : "info";
      logger[level]({ workflow: key, error: String(error) }, "status could not be written, reading the resource again");
      return { kind: "unknown", afterMs: error instanceof KubeError ? error.retryAfterMs : undefined };
    }
  }
}
