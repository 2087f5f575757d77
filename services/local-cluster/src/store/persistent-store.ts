import { closeSync, createWriteStream, fsyncSync, mkdirSync, openSync, renameSync, rmSync } from "node:fs";
import { once } from "node:events";
import { setImmediate as nextTurn } from "node:timers/promises";
import { LogFile } from "./log-file.js";
import { parseRecord, putLine } from "./log-record.js";
import { ObjectStore } from "./object-store.js";
import { fileBytes, findSegments, logPath, readLines, snapshotPath } from "./segments.js";

export interface PersistentStore {
  readonly store: ObjectStore;
  /** Bytes of a write cut off by a crash that were dropped on opening. */
  readonly droppedBytes: number;
  /** Writes the state in full and starts a new log. */
  snapshot(): Promise<void>;
  close(): Promise<void>;
}

export interface StoreOptions {
  readonly folder: string;
  /** Called when the disk refuses a write; the process must end, since its memory is ahead of the disk. */
  readonly fail: (error: Error) => void;
  /** Log length that starts a snapshot. */
  readonly snapshotAtBytes?: number;
}

/** Opens the store of a folder: the newest snapshot, then the logs after it. */
export async function openStore({ folder, fail, snapshotAtBytes = 64 << 20 }: StoreOptions): Promise<PersistentStore> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const { logs, snapshots } = findSegments(folder);
  const base = snapshots.at(-1);
  const store = new ObjectStore(base?.revision ?? 0);
  if (base !== undefined) await loadSnapshot(store, base.path);
  const live = logs.filter((log) => log.revision >= (base?.revision ?? 0));
  let whole = 0;
  for (const [index, log] of live.entries()) {
    whole = await replayLog(store, log.path);
    if (whole < fileBytes(log.path) && index < live.length - 1)
      throw new Error(`${log.path} is damaged after byte ${whole}, and newer logs follow it`);
  }
  const last = live.at(-1);
  const droppedBytes = last === undefined ? 0 : fileBytes(last.path) - whole;
  let log = new LogFile(last?.path ?? logPath(folder, store.revision), { length: whole, fail });
  syncFolder(folder);

  let running: Promise<void> | undefined;
  let snapshotBytes = base === undefined ? 0 : fileBytes(base.path);
  const takeSnapshot = async () => {
    const { revision } = store;
    const objects = [...store.values()];
    const old = log;
    const drained = store.durable(revision);
    log = new LogFile(logPath(folder, revision), { length: 0, fail, after: drained });
    syncFolder(folder);
    await drained;
    old.close();
    snapshotBytes = await writeSnapshot(snapshotPath(folder, revision), objects);
    syncFolder(folder);
    const { logs: allLogs, snapshots: allSnapshots } = findSegments(folder);
    for (const file of [...allLogs, ...allSnapshots]) if (file.revision < revision) rmSync(file.path);
  };
  const snapshot = () => {
    running ??= takeSnapshot().finally(() => {
      running = undefined;
    });
    return running;
  };
  store.attach({
    append: (line, written) => {
      log.append(line, written);
      if (running === undefined && log.bytes > Math.max(snapshotAtBytes, 2 * snapshotBytes)) snapshot().catch(fail);
    },
  });
  return {
    store,
    droppedBytes,
    snapshot,
    close: async () => {
      await running;
      await store.durable();
      log.close();
    },
  };
}

/** Answers how many bytes of the file are whole records. */
async function replayLog(store: ObjectStore, path: string): Promise<number> {
  let whole = 0;
  for await (const { line, end } of readLines(path)) {
    const record = parseRecord(line);
    if (record === undefined) break;
    store.replay(record);
    whole = end;
  }
  return whole;
}

async function loadSnapshot(store: ObjectStore, path: string): Promise<void> {
  for await (const { line, end } of readLines(path)) {
    const record = parseRecord(line);
    if (record === undefined || !("o" in record)) throw new Error(`${path} is damaged before byte ${end}`);
    store.load(record.k, record.o);
  }
}

async function writeSnapshot(
  path: string,
  objects: ReturnType<ObjectStore["values"]> extends Generator<infer T> ? readonly T[] : never,
): Promise<number> {
  const partial = `${path}.partial`;
  const stream = createWriteStream(partial, { mode: 0o600, flush: true });
  let bytes = 0;
  for (const [index, { resource, stored }] of objects.entries()) {
    // Not stored.text(): the text of an object that nobody reads need not stay in memory.
    const line = putLine(stored.revision, resource, JSON.stringify(stored.object));
    bytes += line.length;
    if (!stream.write(line)) await once(stream, "drain");
    if (index % 64 === 63) await nextTurn();
  }
  stream.end();
  await once(stream, "close");
  renameSync(partial, path);
  return bytes;
}

function syncFolder(folder: string): void {
  const fd = openSync(folder, "r");
  fsyncSync(fd);
  closeSync(fd);
}
