import fc from "fast-check";
import { expect, test } from "vitest";
import { readLogCursor, writeLogCursor } from "./log-cursor.js";
import { LineSplitter, type StampedLine, LineDeduplicator } from "./line-dedup.js";

const stamp = (ms: number) => new Date(Date.UTC(2026, 0, 1) + ms).toISOString().replace("Z", "000000Z");

/** Lines of two concurrent streams: some milliseconds out of order, several with equal times. */
const anyLog = fc.array(fc.record({ step: fc.nat({ max: 700 }), late: fc.nat({ max: 30 }) }), { maxLength: 40 }).map((steps) => {
  let now = 0;
  return steps.map(({ step, late }, index): StampedLine => ({ time: stamp(Math.max(0, (now += step) - late)), text: `line ${index}` }));
});

/** Response of a data plane: lines written in this second or later, in the order of the log. */
const since = (log: readonly StampedLine[], from: Date | undefined) =>
  log.filter(({ time }) => from === undefined || Date.parse(time) >= from.getTime());

test("a log that is interrupted at any place any number of times is streamed completely and once", () => {
  fc.assert(
    fc.property(anyLog, fc.array(fc.nat({ max: 12 })), (log, cuts) => {
      const streamed: StampedLine[] = [];
      let cursor = writeLogCursor({ attempt: 0, pod: "p", container: "c", position: undefined });
      for (const cut of [...cuts, log.length]) {
        const deduplicator = new LineDeduplicator(readLogCursor(cursor)?.position);
        const answer = since(log, deduplicator.since);
        // Number of lines that arrive, one message each; the last message may be lost with its
        // cursor.
        let arrived = 0;
        for (const line of answer) {
          const news = deduplicator.filterNew([line]);
          if (news.length === 0) continue;
          if (arrived++ >= cut && cut !== log.length) break;
          streamed.push(...news);
          cursor = writeLogCursor({ attempt: 0, pod: "p", container: "c", position: deduplicator.position });
        }
      }
      expect(streamed.map(({ text }) => text)).toEqual(log.map(({ text }) => text));
    }),
    { numRuns: 500 },
  );
});

test("the last lines are streamed, and those that follow them after an interruption", () => {
  fc.assert(
    fc.property(anyLog, fc.nat({ max: 10 }), fc.nat(), (log, tail, split) => {
      const known = log.slice(0, split % (log.length + 1));
      const deduplicator = new LineDeduplicator(undefined);
      const anchor = known.slice(-Math.max(1, tail));
      const from = new Date(Math.floor(Math.min(...anchor.map(({ time }) => Date.parse(time))) / 1000) * 1000);
      // Lines may have been written since the request of the last lines.
      if (anchor.length > 0) deduplicator.seekToTail({ tail: anchor, after: tail === 0 }, since(log, from));
      deduplicator.restart();
      const streamed = deduplicator.filterNew(since(log, deduplicator.since)).map(({ text }) => text);
      const begun = log.slice(known.length === 0 ? 0 : Math.max(0, known.length - tail));
      expect(streamed).toEqual(begun.map(({ text }) => text));
    }),
    { numRuns: 500 },
  );
});

test("lines are joined from chunks that end anywhere, also without time or with invalid UTF-8", () => {
  const text = Buffer.concat([
    Buffer.from("2026-01-01T00:00:00.000000001Z ä one\r\nno time here\n"),
    Buffer.from([0xff, 0x0a]),
    Buffer.from("2026-01-01T00:00:00.5+01:00 \n2026-01-01T00:00:01Z unfinished"),
  ]);
  const expected = [
    { time: "2026-01-01T00:00:00.000000001Z", text: "ä one" },
    { time: "", text: "no time here" },
    { time: "", text: "\ufffd" },
    { time: "2026-01-01T00:00:00.5+01:00", text: "" },
    { time: "2026-01-01T00:00:01Z", text: "unfinished" },
  ];
  for (let size = 1; size < 20; size++) {
    const splitter = new LineSplitter();
    const lines: StampedLine[] = [];
    for (let from = 0; from < text.length; from += size) lines.push(...splitter.add(text.subarray(from, from + size)));
    expect([...lines, ...splitter.end()]).toEqual(expected);
    expect(splitter.end()).toEqual([]);
  }
});

test("a line without an end is truncated", () => {
  const splitter = new LineSplitter();
  const [first, ...more] = [...splitter.add(Buffer.alloc(300_000, "x")), ...splitter.add(Buffer.from("y\n"))];
  expect([first?.text.length, more]).toEqual([300_000, [{ time: "", text: "y" }]]);
});

test.each(["", "x", "e30", Buffer.from("1/0/p/c/1/1").toString("base64url"), Buffer.from("1/0/p q/c").toString("base64url")])(
  "%j is not a cursor",
  (text) => {
    expect(readLogCursor(text)).toBeUndefined();
  },
);
