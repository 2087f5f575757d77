import { ManualTime } from "@flyte-ts/async/manual-time";
import { create } from "@bufbuild/protobuf";
import { booleanLiteral, integerLiteral } from "@flyte-ts/domain/literal";
import { type Signal, SignalListSchema, SignalSchema } from "@flyte-ts/idl/flyteidl/admin/signal_pb";
import type { Literal } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { type LiteralType, LiteralTypeSchema, SimpleType } from "@flyte-ts/idl/flyteidl/core/types_pb";
import { Code, RpcError } from "@flyte-ts/rpc";
import { beforeEach, expect, test, vi } from "vitest";
import { CallLimiter } from "./handlers.js";
import { SignalReader } from "./signal-reader.js";

const simple = (value: SimpleType): LiteralType => create(LiteralTypeSchema, { type: { case: "simple", value } });
const BOOLEAN = simple(SimpleType.BOOLEAN);
const executionId = { $typeName: "flyteidl.core.WorkflowExecutionIdentifier", project: "p", domain: "d", name: "e", org: "" } as const;
const idOf = (signalId: string) => ({ $typeName: "flyteidl.core.SignalIdentifier", signalId, executionId }) as const;

/** Signals of one execution, as admin keeps them. */
let stored: Map<string, Signal>;
let requests: string[];
let listFailure: RpcError | undefined;
let reader: SignalReader;
let time: ManualTime;
let isShared: boolean;
beforeEach(() => {
  stored = new Map();
  requests = [];
  listFailure = undefined;
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  time = new ManualTime();
  isShared = false;
  reader = new SignalReader({
    signals: {
      async getOrCreateSignal({ id, type }) {
        const signalId = id?.signalId ?? "";
        requests.push(`get ${signalId}`);
        await turn();
        const signal = stored.get(signalId) ?? create(SignalSchema, { id: idOf(signalId), ...(type && { type: type as LiteralType }) });
        if (signal.type?.type.value !== type?.type?.value) throw new RpcError(Code.ALREADY_EXISTS, "another type");
        stored.set(signalId, signal);
        return signal;
      },
      async listSignals({ filters = "", limit = 0 }) {
        const ids = /^value_in\(signal_id,(.*)\)$/.exec(filters)?.[1]?.split(";") ?? [];
        requests.push(`list ${ids.length}`);
        await turn();
        if (listFailure !== undefined) throw listFailure;
        const signals = ids.flatMap((id) => stored.get(id) ?? []).slice(0, limit);
        return create(SignalListSchema, { signals });
      },
    },
    limiter: new CallLimiter(8),
    isShared: () => isShared,
    time,
  });
});

const store = (signalId: string, value?: Literal, type = BOOLEAN) =>
  stored.set(signalId, create(SignalSchema, { id: idOf(signalId), type, ...(value && { value }) }));
const read = (signalId: string, execution = "p-d/e") => reader.read({ id: idOf(signalId), type: BOOLEAN }, execution);
const many = (count: number) => Array.from({ length: count }, (_, index) => `s${index}`);

test("a single signal is read, or created, by one request", async () => {
  store("set", booleanLiteral(true));
  expect(await read("set")).toEqual({ kind: "value", value: booleanLiteral(true) });
  expect(await read("new")).toEqual({ kind: "value", value: undefined });
  expect(requests).toEqual(["get set", "get new"]);
  expect(stored.get("new")?.type).toEqual(BOOLEAN);
});

test("a thousand signals that exist are read by a few requests, each with its own value", async () => {
  for (const [index, id] of many(1_000).entries()) store(id, index % 2 === 0 ? integerLiteral(index) : undefined);
  const results = await Promise.all(many(1_000).map((id) => read(id)));
  for (const [index, result] of results.entries())
    expect(result).toEqual({ kind: "value", value: index % 2 === 0 ? integerLiteral(index) : undefined });
  expect(requests.length).toBeLessThan(40);
});

test("signals that do not exist are created, although they are read together", async () => {
  store("s7", booleanLiteral(true));
  const results = await Promise.all(many(50).map((id) => read(id)));
  expect(results.map((result) => result.kind === "value" && result.value !== undefined)).toEqual(many(50).map((id) => id === "s7"));
  expect(stored.size).toBe(50);
});

test("a signal of another type is refused in a batch as it is alone", async () => {
  store("s9", booleanLiteral(true), simple(SimpleType.INTEGER));
  const results = await Promise.all(many(50).map((id) => read(id)));
  expect(results.filter(({ kind }) => kind === "refused")).toHaveLength(1);
  expect(results[9]).toEqual({ kind: "refused", code: "ALREADY_EXISTS", message: "another type" });
});

test("ids that a filter cannot express, and servers that refuse the filter, cost a request for each signal", async () => {
  const odd = [...many(20).map((id) => `${id};x`), "a,b", "c)"];
  for (const id of odd) store(id, booleanLiteral(true));
  expect(await Promise.all(odd.map((id) => read(id)))).toEqual(odd.map(() => ({ kind: "value", value: booleanLiteral(true) })));
  expect(requests.filter((request) => request.startsWith("list"))).toEqual([]);
  listFailure = new RpcError(Code.INVALID_ARGUMENT, "no such filter");
  const results = await Promise.all(many(50).map((id) => read(id)));
  expect(results).toEqual(many(50).map(() => ({ kind: "value", value: undefined })));
});

test("the same signal read twice at once is answered twice", async () => {
  for (const id of many(20)) store(id, booleanLiteral(true));
  const results = await Promise.all([...many(20), ...many(20)].map((id) => read(id)));
  expect(results).toEqual(results.map(() => ({ kind: "value", value: booleanLiteral(true) })));
});

test("beside other executions the signals of a thousand gates are read at a limited pace", async () => {
  isShared = true;
  for (const id of many(1_000)) store(id, booleanLiteral(true));
  let done = 0;
  const reads = many(1_000).map((id) => read(id).then(() => done++));
  await vi.waitFor(() => expect(done).toBe(1));
  await time.advance(4);
  await vi.waitFor(() => expect(done).toBe(33));
  await time.advance(127);
  expect(requests).toEqual(["get s0", "list 32"]);
  await time.advance(1);
  await vi.waitFor(() => expect(done).toBe(65));
  await time.advance(4_000);
  await Promise.all(reads);
});
