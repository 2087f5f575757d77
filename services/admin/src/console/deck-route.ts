import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { Semaphore } from "@flyte-ts/async";
import { type BlobStore, BlobError, BlobTooLargeError } from "@flyte-ts/blobstore";
import { AdminService } from "@flyte-ts/idl/flyteidl/service/admin_pb";
import { Code, type HttpContext, type HttpRoute, httpStatusOf, RpcError, toRpcError } from "@flyte-ts/rpc";
import type { Logger } from "@flyte-ts/telemetry";
import type { ConsoleConfig } from "./config.js";
import { deckHeaders } from "./security-headers.js";

export interface DeckDeps {
  readonly blobs: Pick<BlobStore, "get">;
  readonly logger: Logger;
}

/** Prefix of decks; project, domain, name of the execution and id of the node follow. */
export const DECK_PATH = "/console/deck/";
const MAX_BYTES = 64 * 1024 * 1024;
/** Maximum of decks in memory; further requests wait. */
const MAX_DECKS = 2;
/** Time in which a client must have read a deck, ms. */
const SEND_MS = 60_000;

/**
 * Serves the deck of a node, which its task wrote, to viewers of its execution. The path names the
 * node and not the blob, so a request cannot make admin read anything else.
 */
export function deckRoute(config: Pick<ConsoleConfig, "deckOrigins">, { blobs, logger }: DeckDeps): HttpRoute {
  const baseHeaders = deckHeaders(config);
  const decks = new Semaphore(MAX_DECKS);
  const send = async (request: IncomingMessage, response: ServerResponse, context: HttpContext): Promise<void> => {
    if (request.method !== "GET") throw new RpcError(Code.UNIMPLEMENTED, "only GET is supported");
    // The call checks that the client may see the node.
    const { closure } = await context.call(AdminService.method.getNodeExecution, { id: nodeOf(context.path) });
    const uri = closure?.deckUri ?? "";
    if (uri === "") throw new RpcError(Code.NOT_FOUND, "the node has no deck");
    await decks.run(async () => {
      const deck = await readDeck(blobs, uri);
      response.writeHead(200, { ...baseHeaders, "Content-Type": "text/html; charset=utf-8", "Content-Length": deck.length });
      const timer = setTimeout(() => response.destroy(), SEND_MS);
      response.end(deck);
      if (!response.closed) await once(response, "close");
      clearTimeout(timer);
    });
  };
  return {
    path: DECK_PATH,
    public: true,
    handle: (request, response, context) =>
      send(request, response, context).catch((thrown: unknown) => {
        const error = toRpcError(thrown);
        if (!(thrown instanceof RpcError)) logger.error({ err: thrown, path: context.path }, "a deck could not be sent");
        if (response.headersSent) return void response.destroy();
        const headers = { ...baseHeaders, "Content-Type": "text/plain; charset=utf-8" };
        response.writeHead(httpStatusOf(error.code), headers).end(`${error.message}\n`);
      }),
  };
}

/** @throws RpcError INVALID_ARGUMENT. */
function nodeOf(path: string) {
  const parts = path.slice(DECK_PATH.length).split("/");
  try {
    const [project, domain, name, nodeId, ...rest] = parts.map(decodeURIComponent);
    if (nodeId !== undefined && nodeId !== "" && rest.length === 0) return { executionId: { project, domain, name }, nodeId };
  } catch {
    // The path is not encoded as UTF-8.
  }
  throw new RpcError(Code.INVALID_ARGUMENT, `the path of a deck is ${DECK_PATH}{project}/{domain}/{execution}/{node}`);
}

async function readDeck(blobs: DeckDeps["blobs"], uri: string): Promise<Uint8Array> {
  try {
    const deck = await blobs.get(uri, { maxBytes: MAX_BYTES });
    if (deck !== undefined) return deck;
  } catch (error) {
    if (error instanceof BlobTooLargeError) throw new RpcError(Code.FAILED_PRECONDITION, `the deck is larger than ${MAX_BYTES} bytes`);
    if (!(error instanceof BlobError)) throw error;
    throw new RpcError(Code.UNAVAILABLE, "the deck cannot be read now", { cause: error });
  }
  throw new RpcError(Code.NOT_FOUND, "the deck does not exist: its task has not written it, or it was deleted");
}
