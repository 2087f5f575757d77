import { createReadStream, readdirSync, statSync } from "node:fs";
import { join } from "node:path";

/** A file of the store with the revision in its name. */
export interface Segment {
  readonly path: string;
  readonly revision: number;
}

const digits = (revision: number) => String(revision).padStart(16, "0");

/** Path of the log with revisions after `revision`. */
export const logPath = (folder: string, revision: number) => join(folder, `log-${digits(revision)}.jsonl`);

/** Path of the snapshot of `revision`. */
export const snapshotPath = (folder: string, revision: number) => join(folder, `snapshot-${digits(revision)}.jsonl`);

/** Lists logs and snapshots, oldest first, and incomplete snapshots. */
export function findSegments(folder: string): { logs: Segment[]; snapshots: Segment[]; unfinished: string[] } {
  const names = readdirSync(folder);
  const found = names.flatMap((name) => {
    const parts = /^(log|snapshot)-(\d{16})\.jsonl$/.exec(name);
    return parts === null ? [] : [{ kind: parts[1], path: join(folder, name), revision: Number(parts[2]) }];
  });
  const unfinished = names.filter((name) => /^snapshot-\d{16}\.jsonl\.partial$/.test(name)).map((name) => join(folder, name));
  found.sort((a, b) => a.revision - b.revision);
  return { logs: found.filter((f) => f.kind === "log"), snapshots: found.filter((f) => f.kind === "snapshot"), unfinished };
}

/** Yields lines with the offset after each; omits an incomplete last line. */
export async function* readLines(path: string): AsyncGenerator<{ line: string; end: number }> {
  let rest: Buffer[] = [];
  let offset = 0;
  for await (const data of createReadStream(path, { highWaterMark: 1 << 20 })) {
    const chunk = data as Buffer;
    let start = 0;
    for (let i = chunk.indexOf(10); i >= 0; i = chunk.indexOf(10, start)) {
      const line = Buffer.concat([...rest, chunk.subarray(start, i)]);
      rest = [];
      offset += line.length + 1;
      start = i + 1;
      yield { line: line.toString("utf8"), end: offset };
    }
    if (start < chunk.length) rest.push(chunk.subarray(start));
  }
}

export const fileSize = (path: string) => statSync(path).size;
