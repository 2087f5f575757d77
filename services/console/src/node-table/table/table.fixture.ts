import fc from "fast-check";
import { encodeChunk, type NodeRow, nodeRow } from "../wire/chunk.fixture.js";
import { readChunk } from "../wire/read-chunk.js";
import { applyChunk, ConnectionTexts } from "./apply-chunk.js";
import { NodeTable } from "./node-table.js";

/** Makes a table of rows by the messages that would bring them. */
export function tableOf(rows: readonly NodeRow[]): NodeTable {
  const table = new NodeTable();
  applyChunk(table, new ConnectionTexts(table), readChunk(encodeChunk(rows)));
  return table;
}

const MAX_MS = 1000;
const time = fc.nat({ max: MAX_MS });

/** Nodes whose parents are earlier rows, later rows or unknown. */
export const nodeRows = (maxLength = 40): fc.Arbitrary<NodeRow[]> =>
  fc.uniqueArray(
    fc
      .record({
        key: fc.integer({ min: 1, max: maxLength * 2 }),
        parent: fc.nat({ max: maxLength }),
        phase: fc.nat({ max: 10 }),
        cache: fc.nat({ max: 4 }),
        attempts: fc.nat({ max: 2 }),
        entity: fc.constantFrom("", "jobs.train", "jobs.Load"),
        error: fc.constantFrom("", "OOM", "Timeout"),
        queued: time,
        waits: fc.option(time, { nil: undefined }),
        runs: fc.option(time, { nil: undefined }),
      })
      // A parent has a smaller key, so that rows are no circle.
      .map(({ parent, waits, runs, ...row }) => {
        const started = waits === undefined ? undefined : row.queued + waits;
        const ended = started === undefined || runs === undefined ? undefined : started + runs;
        return nodeRow({ ...row, parent: parent % row.key, started, ended, id: `N${row.key}` });
      }),
    { selector: ({ key }) => key, maxLength },
  );
