import type { Literal, LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { RuntimeNode } from "../graph/runtime.js";
import { type BackoffConfig, backoffDelay } from "../retry/backoff.js";
import type { Effect, ReadResult } from "../types.js";

type Kind = "outputs" | "literal";

interface Read {
  readonly kind: Kind;
  readonly waiters: Set<RuntimeNode>;
  result: ReadResult<LiteralMap> | ReadResult<Literal> | undefined;
  tries: number;
  retryAt: number | undefined;
}

/**
 * Blobs that nodes wait for: each is asked for once, kept while somebody waits for
 * it, and forgotten afterwards.
 */
export class BlobReads {
  readonly #reads = new Map<string, Read>();
  /** Blobs that a node waits for and that are not there. */
  readonly #open = new Map<RuntimeNode, number>();

  constructor(
    private readonly retry: BackoffConfig,
    private readonly random: () => number,
  ) {}

  get size(): number {
    return this.#reads.size;
  }

  outputs(uri: string): LiteralMap | undefined {
    const read = this.#reads.get(uri);
    return read?.kind === "outputs" && read.result?.kind === "value" ? (read.result.value as LiteralMap) : undefined;
  }

  literal(uri: string): Literal | undefined {
    const read = this.#reads.get(uri);
    return read?.kind === "literal" && read.result?.kind === "value" ? (read.result.value as Literal) : undefined;
  }

  /** Why what stands at the address cannot be had, now or later, in words that end with the address. */
  lost(uri: string): string | undefined {
    const result = this.#reads.get(uri)?.result;
    if (result?.kind === "missing") return `not found at [${uri}]`;
    return result?.kind === "garbled" ? `cannot be read, ${result.message}, at [${uri}]` : undefined;
  }

  /** Failures in a row of a read that somebody waits for. */
  failures(uri: string): number {
    const read = this.#reads.get(uri);
    return read === undefined || read.result !== undefined ? 0 : read.tries;
  }

  /** Has `node` wait for a blob. Returns what to ask the shell for, if nobody has asked yet. */
  want(node: RuntimeNode, kind: Kind, uri: string): Effect | undefined {
    node.waitingFor ??= new Set();
    const read = this.#reads.get(uri);
    if (read?.result === undefined && !node.waitingFor.has(uri)) this.#open.set(node, (this.#open.get(node) ?? 0) + 1);
    node.waitingFor.add(uri);
    if (read !== undefined) {
      read.waiters.add(node);
      return undefined;
    }
    this.#reads.set(uri, { kind, waiters: new Set([node]), result: undefined, tries: 0, retryAt: undefined });
    return ask(kind, uri);
  }

  /** Takes up an answer. Returns who can go on, and when to ask again after a transient error. */
  answer(
    uri: string,
    result: ReadResult<LiteralMap> | ReadResult<Literal>,
    now: number,
  ): { ready: readonly RuntimeNode[]; retryAt?: number } {
    const read = this.#reads.get(uri);
    if (read === undefined || read.result !== undefined) return { ready: [] };
    if (result.kind === "error") {
      read.retryAt = now + backoffDelay(this.retry, read.tries++, this.random);
      return { ready: [], retryAt: read.retryAt };
    }
    read.result = result;
    // An earlier answer was an error: what was asked twice (the first time by a run before this) is answered twice.
    read.retryAt = undefined;
    const ready: RuntimeNode[] = [];
    for (const node of read.waiters) {
      // It may wait for others still; then what came stays for it.
      const open = (this.#open.get(node) ?? 0) - 1;
      this.#open.set(node, open);
      if (open <= 0) ready.push(node);
    }
    return { ready };
  }

  /** A retry's time has come. */
  again(uri: string, now: number): Effect | undefined {
    const read = this.#reads.get(uri);
    if (read?.retryAt === undefined || read.retryAt > now || read.result !== undefined) return undefined;
    read.retryAt = undefined;
    return ask(read.kind, uri);
  }

  /** ms; when a failed read is to be tried again. */
  retryAt(uri: string): number | undefined {
    return this.#reads.get(uri)?.retryAt;
  }

  /** `node` waits no more: blobs that nobody else waits for are forgotten. */
  release(node: RuntimeNode): void {
    for (const uri of node.waitingFor ?? []) {
      const read = this.#reads.get(uri);
      read?.waiters.delete(node);
      if (read !== undefined && read.waiters.size === 0) this.#reads.delete(uri);
    }
    node.waitingFor = undefined;
    this.#open.delete(node);
  }
}

function ask(kind: Kind, uri: string): Effect {
  return kind === "outputs" ? { kind: "readOutputs", uri } : { kind: "readLiteral", uri };
}
