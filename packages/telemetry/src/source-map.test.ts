import { SourceMap } from "node:module";
import { expect, test } from "vitest";
import { CompactSourceMap } from "./source-map.js";

test("positions equal those of Node's own source map reader", () => {
  // Two sources, lines without segments, steps back, numbers of several digits, and a segment
  // without a source.
  const file = { version: 3, sources: ["a.ts", "b.ts"], names: ["n"], mappings: "AAAA,IAAIA,gBCgCQ;;A,EDDJC,qBAAuB;AAAA;gBAyBd" };
  const compact = new CompactSourceMap(file);
  const own = new SourceMap(file as never);
  let found = 0;
  for (let line = 1; line <= 7; line++) {
    for (let column = 1; column <= 40; column++) {
      const entry = own.findEntry(line - 1, column - 1);
      const place = compact.originalPositionFor(line, column);
      // Node's result continues with the last segment of a previous line.
      if (!("originalSource" in entry) || entry.originalSource === undefined || entry.generatedLine !== line - 1) continue;
      found++;
      expect(place, `${line}:${column}`).toEqual({
        source: entry.originalSource,
        line: entry.originalLine + 1,
        column: entry.originalColumn + 1,
      });
    }
  }
  expect(found).toBeGreaterThan(80);
  expect(compact.originalPositionFor(2, 5)).toBeUndefined();
});
