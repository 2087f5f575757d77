import { create } from "@bufbuild/protobuf";
import { AgentSchema } from "@flyte-ts/idl/flyteidl/admin/agent_pb";
import { TaskExecution_Phase as Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { DesiredState, type TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { Code, RpcError } from "@flyte-ts/rpc";
import { beforeEach, describe, expect, test } from "vitest";
import { LiveAttempt } from "../attempt/live-attempt.js";
import { WaitingAttempts } from "../attempt/waiting-attempts.js";
import { Stage } from "../stage.fixture.js";
import type { ToyConnector } from "../toy-connector.fixture.js";

let stage: Stage;
const agent = (name: string, ...versions: number[]) =>
  create(AgentSchema, { supportedTaskCategories: versions.map((version) => ({ name, version })) });
const fail = (code: Exclude<Code, 0>, ...calls: string[]) => {
  return (call: string) => {
    if (calls.includes(call)) throw new RpcError(code, "no");
  };
};
const notConnected = () => {
  throw new RpcError(Code.UNAVAILABLE, "not connected", { notSent: true });
};
const ofVersion = (version: number): TaskRequest => {
  const request = stage.request();
  if (request.template !== undefined) request.template.taskTypeVersion = version;
  return request;
};
const creations = ({ calls }: ToyConnector) => calls.filter((call) => call === "CreateTask").length;
const reason = () => stage.last?.event?.reason;

describe("connectors that come and go", () => {
  beforeEach(async () => {
    stage = await Stage.start();
  });

  test("a task of a version whose connector has started just now runs", async () => {
    stage.toys.agents = [agent("toy", 0, 3)];
    await stage.send(ofVersion(3));
    await stage.clock.advance(1_000);
    expect([stage.toys.jobs.size, creations(stage.toys)]).toEqual([1, 1]);
  });

  test("a task of an unknown version waits while its endpoint does not answer, and then fails", async () => {
    stage.toys.onCall = notConnected;
    await stage.send(ofVersion(3));
    await stage.clock.advance(1_000);
    expect(reason()).toMatch(/connector endpoint "toys", ListAgents: UNAVAILABLE/);
    stage.toys.onCall = () => undefined;
    await stage.clock.advance(30_000);
    expect(stage.end).toMatchObject({ phase: "FAILED", recoverable: false, code: "BadTaskSpecification" });
  });

  test("a task whose connector has just gone waits with a reason, and runs when it is back", async () => {
    const { agents } = stage.toys;
    stage.toys.agents = [];
    stage.toys.onCall = fail(Code.NOT_FOUND, "CreateTask");
    await stage.send(stage.request());
    await stage.clock.advance(1_000);
    expect(reason()).toBe('no connector announces the task type "toy"');
    await stage.clock.advance(600_000);
    expect([creations(stage.toys), stage.last?.event?.phase]).toEqual([1, Phase.WAITING_FOR_RESOURCES]);
    stage.toys.agents = agents;
    stage.toys.onCall = () => undefined;
    stage.toys.connect();
    await stage.clock.advance(1_000);
    expect([stage.toys.jobs.size, creations(stage.toys)]).toEqual([1, 2]);
  });

  test("its creation is unrecorded, so that another process runs it", async () => {
    stage.toys.onCall = (call) => {
      if (call === "ListAgents" && creations(stage.toys) > 0) throw new RpcError(Code.UNAVAILABLE, "gone");
      if (call === "CreateTask") throw new RpcError(Code.NOT_FOUND, "no");
    };
    await stage.send(stage.request());
    await stage.clock.advance(1_000);
    expect(reason()).toMatch(/UNAVAILABLE: gone/);
    await stage.restart();
    stage.toys.onCall = () => undefined;
    await stage.clock.advance(5_000);
    await stage.send(stage.request());
    await stage.clock.advance(1_000);
    expect([stage.toys.jobs.size, stage.last?.event?.phase]).toEqual([1, Phase.RUNNING]);
  });

  describe("a rolling update of connectors behind one address", () => {
    const MINUTE = 60_000;
    /** Replaces the connectors by ones with a further type. */
    async function update(): Promise<void> {
      await stage.clock.advance(MINUTE);
      stage.toys.agents = [agent("toy", 0), agent("new", 0)];
      await stage.clock.advance(10_000);
    }

    test("an old replica that does not know a new type does not fail its task", async () => {
      await update();
      stage.toys.onCall = fail(Code.NOT_FOUND, "CreateTask");
      await stage.send(stage.request("new"));
      await stage.clock.advance(MINUTE);
      expect([stage.toys.jobs.size, stage.last?.event?.phase]).toEqual([0, Phase.WAITING_FOR_RESOURCES]);
      expect(reason()).toMatch(/CreateTask: NOT_FOUND: no \(the connectors of this endpoint have changed/);
      stage.toys.onCall = () => undefined;
      await stage.clock.advance(MINUTE);
      expect([stage.toys.jobs.size, stage.last?.event?.phase]).toEqual([1, Phase.RUNNING]);
    });

    test("a replica that does not know a job does not end its attempt, and no second job starts", async () => {
      await stage.send(stage.request());
      await stage.clock.advance(1_000);
      await update();
      stage.toys.onCall = fail(Code.NOT_FOUND, "GetTask");
      await stage.clock.advance(MINUTE);
      stage.toys.onCall = () => undefined;
      await stage.clock.advance(MINUTE);
      expect([stage.toys.jobs.size, creations(stage.toys), stage.last?.event?.phase]).toEqual([1, 1, Phase.RUNNING]);
    });

    test("an abort is repeated until a replica knows the job, and a deleted job that is gone has ended", async () => {
      await stage.send(stage.request());
      await stage.clock.advance(1_000);
      await update();
      stage.toys.onCall = fail(Code.NOT_FOUND, "DeleteTask");
      await stage.send(stage.request(), DesiredState.ABORT);
      await stage.clock.advance(1_000);
      expect(stage.last?.event?.phase).not.toBe(Phase.ABORTED);
      stage.toys.onCall = (call) => {
        if (call === "GetTask" && stage.toys.calls.includes("DeleteTask")) throw new RpcError(Code.NOT_FOUND, "gone");
      };
      await stage.clock.advance(MINUTE);
      expect([...stage.toys.jobs.values()].map(({ isDeleted }) => isDeleted)).toEqual([true]);
      expect(stage.history.at(-1)).toBe("ABORTED");
    });

    test("a type that no replica knows five minutes later fails the task", async () => {
      await update();
      stage.toys.onCall = fail(Code.NOT_FOUND, "CreateTask");
      await stage.send(stage.request("new"));
      await stage.clock.advance(6 * MINUTE);
      expect(stage.end).toMatchObject({ phase: "FAILED", recoverable: false, code: "TaskFailedWithError" });
    });
  });

  test("a task is created once by an endpoint that flaps", async () => {
    stage.toys.onCall = notConnected;
    await stage.clock.advance(10_000);
    await stage.send(stage.request());
    for (let flap = 0; flap < 20; flap++) {
      stage.toys.onCall = fail(Code.UNAVAILABLE, "CreateTask");
      await stage.clock.advance(700);
      stage.toys.onCall = notConnected;
      await stage.clock.advance(700);
    }
    // A call without an answer may have created the task: the attempt ends with it.
    stage.toys.onCall = () => undefined;
    await stage.clock.advance(60_000);
    expect([stage.toys.jobs.size, stage.end.code]).toEqual([0, "CreationUnknown"]);
  });

  test("tasks that wait for an endpoint run a second after its first answer", async () => {
    stage.toys.onCall = notConnected;
    await stage.clock.advance(60_000);
    for (const index of [1, 2, 3]) await stage.send(stage.numbered(index));
    await stage.clock.advance(300_000);
    expect(stage.toys.jobs.size).toBe(0);
    stage.toys.onCall = () => undefined;
    await stage.clock.advance(1_000);
    expect(stage.toys.jobs.size).toBe(3);
  });
});

test("a task stays at its endpoint when another that comes before it announces the type too", async () => {
  stage = await Stage.start({
    settings: {
      endpoints: [
        { name: "one", address: "one:1" },
        { name: "two", address: "two:1" },
      ],
    },
  });
  const [one, two] = [stage.connector("one"), stage.connector("two")];
  one.agents = [];
  await stage.clock.advance(5_000);
  await stage.send(stage.numbered(1));
  await stage.clock.advance(1_000);
  one.agents = [agent("toy", 0)];
  one.connect();
  await stage.clock.advance(0);
  await stage.send(stage.numbered(2));
  await stage.clock.advance(1_000);
  expect([one, two].map(({ jobs }) => jobs.size)).toEqual([1, 1]);
  for (const connector of [one, two])
    for (const job of connector.jobs.values()) {
      expect(job.polls).toBeGreaterThan(0);
      job.resource = { phase: Phase.SUCCEEDED };
    }
  await stage.clock.advance(20_000);
  expect(stage.history.filter((text) => text.startsWith("SUCCEEDED"))).toHaveLength(2);
});

test("a change of routes concerns the attempts of its types", () => {
  const waiting = new WaitingAttempts();
  const [a, b] = ["a", "b"].map((taskType) => new LiveAttempt(stage.request(taskType))) as [LiveAttempt, LiveAttempt];
  for (const attempt of [a, b]) waiting.add(attempt, "route");
  expect(waiting.ofTypes(new Set(["a", "c"]))).toEqual([a]);
  waiting.delete(a);
  expect(waiting.ofTypes(new Set(["a", "b"]))).toEqual([b]);
});
