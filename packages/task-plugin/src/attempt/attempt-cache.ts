import { BoundedMap } from "@flyte-ts/async";
import type { BusMessage } from "../service/plugin-bus.js";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import type { TaskStatus } from "../status.js";

/** A request to handle. */
export interface Delivery {
  readonly request: TaskRequest;
  /**
   * Message of the request; undefined once it is acknowledged and only this process holds the
   * request.
   */
  readonly message: BusMessage | undefined;
  /** Number of earlier attempts to process it. */
  readonly retries: number;
}

/** The newest published event of an attempt. */
export interface PublishedStatus {
  readonly phase: TaskStatus["phase"];
  readonly phaseVersion: number;
  readonly fingerprint: string;
  readonly subject: string;
  /** The encoded event, for exact repetition. */
  readonly data: Uint8Array;
}

/** An accepted request that is not yet handled. */
export interface UnhandledRequest {
  /** The newest one of the attempt. */
  request: TaskRequest;
  /** Time at which the first of the attempt's unhandled requests was accepted, ms. */
  readonly since: number;
}

/**
 * State of one attempt in this process. Attempts of executions that had the same name, one after
 * the other, have the same key and different owners.
 */
export interface AttemptRecord {
  readonly key: string;
  /** Uid of the resource that owns the attempt; empty until a request names it. */
  ownerUid: string;
  /** Owners of earlier attempts of this key, newest first. */
  readonly earlierOwners: readonly string[];
  /** Newest creation time of the requests seen, ms. */
  requestedAtMs: number;
  /** Earlier attempt of this key that has to end before this one starts. */
  predecessor: AttemptRecord | undefined;
  /** True once an attempt of another owner has the key: nothing of this one is reported. */
  isReplaced: boolean;
  /** True once nothing of the attempt runs any more, as far as this process knows. */
  hasEnded: boolean;
  /** The request to stop or remove the attempt that failed last, until a later one succeeds. */
  unfinishedEnd: TaskRequest | undefined;
  /** Highest `desiredRank` of the requests seen; 0 before any. */
  desiredRank: number;
  lastPublished: PublishedStatus | undefined;
  /** The first event with phase RUNNING: propeller may have missed it. */
  firstRunning: PublishedStatus | undefined;
  /**
   * Accepted and not yet handled. It is a field of the record, not the value of a map: tables that
   * a growing map leaves behind would keep each decoded request until the next full collection.
   */
  unhandled: UnhandledRequest | undefined;
  /** Resolves when no request is processed; undefined while none is. */
  handling: Promise<void> | undefined;
  /** The newest request that arrived while another was processed. */
  pendingDelivery: Delivery | undefined;
  /** Text of the last error of the plugin, so that a repeated one is logged once. */
  lastError: string | undefined;
  /** Cancels the next retry of a requeued request. */
  cancelRetry: (() => void) | undefined;
}

export interface AttemptCacheOptions {
  /** Maximum number of cached terminal attempts; beyond it the oldest are dropped. */
  readonly maxTerminal: number;
  /** Maximum size of a terminal attempt's last event to keep for a repetition, bytes. */
  readonly maxEventBytes: number;
}

/** Maximum number of earlier owners that a record keeps: requests of older ones have expired. */
const MAX_EARLIER_OWNERS = 8;

/**
 * Keeps all active attempts and a bounded number of terminal ones. Dropping a terminal one is safe
 * for plugins that can report its terminal status again.
 */
export class AttemptCache {
  readonly #active = new Map<string, AttemptRecord>();
  // Terminal attempts, in the order in which they became terminal.
  readonly #terminal: BoundedMap<string, AttemptRecord>;

  constructor(private readonly options: AttemptCacheOptions) {
    this.#terminal = new BoundedMap(options.maxTerminal);
  }

  get activeCount(): number {
    return this.#active.size;
  }

  find(key: string): AttemptRecord | undefined {
    return this.#active.get(key) ?? this.#terminal.get(key);
  }

  /** Adds a record. It takes the place of that of an earlier owner, which is given. */
  add(key: string, ownerUid: string, earlier?: AttemptRecord): AttemptRecord {
    const added: AttemptRecord = {
      key,
      ownerUid,
      earlierOwners: earlier === undefined ? [] : [earlier.ownerUid, ...earlier.earlierOwners].slice(0, MAX_EARLIER_OWNERS),
      requestedAtMs: 0,
      predecessor: earlier,
      isReplaced: false,
      hasEnded: false,
      unfinishedEnd: undefined,
      desiredRank: 0,
      lastPublished: undefined,
      firstRunning: undefined,
      unhandled: undefined,
      handling: undefined,
      pendingDelivery: undefined,
      lastError: undefined,
      cancelRetry: undefined,
    };
    if (earlier !== undefined) earlier.isReplaced = true;
    this.#terminal.delete(key);
    this.#active.set(key, added);
    return added;
  }

  get active(): Iterable<AttemptRecord> {
    return this.#active.values();
  }

  /** Marks an attempt as terminal, which may be dropped. */
  markTerminal(record: AttemptRecord): void {
    record.hasEnded = true;
    if (record.isReplaced) return;
    if ((record.lastPublished?.data.length ?? 0) > this.options.maxEventBytes) record.lastPublished = undefined;
    if ((record.firstRunning?.data.length ?? 0) > this.options.maxEventBytes) record.firstRunning = undefined;
    this.#active.delete(record.key);
    this.#terminal.set(record.key, record);
  }
}
