import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { earlyTable, openEarlyTable, takeEarlyTable } from "./early-table.js";
import type { PageMessage, WorkerMessage } from "./session/protocol.js";

const ORIGIN = "http://console";
const PAGE = "/console/projects/p/domains/d/executions/e%201";
const TABLE = "/api/v1/watch/node_table/p/d/e%201";

/** Worker that records its messages, and answers when the test permits it. */
class RecordingWorker {
  static started: RecordingWorker[] = [];
  readonly received: PageMessage[] = [];
  isEnded = false;
  onmessage: ((event: { readonly data: readonly WorkerMessage[] }) => void) | null = null;

  constructor() {
    RecordingWorker.started.push(this);
  }

  postMessage(message: PageMessage): void {
    this.received.push(message);
  }

  terminate(): void {
    this.isEnded = true;
  }
}

beforeEach(() => {
  RecordingWorker.started = [];
  vi.useFakeTimers();
  vi.stubGlobal("Worker", RecordingWorker);
});
afterEach(() => {
  vi.runAllTimers();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const open = (pathname: string, isHidden = false) => openEarlyTable({ pathname, origin: ORIGIN }, isHidden);

test("the page of an execution finds its table, for whose first rows the worker was asked", () => {
  const opened = open(PAGE);
  expect(RecordingWorker.started[0]?.received).toMatchObject([
    { kind: "open", path: TABLE, origin: ORIGIN, isFollowed: true, awaitsDraw: true },
    { kind: "show", parts: { rows: { from: 0, to: 64 } } },
  ]);
  const table = earlyTable(TABLE);
  expect(table).toBeDefined();
  expect(opened).toEqual({ client: table, key: { project: "p", domain: "d", name: "e 1" } });
  expect(takeEarlyTable(TABLE)).toBe(table);
  expect([earlyTable(TABLE), takeEarlyTable(TABLE)]).toEqual([undefined, undefined]);
});

test("a page in the background reads its table once", () => {
  open(PAGE, true);
  expect(RecordingWorker.started[0]?.received[0]).toMatchObject({ kind: "open", isFollowed: false, awaitsDraw: false });
});

test("a table that failed is not shown: its page opens it anew", () => {
  open(PAGE);
  RecordingWorker.started[0]?.onmessage?.({ data: [{ kind: "failed", code: 16, message: "the token has expired" }] });
  expect(earlyTable(TABLE)).toBeUndefined();
  expect(takeEarlyTable(TABLE)?.failure.get()).toMatchObject({ code: 16 });
});

test("another page opens no table, and another execution does not get this one", () => {
  for (const path of ["/console", "/console/projects/p/domains/d/executions", `${PAGE}/nodeId/n0`]) expect(open(path)).toBeUndefined();
  expect(RecordingWorker.started).toEqual([]);
  open(PAGE);
  expect([earlyTable(`${TABLE}2`), takeEarlyTable(`${TABLE}2`)]).toEqual([undefined, undefined]);
});

test("a table that no page takes is closed", () => {
  open(PAGE);
  vi.advanceTimersByTime(15_000);
  expect([RecordingWorker.started[0]?.isEnded, takeEarlyTable(TABLE)]).toEqual([true, undefined]);
});
