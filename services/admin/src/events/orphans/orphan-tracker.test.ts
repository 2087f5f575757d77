import { fromBinary } from "@bufbuild/protobuf";
import { WorkflowExecution_Phase as Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { ExecutionRecordedSchema } from "@flyte-ts/idl/flytets/event/v1/event_pb";
import type { DeleteOptions, ObjectName } from "@flyte-ts/kubernetes";
import type { Bus } from "@flyte-ts/messaging";
import { createLogger } from "@flyte-ts/telemetry";
import { expect, test } from "vitest";
import { adminConfigSchema } from "../../config.js";
import type { DecodedEvent } from "../decoded-event.js";
import { OrphanTracker } from "./orphan-tracker.js";

const execution = { project: "p", domain: "d", name: "e" };

function world(action: "abort" | "keep" = "abort") {
  const done: string[] = [];
  const state = { down: false, owner: execution, row: undefined as number | undefined };
  const bus = {
    publishEphemeral: (_: string, data: Uint8Array) => {
      const { workflowKey, phase } = fromBinary(ExecutionRecordedSchema, data);
      done.push(`recorded ${workflowKey} ${phase}`);
    },
  } as unknown as Bus;
  const cluster = (name: string) => ({
    name,
    weight: 1,
    kube: {
      get: async (_: unknown, { namespace, name: object }: ObjectName) => {
        if (state.down) throw new Error("refused");
        const metadata = { namespace, name: object, uid: "u1" };
        return { metadata, executionId: state.owner, acceptedAt: "2026-01-01T00:00:00Z" };
      },
      delete: async (_: unknown, { namespace, name: object, uid }: DeleteOptions) => {
        done.push(`delete ${name} ${namespace}/${object} ${uid}`);
        return true;
      },
    },
  });
  const config = adminConfigSchema.parse({ orphans: { action } });
  const logger = createLogger({ service: "test", level: "silent" });
  const clusters = [cluster("east"), cluster("west")];
  const db = {
    query: async () => ({ rows: state.row === undefined ? [] : [{ phase: "RUNNING", accepted_ns: BigInt(state.row) * 1_000_000n }] }),
  };
  return { done, state, orphans: new OrphanTracker({ db, bus, clusters, config, logger, clock: () => new Date() } as never) };
}

const eventWith = (phase: Phase): DecodedEvent =>
  ({ kind: "workflow", execution, cluster: "west", order: 1n, fact: { phase, occurredAt: 0n } }) as unknown as DecodedEvent;

test("an unknown execution is stopped once in its data plane, and its end is confirmed", async () => {
  const { done, orphans } = world();
  await orphans.handleEvent(eventWith(Phase.RUNNING));
  await orphans.handleEvent(eventWith(Phase.RUNNING));
  expect(orphans.isOrphan(execution)).toBe(true);
  await orphans.handleEvent(eventWith(Phase.ABORTED));
  expect(done).toEqual(["delete west p-d/e u1", "recorded p-d/e ABORTED"]);
});

test("a failed stop is repeated at the next event", async () => {
  const { done, state, orphans } = world();
  state.down = true;
  await orphans.handleEvent(eventWith(Phase.RUNNING));
  expect([done, orphans.isOrphan(execution)]).toEqual([[], false]);
  state.down = false;
  await orphans.handleEvent(eventWith(Phase.RUNNING));
  expect(done).toEqual(["delete west p-d/e u1"]);
});

test("an orphan with the name of an earlier one is stopped too, if an execution of that name had a row in between", async () => {
  const { done, orphans } = world();
  await orphans.handleEvent(eventWith(Phase.RUNNING));
  orphans.forget(execution);
  expect([orphans.isEmpty, orphans.isOrphan(execution)]).toEqual([true, false]);
  await orphans.handleEvent(eventWith(Phase.RUNNING));
  expect(done).toEqual(["delete west p-d/e u1", "delete west p-d/e u1"]);
});

test("the resource of another execution of the same name is not deleted for an orphan", async () => {
  const { done, state, orphans } = world();
  state.owner = { ...execution, project: "another" };
  await orphans.handleEvent(eventWith(Phase.RUNNING));
  expect(done).toEqual([]);
});

test("a resource is not deleted when its execution has a row since the event, one of an earlier execution of its name is", async () => {
  const { done, state, orphans } = world();
  state.row = Date.parse("2026-01-01T00:00:00.700Z");
  await orphans.handleEvent(eventWith(Phase.RUNNING));
  expect([done, orphans.isOrphan(execution)]).toEqual([[], false]);
  state.row = Date.parse("2026-01-02T00:00:00Z");
  await orphans.handleEvent(eventWith(Phase.RUNNING));
  expect(done).toEqual(["delete west p-d/e u1"]);
});

test("a late end is not confirmed to the resource of a later execution of the same name, to its own it is", async () => {
  const { done, state, orphans } = world();
  state.row = Date.parse("2026-01-01T00:00:00.700Z");
  await orphans.handleEvent(eventWith(Phase.SUCCEEDED));
  expect(done).toEqual([]);
  state.row = Date.parse("2026-01-02T00:00:00Z");
  await orphans.handleEvent(eventWith(Phase.SUCCEEDED));
  expect(done).toEqual(["recorded p-d/e SUCCEEDED"]);
});

test("unknown executions are kept if configured", async () => {
  const { done, orphans } = world("keep");
  await orphans.handleEvent(eventWith(Phase.RUNNING));
  await orphans.handleEvent(eventWith(Phase.SUCCEEDED));
  expect(done).toEqual([]);
});
