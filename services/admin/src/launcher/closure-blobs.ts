import { isRecent } from "@flyte-ts/auth";
import type { BlobStore } from "@flyte-ts/blobstore";
import { SingleFlight } from "@flyte-ts/telemetry";
import { wrapClosure } from "@flyte-ts/workflow-crd";

/** How long, ms, a copy that was seen is taken to be there: whoever removes one has executions fail for so long at most. */
const TRUST_MS = 60_000;
/** So many addresses are remembered. */
const MOST = 10_000;

/** The blob store does not answer, or refuses. */
export class ClosureNotStored extends Error {
  override readonly name = "ClosureNotStored";
}

/** Copies of closures in the blob store, for the resources that name them. */
export class ClosureBlobs {
  readonly #seenAt = new Map<string, number>();
  readonly #storing = new SingleFlight<void>();

  constructor(
    private readonly blobs: Pick<BlobStore, "head" | "put">,
    private readonly clock: () => Date,
  ) {}

  /**
   * A version of a workflow never changes, so what this process has written stays as it is. What stood there before is not trusted: it may be of
   * another installation that used the same bucket.
   *
   * @param encoded the `flyteidl.core.CompiledWorkflowClosure`; it is stored as the `flyteidl.admin.WorkflowClosure` that Go FlytePropeller reads.
   * @throws ClosureNotStored
   */
  async ensure(address: string, encoded: Uint8Array): Promise<void> {
    const seenAt = this.#seenAt.get(address);
    if (seenAt !== undefined && isRecent(this.clock(), seenAt, TRUST_MS)) return;
    await this.#storing.do(address, () => this.#store(address, { encoded, known: seenAt !== undefined }));
  }

  /** `known`: this process has written it, and whether it stands there still is all that is asked. */
  async #store(address: string, { encoded, known }: { readonly encoded: Uint8Array; readonly known: boolean }): Promise<void> {
    const now = this.clock();
    try {
      const stands = known && (await this.blobs.head(address)) !== undefined;
      if (!stands) await this.blobs.put(address, wrapClosure(encoded));
    } catch (cause) {
      throw new ClosureNotStored(cause instanceof Error ? cause.message : String(cause), { cause });
    }
    if (this.#seenAt.size >= MOST) this.#seenAt.clear();
    this.#seenAt.set(address, now.getTime());
  }
}
