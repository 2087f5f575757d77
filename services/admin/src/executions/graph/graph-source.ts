import { LruCache, Semaphore, SingleFlight } from "@flyte-ts/async";
import { GraphSchema } from "@flyte-ts/idl/flytets/admin/v1/graph_pb";
import { StoredMessageError } from "@flyte-ts/input-limits";
import { Code, EncodedMessage, RpcError } from "@flyte-ts/rpc";
import { encodeGraph } from "./encode-graph.js";

type Graph = EncodedMessage<typeof GraphSchema>;

/** Bytes of encoded graphs that are kept. */
const MAX_KEPT_BYTES = 32 * 1024 * 1024;

/**
 * Encodes graphs of closures, one after the other: a closure may have 256 MiB, and requests for
 * several would hold as many in memory. Graphs of recent requests are kept.
 */
export class GraphSource {
  readonly #kept = new LruCache<Graph>(MAX_KEPT_BYTES);
  readonly #flights = new SingleFlight<Graph>();
  readonly #readers = new Semaphore(1);

  /**
   * Returns the graph of the closure that `read` returns.
   *
   * @param key identifies the closure for ever
   * @throws RpcError OUT_OF_RANGE for a closure that is malformed or too large; the errors of
   *   `read`.
   */
  async graphOf(key: string, read: () => Promise<Uint8Array>): Promise<Graph> {
    return this.#kept.get(key) ?? (await this.#flights.run(key, () => this.#readers.run(() => this.#encode(key, read))));
  }

  async #encode(key: string, read: () => Promise<Uint8Array>): Promise<Graph> {
    const closure = await read();
    try {
      const graph = new EncodedMessage(GraphSchema, encodeGraph(closure));
      this.#kept.setIfAbsent(key, graph, graph.bytes.length);
      return graph;
    } catch (cause) {
      if (cause instanceof StoredMessageError) throw new RpcError(Code.OUT_OF_RANGE, cause.message, { cause });
      throw cause;
    }
  }
}
