import { create, toBinary } from "@bufbuild/protobuf";
import { type RestClient, RestError } from "@flyte-ts/client/browser";
import { FollowLogResponseSchema } from "@flyte-ts/idl/flytets/admin/v1/live_pb";
import { expect, test } from "vitest";
import { connectLog, type LogClient, type LogWorker } from "./log-client.js";
import { LogSession } from "./log-session.js";
import type { LogRequest } from "./protocol.js";

const SOURCE = { project: "p", domain: "d", name: "x", node: "n0", attempt: 1 };
const TIME = "2026-11-27T01:18:19.204Z";

function message(cursor: string, texts: readonly string[], ended = false): Uint8Array {
  const lines = texts.map((text, at) => ({ text, time: at === 0 ? TIME : "" }));
  return toBinary(FollowLogResponseSchema, create(FollowLogResponseSchema, { cursor, lines, attempt: 1, ended }));
}

/** Page's side of a session whose streams are given, one for each connection. */
function connect(streams: readonly (() => Iterable<Uint8Array>)[]) {
  const calls: unknown[] = [];
  const client: RestClient = {
    call: () => Promise.reject(new Error("not called")),
    bytes: () => Promise.reject(new Error("not called")),
    async *stream(path, { query } = {}) {
      calls.push([path, query?.["attempt"], query?.["cursor"]]);
      yield* streams[calls.length - 1]?.() ?? [];
    },
  };
  const worker: LogWorker = {
    onmessage: null,
    postMessage: (request: LogRequest) => session.receive(request),
    terminate: () => undefined,
  };
  const session = new LogSession({
    post: (data) => worker.onmessage?.({ data }),
    now: () => 0,
    schedule: (run) => queueMicrotask(run),
    clientOf: () => client,
    sleep: () => Promise.resolve(),
  });
  return { log: connectLog(worker), calls };
}

const until = (log: LogClient, store: "summary" | "search" | "failure", isReached: () => boolean): Promise<void> =>
  new Promise((resolve) => {
    log[store].subscribe(() => isReached() && resolve());
    if (isReached()) resolve();
  });

function* broken(): Iterable<Uint8Array> {
  yield message("a", ["first", "no match"]);
  throw new RestError(14, "cut off", 200);
}

test("a page reads a log over a connection that breaks, and searches it", async () => {
  const { log, calls } = connect([broken, () => [message("b", ["FIRST again", ""]), message("c", [], true)]]);
  log.setQuery({ text: "first", isRegex: false });
  log.open(SOURCE);
  await until(log, "summary", () => log.summary.get()?.hasEnded === true);
  const path = "/api/v1/follow/log/p/d/x/n0";
  expect(calls).toEqual([
    [path, 1, undefined],
    [path, 1, "a"],
  ]);
  expect(log.summary.get()).toEqual({ lines: 4, bytes: 28, firstMs: Date.parse(TIME), isOpen: true, hasEnded: true });
  log.show(1, 9);
  expect(log.shown.get()).toEqual({
    from: 1,
    lines: ["no match", "FIRST again", ""].map((text, at) => ({ text, timeMs: at === 1 ? Date.parse(TIME) : undefined })),
  });
  await until(log, "search", () => log.search.get()?.count === 2);
  log.find(1, 1);
  expect(log.found.get()).toEqual({ index: 1, line: 2 });
  log.find(3, 1);
  expect(log.found.get()).toEqual({ index: 0, line: 0 });
  log.find(0, -1);
  expect(log.found.get()).toEqual({ index: 1, line: 2 });
  expect(await (await log.download()).text()).toBe("first\nno match\nFIRST again\n\n");
});

test("a log that is opened again goes on after its last message", async () => {
  const { log, calls } = connect([() => [message("a", ["one"])], () => [message("b", ["two"], true)]]);
  log.open(SOURCE);
  await until(log, "summary", () => log.summary.get()?.lines === 1);
  log.pause();
  log.open(SOURCE);
  await until(log, "summary", () => log.summary.get()?.lines === 2);
  expect(calls.map((call) => (call as unknown[])[2])).toEqual([undefined, "a"]);
  log.open({ ...SOURCE, attempt: 0 });
  expect(log.summary.get()).toMatchObject({ lines: 0, hasEnded: false });
});

test("the reason of the server is passed on when there is no log", async () => {
  const { log } = connect([
    () => {
      throw new RestError(5, "its pod was deleted", 404);
    },
  ]);
  log.open(SOURCE);
  await until(log, "failure", () => log.failure.get() !== undefined);
  expect(log.failure.get()).toEqual({ code: 5, message: "its pod was deleted" });
});

test("a malformed expression is reported", () => {
  const { log } = connect([]);
  log.setQuery({ text: "(", isRegex: true });
  expect(log.search.get()).toMatchObject({ count: 0, isDone: true, problem: expect.stringContaining("Unterminated") as string });
});
