import type { Literal, LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { RuntimeNode } from "../graph/runtime.js";
import { type Backoff, backoffDelay } from "@flyte-ts/async/backoff";
import type { Effect, ReadResult } from "../types.js";

type Kind = "outputs" | "literal";

interface Read {
  readonly kind: Kind;
  readonly waiters: Set<RuntimeNode>;
  result: ReadResult<LiteralMap> | ReadResult<Literal> | undefined;
  attempts: number;
  retryAt: number | undefined;
}

/**
 * Blobs that nodes wait for: each is read once, kept while a node waits for it, and evicted
 * afterwards.
 */
export class BlobReads {
  readonly #reads = new Map<string, Read>();
  /** Number of missing blobs per waiting node. */
  readonly #missing = new Map<RuntimeNode, number>();

  constructor(
    private readonly retry: Backoff,
    private readonly random: () => number,
  ) {}

  outputs(uri: string): LiteralMap | undefined {
    const read = this.#reads.get(uri);
    return read?.kind === "outputs" && read.result?.kind === "value" ? (read.result.value as LiteralMap) : undefined;
  }

  literal(uri: string): Literal | undefined {
    const read = this.#reads.get(uri);
    return read?.kind === "literal" && read.result?.kind === "value" ? (read.result.value as Literal) : undefined;
  }

  /** Reason why the blob is permanently unavailable; the text ends with the address. */
  failureReason(uri: string): string | undefined {
    const result = this.#reads.get(uri)?.result;
    if (result?.kind === "missing") return `not found at [${uri}]`;
    return result?.kind === "corrupt" ? `cannot be read, ${result.message}, at [${uri}]` : undefined;
  }

  /** Consecutive failures of a read that a node waits for. */
  consecutiveFailures(uri: string): number {
    const read = this.#reads.get(uri);
    return read === undefined || read.result !== undefined ? 0 : read.attempts;
  }

  /** Makes `node` wait for a blob. Returns the read effect unless the read is pending already. */
  request(node: RuntimeNode, kind: Kind, uri: string): Effect | undefined {
    const read = this.#reads.get(uri);
    if (read?.result === undefined && node.data.pendingReads?.has(uri) !== true)
      this.#missing.set(node, (this.#missing.get(node) ?? 0) + 1);
    node.changeData().addRead(uri);
    if (read !== undefined) {
      read.waiters.add(node);
      return undefined;
    }
    this.#reads.set(uri, { kind, waiters: new Set([node]), result: undefined, attempts: 0, retryAt: undefined });
    return readEffect(kind, uri);
  }

  /**
   * Handles a result. Returns the nodes that can continue, and the retry time after a transient
   * error.
   */
  onResult(
    uri: string,
    result: ReadResult<LiteralMap> | ReadResult<Literal>,
    now: number,
  ): { ready: readonly RuntimeNode[]; retryAt?: number } {
    const read = this.#reads.get(uri);
    if (read === undefined || read.result !== undefined) return { ready: [] };
    if (result.kind === "error") {
      read.retryAt = now + backoffDelay(this.retry, read.attempts++, this.random);
      return { ready: [], retryAt: read.retryAt };
    }
    read.result = result;
    // After an earlier error: a read started twice (first by an earlier run) has two results.
    read.retryAt = undefined;
    const ready: RuntimeNode[] = [];
    for (const node of read.waiters) {
      // Keeps the result for a node that still waits for other blobs.
      const open = (this.#missing.get(node) ?? 0) - 1;
      this.#missing.set(node, open);
      if (open <= 0) ready.push(node);
    }
    return { ready };
  }

  /** Returns the read effect of a due retry. */
  retryIfDue(uri: string, now: number): Effect | undefined {
    const read = this.#reads.get(uri);
    if (read?.retryAt === undefined || read.retryAt > now || read.result !== undefined) return undefined;
    read.retryAt = undefined;
    return readEffect(read.kind, uri);
  }

  /** Time of the retry of a failed read, ms. */
  retryAt(uri: string): number | undefined {
    return this.#reads.get(uri)?.retryAt;
  }

  /** Ends the wait of `node`: evicts blobs that no other node waits for. */
  unsubscribe(node: RuntimeNode): void {
    const { pendingReads } = node.data;
    if (pendingReads === undefined) return;
    for (const uri of pendingReads) {
      const read = this.#reads.get(uri);
      read?.waiters.delete(node);
      if (read !== undefined && read.waiters.size === 0) this.#reads.delete(uri);
    }
    node.changeData().clearReads();
    this.#missing.delete(node);
  }
}

function readEffect(kind: Kind, uri: string): Effect {
  return kind === "outputs" ? { kind: "readOutputs", uri } : { kind: "readLiteral", uri };
}
