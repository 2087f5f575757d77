import { BinaryReader, type WireType } from "@bufbuild/protobuf/wire";
import { CatalogCacheStatus } from "@flyte-ts/idl/flyteidl/core/catalog_pb";
import { TaskExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";

/** State of one attempt of an item, as an event of its array reports it. */
export interface ItemReport {
  readonly index: number;
  readonly attempt: number;
  readonly phase: TaskExecution_Phase;
  readonly cacheStatus: CatalogCacheStatus;
}

/** Field numbers of event.TaskExecutionEvent, its metadata, ExternalResourceInfo and Timestamp. */
const EVENT = { occurredAt: 7, metadata: 16 } as const;
const METADATA = { externalResources: 2 } as const;
const RESOURCE = { index: 2, attempt: 3, phase: 4, cacheStatus: 5 } as const;
const TIMESTAMP = { seconds: 1, nanos: 2 } as const;

const MS_PER_SECOND = 1_000;
const NS_PER_MS = 1_000_000;

/** Items that an event of an array reports, and its time. */
export interface ItemEvent {
  /** Milliseconds since the epoch. */
  readonly timeMs: number;
  readonly items: readonly ItemReport[];
}

/**
 * Reads the items of an encoded event.TaskExecutionEvent. It skips the logs and custom info of the
 * items, which are most of its bytes.
 */
export function readItemEvent(event: Uint8Array): ItemEvent {
  let timeMs = 0;
  const items: ItemReport[] = [];
  eachField(new BinaryReader(event), (field, reader) => {
    if (field === EVENT.occurredAt) timeMs = readTimeMs(message(reader));
    else if (field === EVENT.metadata) readMetadata(message(reader), items);
    else return false;
    return true;
  });
  return { timeMs, items };
}

function readMetadata(metadata: BinaryReader, items: ItemReport[]): void {
  eachField(metadata, (field, reader) => {
    if (field !== METADATA.externalResources) return false;
    items.push(readResource(message(reader)));
    return true;
  });
}

function readResource(resource: BinaryReader): ItemReport {
  let [index, attempt] = [0, 0];
  let phase = TaskExecution_Phase.UNDEFINED;
  let cacheStatus = CatalogCacheStatus.CACHE_DISABLED;
  eachField(resource, (field, reader) => {
    if (field === RESOURCE.index) index = reader.uint32();
    else if (field === RESOURCE.attempt) attempt = reader.uint32();
    else if (field === RESOURCE.phase) phase = reader.int32();
    else if (field === RESOURCE.cacheStatus) cacheStatus = reader.int32();
    else return false;
    return true;
  });
  return { index, attempt, phase, cacheStatus };
}

function readTimeMs(timestamp: BinaryReader): number {
  let timeMs = 0;
  eachField(timestamp, (field, reader) => {
    if (field === TIMESTAMP.seconds) timeMs += Number(reader.int64()) * MS_PER_SECOND;
    else if (field === TIMESTAMP.nanos) timeMs += Math.floor(reader.int32() / NS_PER_MS);
    else return false;
    return true;
  });
  return timeMs;
}

/** Calls `read` for each field; skips those for which it returns false. */
function eachField(reader: BinaryReader, read: (field: number, reader: BinaryReader) => boolean): void {
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (!read(field, reader)) reader.skip(type as WireType, field);
  }
}

/** Reader of an embedded message. */
function message(reader: BinaryReader): BinaryReader {
  return new BinaryReader(reader.bytes());
}
