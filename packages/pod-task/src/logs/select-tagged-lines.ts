import { readTaggedLine } from "@flyte-ts/domain/name";

const LINE_END = 10;

/**
 * Selects the lines of one attempt from the log of a reused pod, whose lines follow their time, and
 * removes the tag. Chunks end anywhere.
 */
export async function* selectTaggedLines(parts: AsyncIterable<Uint8Array>, tag: string): AsyncGenerator<Uint8Array> {
  let rest = Buffer.alloc(0);
  for await (const part of parts) {
    const known = Buffer.concat([rest, part]);
    const end = known.lastIndexOf(LINE_END) + 1;
    rest = known.subarray(end);
    const lines = known.toString("utf8", 0, end).split("\n").slice(0, -1);
    const own = lines.flatMap((line) => untagged(line, tag));
    if (own.length > 0) yield Buffer.from(own.join(""));
  }
  const [last] = untagged(rest.toString("utf8"), tag);
  if (last !== undefined) yield Buffer.from(last);
}

function untagged(line: string, tag: string): string[] {
  const at = line.indexOf(" ") + 1;
  const read = readTaggedLine(line.slice(at), tag);
  return read?.kind === "line" ? [`${line.slice(0, at)}${read.text}\n`] : [];
}
