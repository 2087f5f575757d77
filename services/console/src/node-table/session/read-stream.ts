import { createRestClient, type RestClient, resumeStream } from "@flyte-ts/client/browser";
import { type NodeTableChunk, readChunk } from "../wire/read-chunk.js";
import type { ReadStream } from "./session.js";

export interface ReadStreamOptions {
  /** Default: by fetch. */
  readonly clientOf?: (origin: string | undefined) => RestClient;
  /** Waits before the next try; default: a timer. */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** Makes a reader of node tables that resumes after the last cursor when the stream breaks. */
export function createReadStream({ clientOf = clientByFetch, sleep }: ReadStreamOptions = {}): ReadStream {
  return ({ path, origin, cursor: first, isFollowed, signal, begin, onState }) => {
    const client = clientOf(origin);
    async function* open(last: string, opened: AbortSignal): AsyncGenerator<{ message: NodeTableChunk; cursor: string }, void> {
      begin();
      const cursor = last === "" ? first : last;
      const query = { cursor: cursor === "" ? undefined : cursor, no_follow: isFollowed ? undefined : true };
      for await (const bytes of client.stream(path, { query, signal: opened })) {
        const message = readChunk(bytes);
        yield { message, cursor: message.cursor };
      }
    }
    return resumeStream({ open, signal, onState, ...(sleep && { sleep }) });
  };
}

function clientByFetch(origin: string | undefined): RestClient {
  return createRestClient(origin === undefined ? {} : { origin });
}
