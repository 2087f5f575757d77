import { Code, RpcError } from "@flyte-ts/rpc";
import type { ExecutionName } from "../../execution/state.js";
import type { Streams } from "../streams.js";
import type { Message } from "./chunk.js";
import { type Cursor, readCursor } from "./cursor.js";
import type { Feeds, Used } from "./feeds.js";
import { covers } from "./snapshot.js";

export interface WatchOptions {
  readonly feeds: Feeds;
  readonly streams: Streams;
  readonly signal: AbortSignal;
}

/**
 * Streams the state of an execution, or the changes since the cursor, then every change until it is over.
 *
 * @throws RpcError NOT_FOUND; UNAVAILABLE when this process stops: the client resumes at another replica.
 */
export async function* watchExecution(
  { feeds, streams, signal }: WatchOptions,
  name: ExecutionName,
  cursorText: string,
): AsyncGenerator<Message> {
  const cursor = readCursor(cursorText);
  if (cursorText !== "" && cursor === undefined)
    throw new RpcError(Code.INVALID_ARGUMENT, "invalid value for cursor: it is not from a message before");
  const stream = streams.open(signal);
  try {
    const used = await feeds.use(name);
    try {
      yield* tell(used, cursor, stream);
    } finally {
      used.release();
    }
  } finally {
    stream.close();
  }
}

async function* tell(used: Used, cursor: Cursor | undefined, stream: ReturnType<Streams["open"]>): AsyncGenerator<Message> {
  const { feed, waiting } = used;
  // Another replica has sent newer state than this one knows.
  if (cursor !== undefined && !covers(feed.at, cursor.at)) await used.refresh();
  const joined = feed.join(cursor);
  let told = cursor === undefined || !cursor.ended;
  for (const message of joined.messages) {
    stream.check();
    told = true;
    yield message;
  }
  let { sequence } = joined;
  for (let beats = used.beats; ; ) {
    stream.check();
    if (used.failure !== undefined) throw used.failure;
    const next = feed.next(sequence);
    if (next !== undefined) {
      sequence = next.sequence;
      told = true;
      yield next.message;
    } else if (used.isOver()) {
      // A watcher whose cursor has the end gets no message.
      if (told) yield feed.end();
      return;
    } else if (beats !== used.beats) {
      beats = used.beats;
      yield feed.beat();
    } else await stream.wait(waiting);
  }
}
