import { ManualTime } from "@flyte-ts/async/manual-time";
import { Code, RpcError } from "@flyte-ts/rpc";
import { beforeEach, describe, expect, test } from "vitest";
import { testSettings } from "../settings.fixture.js";
import { ToyConnector } from "../toy-connector.fixture.js";
import { Endpoint, type EndpointCall } from "./endpoint.js";
import type { EndpointConfig } from "./endpoint-config.js";

describe("the circuit of an endpoint", () => {
  let connector: ToyConnector;
  let clock: ManualTime;
  let endpoint: Endpoint;
  let isAway = true;
  let code: Exclude<Code, 0> = Code.UNAVAILABLE;
  const observed: string[] = [];

  beforeEach(() => {
    isAway = true;
    code = Code.UNAVAILABLE;
    observed.length = 0;
    connector = new ToyConnector();
    connector.onCall = () => {
      if (isAway) throw new RpcError(code, "away");
    };
    clock = new ManualTime();
    const [config] = testSettings().endpoints;
    const onCall = (call: { readonly call: string; readonly code: string }) => observed.push(`${call.call} ${call.code}`);
    endpoint = new Endpoint(config as EndpointConfig, { calls: connector, clock, random: () => 0.5, onCall });
  });

  const ask: EndpointCall<unknown> = { name: "GetTask", lane: "poll", run: (calls) => calls.listAgents() };
  const failure = () =>
    endpoint.call(ask).then(
      () => undefined,
      (error: unknown) => error,
    );

  test("opens after five calls without an answer, and one call tests it later", async () => {
    for (let i = 0; i < 5; i++) expect(await failure()).toMatchObject({ kind: "unavailable" });
    expect(endpoint.isAnswering).toBe(false);
    expect(connector.calls).toHaveLength(5);
    expect(await failure()).toMatchObject({ kind: "unavailable", withoutEffect: true, retryAfterMs: expect.any(Number) });
    expect(connector.calls).toHaveLength(5);
    await clock.advance(1_500);
    expect(await Promise.all([failure(), failure(), failure()])).toHaveLength(3);
    expect(connector.calls).toHaveLength(6);
    isAway = false;
    await clock.advance(30_000);
    expect(await failure()).toBeUndefined();
    expect(endpoint.isAnswering).toBe(true);
    expect(observed.slice(-1)).toEqual(["GetTask OK"]);
  });

  test("closes with the next answer to ListAgents", async () => {
    for (let i = 0; i < 5; i++) await failure();
    isAway = false;
    await endpoint.listAgents();
    expect(await failure()).toBeUndefined();
  });

  test("stays closed while the connector answers with errors", async () => {
    code = Code.INTERNAL;
    for (let i = 0; i < 20; i++) expect(await failure()).toMatchObject({ kind: "error" });
    expect(connector.calls).toHaveLength(20);
  });

  test("stays closed when long calls reach their deadline", async () => {
    code = Code.DEADLINE_EXCEEDED;
    for (let i = 0; i < 20; i++) await endpoint.call({ ...ask, isLong: true }).catch(() => undefined);
    expect(connector.calls).toHaveLength(20);
  });

  test("prepares a call at its turn, and not while the connector is away", async () => {
    let prepared = 0;
    const { run, ...turn } = ask;
    const prepareAndSend = () =>
      endpoint
        .turn(turn, (send) => {
          prepared++;
          return send(run);
        })
        .catch(() => undefined);
    for (let i = 0; i < 20; i++) await prepareAndSend();
    expect(prepared).toBe(5);
  });

  test("gives the turn to another call when the preparation fails", async () => {
    for (let i = 0; i < 5; i++) await failure();
    await clock.advance(30_000);
    await expect(endpoint.turn(ask, () => Promise.reject(new Error("no inputs")))).rejects.toThrow("no inputs");
    isAway = false;
    expect(await failure()).toBeUndefined();
  });

  test("does not send a call that became obsolete during its preparation", async () => {
    isAway = false;
    let isObsolete = false;
    const turn = endpoint.turn({ ...ask, isObsolete: () => isObsolete }, (send) => {
      isObsolete = true;
      return send(ask.run);
    });
    await expect(turn).rejects.toMatchObject({ withoutEffect: true });
    expect(connector.calls).toEqual([]);
  });

  test("drops a call that is obsolete at its turn", async () => {
    isAway = false;
    await expect(endpoint.call({ ...ask, isObsolete: () => true })).rejects.toMatchObject({ withoutEffect: true });
    expect(connector.calls).toEqual([]);
  });
});
