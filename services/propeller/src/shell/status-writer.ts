import { isTransient, type KubeClient, KubeError } from "@flyte-ts/kubernetes";
import type { Logger } from "@flyte-ts/telemetry";
import { FLYTE_WORKFLOW_RESOURCE } from "@flyte-ts/workflow-crd";
import type { StatusWrite } from "../shell-core/run-io.js";
import type { PropellerMetrics } from "./metrics.js";
import { objectName } from "./object-name.js";

/**
 * What became of a write. `unknown`: whether it took place is not known, or
 * somebody else changed the resource: what is stored must be read again.
 * `tooLarge`: the resource cannot hold this status.
 */
export type WriteOutcome =
  | { readonly kind: "written"; readonly resourceVersion: string }
  | { readonly kind: "unknown" }
  | { readonly kind: "tooLarge"; readonly message: string };

export interface StatusWriterOptions {
  readonly client: Pick<KubeClient, "mergePatch">;
  readonly metrics: PropellerMetrics;
  readonly logger: Logger;
}

/** Writes the status of a workflow, on the condition that the resource is still what its run knows. */
export class StatusWriter {
  constructor(private readonly options: StatusWriterOptions) {}

  /** Never rejects. */
  async write(key: string, write: StatusWrite): Promise<WriteOutcome> {
    const { client, metrics, logger } = this.options;
    const body = { ...write.patch, metadata: { ...write.patch.metadata, resourceVersion: write.resourceVersion } };
    const end = metrics.statusWrites.startTimer();
    try {
      const written = await client.mergePatch(FLYTE_WORKFLOW_RESOURCE, { ...objectName(key), body, metadataOnly: true });
      end({ outcome: "ok" });
      return { kind: "written", resourceVersion: written.metadata.resourceVersion ?? "" };
    } catch (error) {
      end({ outcome: "error" });
      if (error instanceof KubeError && error.status === 413) {
        logger.warn({ key }, "status is too large for the resource");
        return { kind: "tooLarge", message: error.message };
      }
      const level = isTransient(error) ? "warn" : "info";
      logger[level]({ key, error: String(error) }, "status could not be written, reading the resource again");
      return { kind: "unknown" };
    }
  }
}
