import { createHash } from "node:crypto";
import { ChangeLog, type PollResult } from "./change-log.js";
import { CHUNK_BYTES, inChunks, type Message, messageOf } from "./chunk.js";
import type { Cursor } from "./cursor.js";
import type { RowKey, WatchedChanges } from "../../store/watch/row.js";
import { type ChangeBatch, changesSince, type FeedState } from "./changes-since-cursor.js";
import type { Snapshot } from "../../store/watch/snapshot.js";

/** The first messages of a watcher, and the position in the log from which it continues. */
export interface Joined {
  readonly messages: Iterable<Message>;
  readonly sequence: number;
}

/** The state of one execution for all its watchers in this process, and their messages. */
export class Feed {
  readonly executionId: bigint;
  readonly #log = new ChangeLog();
  #at: Snapshot;
  #executionHash = "";
  #endedAt: number | undefined;
  /** Messages encoded since the last change, by the position that they follow. */
  readonly #messages = new Map<number, { readonly message: Message; readonly sequence: number }>();
  #whole: Message[] | undefined;
  #heartbeat: Message | undefined;

  constructor(executionId: bigint, at: Snapshot, whole: WatchedChanges) {
    this.executionId = executionId;
    this.#at = at;
    this.#add(whole, { at, before: undefined });
  }

  get at(): Snapshot {
    return this.#at;
  }

  /** Number of stored rows. */
  get size(): number {
    return this.#log.size;
  }

  get open(): number {
    return this.#log.open;
  }

  get endedAt(): number | undefined {
    return this.#endedAt;
  }

  /** Applies the changes of a poll; returns true when watchers need a message. */
  apply(changes: WatchedChanges, at: Snapshot): boolean {
    const before = this.#at;
    this.#at = at;
    this.#heartbeat = undefined;
    const news = this.#add(changes, { at, before });
    if (news) {
      this.#messages.clear();
      this.#whole = undefined;
    }
    return news;
  }

  #add({ rows, endedAt }: WatchedChanges, moments: Pick<PollResult, "at" | "before">): boolean {
    const execution = rows.find(({ key }) => key.kind === "execution");
    if (execution !== undefined) {
      this.#executionHash = createHash("sha256").update(execution.bytes).digest("base64url").slice(0, 12);
      this.#endedAt = endedAt;
    }
    return this.#log.add(rows, { ...moments, executionHash: this.#executionHash });
  }

  join(cursor: Cursor | undefined): Joined {
    const sequence = this.#log.end;
    const now: FeedState = {
      rows: this.#log.rows(),
      at: this.#at,
      executionId: Number(this.executionId),
      executionHash: this.#executionHash,
    };
    const missing = cursor && changesSince(cursor, now);
    if (missing !== undefined) return { messages: this.#publish(missing, now, false), sequence };
    // Encoded once and shared: many watchers join at a time, for example after the stop of a
    // replica.
    this.#whole ??= [...this.#publish([{ rows: now.rows, before: undefined, at: now.at }], now, true)];
    return { messages: this.#whole, sequence };
  }

  /** Yields messages for the state `now`, even if the feed changes while a slow watcher reads. */
  *#publish(batches: readonly ChangeBatch[], { at: end, executionHash: hash }: FeedState, reset: boolean): Generator<Message> {
    let first = reset;
    for (const [index, { rows, before, at }] of batches.entries()) {
      for (const chunk of inChunks(rows)) {
        const key = chunk.last ? undefined : chunk.rows.at(-1)?.key;
        const more = batches.slice(index + 1).some((later) => later.rows.length > 0);
        const complete = chunk.last && !more;
        const cursor = complete ? this.#cursor(end, hash) : this.#cursor(at, hash, key && { before, key });
        yield messageOf({ rows: chunk.rows, cursor, reset: first, complete });
        first = false;
      }
    }
  }

  /**
   * Returns the message after a position in the log, and the next position; undefined without one.
   */
  next(sequence: number): { readonly message: Message; readonly sequence: number } | undefined {
    if (sequence >= this.#log.end) return undefined;
    let made = this.#messages.get(sequence);
    if (made === undefined) this.#messages.set(sequence, (made = this.#put(sequence)));
    return made;
  }

  #put(sequence: number): { readonly message: Message; readonly sequence: number } {
    const { entries, next } = this.#log.after(sequence, CHUNK_BYTES);
    const last = entries.at(-1);
    if (last === undefined)
      return { message: messageOf({ rows: [], cursor: this.#cursor(this.#at, this.#executionHash) }), sequence: this.#log.end };
    const { group } = last;
    const rows = entries.map(({ row }) => row);
    if (next === undefined) {
      return { message: messageOf({ rows, cursor: this.#cursor(this.#at, this.#executionHash), complete: true }), sequence: this.#log.end };
    }
    const partial = next.group === group ? { before: group.before, key: last.row.key } : undefined;
    return { message: messageOf({ rows, cursor: this.#cursor(group.at, group.executionHash, partial) }), sequence: last.sequence };
  }

  /** Heartbeat with the current cursor, for watchers that are up to date. */
  heartbeat(): Message {
    return (this.#heartbeat ??= messageOf({ rows: [], cursor: this.#cursor(this.#at, this.#executionHash) }));
  }

  /** The last message. */
  end(): Message {
    return messageOf({ rows: [], cursor: { ...this.#cursor(this.#at, this.#executionHash), ended: true } });
  }

  #cursor(at: Snapshot, executionHash: string, partial?: Partial): Cursor {
    return { executionId: Number(this.executionId), at, partial, executionHash, ended: false };
  }
}

interface Partial {
  readonly before: Snapshot | undefined;
  readonly key: RowKey;
}
