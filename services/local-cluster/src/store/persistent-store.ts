import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync } from "node:fs";
import { open } from "node:fs/promises";
import { LogFile, type Write } from "./log-file.js";
import { parseRecord, putLine } from "./log-record.js";
import { ObjectStore } from "./object-store.js";
import { fileSize, findSegments, logPath, readLines, type Segment, snapshotPath } from "./segments.js";

/** Characters per write of a snapshot; requests are served in between. */
const SNAPSHOT_CHUNK_CHARS = 64 * 1024;

export interface PersistentStore {
  readonly store: ObjectStore;
  /** Error of the full disk while writes wait for space. */
  readonly full: Error | undefined;
  /** Bytes of a truncated write that were dropped on opening. */
  readonly droppedBytes: number;
  /** Writes a complete snapshot and starts a new log. */
  snapshot(): Promise<void>;
  close(): Promise<void>;
}

export interface StoreOptions {
  readonly folder: string;
  /**
   * Called when a write fails permanently. The process must exit, since its memory holds writes
   * that are not on disk.
   */
  readonly fail: (error: Error) => void;
  /** Called when the disk is full, and with undefined when writes succeed again. */
  readonly onFull?: (error: Error | undefined) => void;
  /** Called when a snapshot cannot be written; the logs remain, and a later snapshot is tried. */
  readonly onSnapshotFailed?: (error: Error) => void;
  /** Replaces disk writes in tests. */
  readonly write?: Write;
  /** Size of the log that triggers a snapshot, bytes. */
  readonly snapshotAtBytes?: number;
}

/**
 * Opens the store of a directory: loads the newest snapshot and replays the logs after it. A log
 * receives writes only when the previous one is complete, so after a truncated log only empty ones
 * can follow. They are removed, and writing continues on the truncated one.
 *
 * @throws Error naming the file when records are missing in the middle
 */
export async function openStore(options: StoreOptions): Promise<PersistentStore> {
  const { folder, fail, onFull, onSnapshotFailed, snapshotAtBytes = 64 << 20 } = options;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const { logs, snapshots, unfinished } = findSegments(folder);
  for (const path of unfinished) rmSync(path, { recursive: true, force: true });
  const base = snapshots.at(-1);
  const store = new ObjectStore(base?.revision ?? 0);
  if (base !== undefined) await loadSnapshot(store, base.path);
  const live = logs.filter((log) => log.revision >= (base?.revision ?? 0));
  const whole = await replayLogs(store, live);
  const last = live.at(-1);
  const droppedBytes = last === undefined ? 0 : fileSize(last.path) - whole;
  let full: Error | undefined;
  const logOptions = {
    fail,
    onFull: (error: Error | undefined) => {
      full = error;
      onFull?.(error);
    },
    ...(options.write && { write: options.write }),
  };
  let log = new LogFile(last?.path ?? logPath(folder, store.revision), { length: whole, ...logOptions });
  syncDir(folder);

  let running: Promise<void> | undefined;
  let snapshotBytes = base === undefined ? 0 : fileSize(base.path);
  const takeSnapshot = async () => {
    const { revision } = store;
    const objects = [...store.values()];
    const old = log;
    const drained = store.durable(revision);
    log = new LogFile(logPath(folder, revision), { length: 0, ...logOptions, after: drained });
    syncDir(folder);
    await drained;
    old.close();
    snapshotBytes = await writeSnapshot(snapshotPath(folder, revision), objects);
    syncDir(folder);
    const { logs: allLogs, snapshots: allSnapshots } = findSegments(folder);
    for (const file of [...allLogs, ...allSnapshots]) if (file.revision < revision) rmSync(file.path);
  };
  const snapshot = () => {
    running ??= takeSnapshot().finally(() => {
      running = undefined;
    });
    return running;
  };
  let nextSnapshotAt = 0;
  const snapshotFailed = (error: Error) => {
    // Delays the next try; otherwise every write would start a snapshot.
    nextSnapshotAt = log.bytes + snapshotAtBytes;
    onSnapshotFailed?.(error);
  };
  store.attach({
    append: (line, written) => {
      log.append(line, written);
      if (running !== undefined || log.bytes <= Math.max(snapshotAtBytes, 2 * snapshotBytes, nextSnapshotAt)) return;
      nextSnapshotAt = 0;
      snapshot().catch(snapshotFailed);
    },
  });
  return {
    store,
    droppedBytes,
    get full() {
      return full;
    },
    snapshot,
    close: async () => {
      // The snapshot may fail or be skipped: the logs hold all writes.
      if (full === undefined) await running?.catch(() => undefined);
      // Does not wait for writes that await disk space: none of them has been acknowledged.
      if (full !== undefined) return;
      await store.durable();
      log.close();
    },
  };
}

/**
 * Replays logs, oldest first. Logs are named by their first revision; those after a truncated log
 * are empty and removed.
 *
 * @returns the size of complete records in the last remaining log, bytes
 */
async function replayLogs(store: ObjectStore, logs: Segment[]): Promise<number> {
  let whole = 0;
  for (const [index, log] of logs.entries()) {
    whole = await replayLog(store, log.path);
    const later = logs.slice(index + 1);
    if (later.length === 0 || (whole === fileSize(log.path) && later[0]?.revision === store.revision)) continue;
    if (later.some(({ path }) => fileSize(path) > 0))
      throw new Error(`${log.path} is damaged after byte ${whole}, and newer logs follow it`);
    for (const { path } of later) rmSync(path);
    logs.splice(index + 1);
    break;
  }
  return whole;
}

/** Returns the size of complete records, bytes. */
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

type Objects = ReturnType<ObjectStore["values"]> extends Generator<infer T> ? readonly T[] : never;

/** @throws Error when the disk rejects the snapshot; the partial file is removed */
async function writeSnapshot(path: string, objects: Objects): Promise<number> {
  const partial = `${path}.partial`;
  const file = await open(partial, "w", 0o600);
  let bytes = 0;
  try {
    let lines: string[] = [];
    let length = 0;
    for (const { resource, stored } of objects) {
      // Does not use stored.text(), which would keep the text in memory.
      const line = putLine(stored.revision, resource, JSON.stringify(stored.object));
      lines.push(line);
      length += line.length;
      if (length < SNAPSHOT_CHUNK_CHARS) continue;
      await file.appendFile(lines.join(""));
      bytes += length;
      [lines, length] = [[], 0];
    }
    await file.appendFile(lines.join(""));
    await file.sync();
    await file.close();
    renameSync(partial, path);
    return bytes + length;
  } catch (error) {
    await file.close().catch(() => undefined);
    rmSync(partial, { force: true });
    throw error;
  }
}

function syncDir(folder: string): void {
  const fd = openSync(folder, "r");
  fsyncSync(fd);
  closeSync(fd);
}
