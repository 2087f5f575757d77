import type { LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { type Backoff, backoffDelay } from "@flyte-ts/async/backoff";
import type { RuntimeNode } from "../graph/runtime.js";
import type { Effect } from "../types.js";

interface BlobWrite {
  readonly node: RuntimeNode;
  readonly literals: LiteralMap;
  attempts: number;
  retryAt: number | undefined;
}

/** Blobs being written for nodes, which continue when all of their writes are done. */
export class BlobWrites {
  readonly #writes = new Map<string, BlobWrite>();

  constructor(
    private readonly retry: Backoff,
    private readonly random: () => number,
  ) {}

  /** Starts the write; `node` waits for all of its `pendingWrites`. */
  start(node: RuntimeNode, uri: string, literals: LiteralMap): Effect {
    node.changeData().addWrite(uri);
    this.#writes.set(uri, { node, literals, attempts: 0, retryAt: undefined });
    return { kind: "writeOutputs", uri, outputs: literals };
  }

  /** Cancels the wait for the node's writes. */
  cancel(node: RuntimeNode): void {
    const { pendingWrites } = node.data;
    if (pendingWrites === undefined) return;
    for (const uri of pendingWrites) this.#writes.delete(uri);
    node.changeData().clearWrites();
  }

  /** Literals of a pending write. */
  pendingLiterals(uri: string): LiteralMap | undefined {
    return this.#writes.get(uri)?.literals;
  }

  /** Consecutive failures of a pending write. */
  consecutiveFailures(uri: string): number {
    return this.#writes.get(uri)?.attempts ?? 0;
  }

  /** Time of the retry of a failed write, ms. */
  retryAt(uri: string): number | undefined {
    return this.#writes.get(uri)?.retryAt;
  }

  /** Handles a failed write. Returns the time of its retry; undefined when none is pending. */
  onFailed(uri: string, now: number): number | undefined {
    const write = this.#writes.get(uri);
    if (write !== undefined) write.retryAt = now + backoffDelay(this.retry, write.attempts++, this.random);
    return write?.retryAt;
  }

  /** Handles a finished write. Returns the node when it waits for no other write. */
  onDone(uri: string): RuntimeNode | undefined {
    const node = this.#writes.get(uri)?.node;
    this.#writes.delete(uri);
    return node?.changeData().writeDone(uri) === true ? node : undefined;
  }

  /** Returns the write effect of a due retry. */
  retryIfDue(uri: string, now: number): Effect | undefined {
    const write = this.#writes.get(uri);
    if (write?.retryAt === undefined || write.retryAt > now) return undefined;
    write.retryAt = undefined;
    return { kind: "writeOutputs", uri, outputs: write.literals };
  }
}
