import { isWithinMs } from "@flyte-ts/auth";
import type { BlobStore } from "@flyte-ts/blobstore";
import { BoundedMap, SingleFlight } from "@flyte-ts/async";
import { wrapClosure } from "@flyte-ts/workflow-crd";

/**
 * Cache TTL, ms, of the check that a blob exists. A deleted blob fails launches for at most this
 * time.
 */
const VERIFIED_TTL_MS = 60_000;
/** Maximum of cached URIs. */
const MAX_ENTRIES = 10_000;

/** The blob store is unavailable, or rejects the request. */
export class ClosureStoreError extends Error {
  override readonly name = "ClosureStoreError";
}

/** Copies of closures in the blob store, for resources that refer to them. */
export class ClosureBlobCache {
  readonly #verifiedAt = new BoundedMap<string, number>(MAX_ENTRIES);
  readonly #storing = new SingleFlight<void>();

  constructor(
    private readonly blobs: Pick<BlobStore, "head" | "put">,
    private readonly clock: () => Date,
  ) {}

  /**
   * Uploads a closure unless this process has done so: a version of a workflow is immutable. An
   * existing blob of unknown origin is overwritten, since another installation may have used the
   * same bucket.
   *
   * @param encoded The `flyteidl.core.CompiledWorkflowClosure`; it is stored as the
   *   `flyteidl.admin.WorkflowClosure`
   * that Go FlytePropeller reads.
   * @throws ClosureStoreError
   */
  async ensure(address: string, encoded: Uint8Array): Promise<void> {
    const verifiedAt = this.#verifiedAt.get(address);
    if (verifiedAt !== undefined && isWithinMs(this.clock(), verifiedAt, VERIFIED_TTL_MS)) return;
    await this.#storing.run(address, () => this.#store(address, { encoded, known: verifiedAt !== undefined }));
  }

  /**
   * Uploads a closure. `known`: this process has uploaded it before, so only its existence is
   * checked.
   */
  async #store(address: string, { encoded, known }: { readonly encoded: Uint8Array; readonly known: boolean }): Promise<void> {
    const now = this.clock();
    try {
      const stands = known && (await this.blobs.head(address)) !== undefined;
      if (!stands) await this.blobs.put(address, wrapClosure(encoded));
    } catch (cause) {
      throw new ClosureStoreError(cause instanceof Error ? cause.message : String(cause), { cause });
    }
    this.#verifiedAt.set(address, now.getTime());
  }
}
