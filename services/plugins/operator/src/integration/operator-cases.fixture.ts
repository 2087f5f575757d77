import { create, toBinary } from "@bufbuild/protobuf";
import { ContainerError_Kind, ErrorDocumentSchema } from "@flyte-ts/idl/flyteidl/core/errors_pb";
import { ExecutionError_ErrorKind as Kind } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { expect, it } from "vitest";
import { OUTPUTS } from "../simulation/operator-world.js";
import { SAMPLES } from "../simulation/samples.js";
import { Attempt, DesiredState, Phase } from "./attempt.fixture.js";
import type { OperatorCluster } from "./operator-cluster.fixture.js";
import { playFailure, playOutOfMemory, playRunning, playSuccess } from "./plays.fixture.js";
import { imageMissing, running, UNSCHEDULABLE, unschedulable } from "./pod-status.fixture.js";

const USER_ERROR = toBinary(
  ErrorDocumentSchema,
  create(ErrorDocumentSchema, {
    error: {
      code: "USER:ValueError",
      message: "the task's own words",
      kind: ContainerError_Kind.NON_RECOVERABLE,
      origin: Kind.USER,
    },
  }),
);

/** Task types whose tasks may give their job a deadline, beside `timeout` of every task. */
const WITH_DEADLINE: readonly string[] = ["pytorch", "tensorflow", "mpi"];

/** Tests what attempts of a task type come to; `installed` resolves when its operator runs. */
export function operatorCases(taskType: string, installed: () => Promise<OperatorCluster>): void {
  const start = async (name: string) => {
    const cluster = await installed();
    const attempt = new Attempt(cluster, taskType, { name });
    await attempt.send(DesiredState.RUN);
    return attempt;
  };
  const startRunning = async (name: string) => {
    const attempt = await start(name);
    playRunning(attempt);
    await attempt.until(Phase.RUNNING);
    return attempt;
  };

  it(`${taskType}: a success has the outputs, and nothing is left when it is finalized`, async () => {
    const attempt = await startRunning("success");
    await attempt.untilEvent("event that names a pod", ({ event }) => (event?.metadata?.externalResources.length ?? 0) > 0);
    attempt.writeFile("outputs.pb", OUTPUTS);
    playSuccess(attempt);
    const event = await attempt.until(Phase.SUCCEEDED);
    expect(event.outputs?.literals.o0?.hash).toBe("out");
    expect(event.event?.metadata?.pluginIdentifier).toBe(taskType);
    await attempt.finalize();
  });

  it(`${taskType}: the error that the task wrote is its failure, although its programs end well`, async () => {
    const attempt = await startRunning("error");
    attempt.writeFile("error.pb", USER_ERROR);
    playSuccess(attempt);
    expect(await attempt.failure()).toMatchObject({ code: "USER:ValueError", message: "the task's own words", kind: Kind.USER });
  });

  it(`${taskType}: a program that ends with status 1 fails the attempt by the user's doing`, async () => {
    const attempt = await startRunning("status");
    playFailure(attempt);
    const { code, message, kind } = await attempt.failure();
    expect(code).toBe(taskType === "ray" ? "TaskFailedWithError" : "DownstreamSystemError");
    expect(message).toMatch(/exit(ed)? ?(with )?code:? ?\(?1|status 1|exit code 1/i);
    expect(kind).toBe(Kind.USER);
  });

  it(`${taskType}: a kill for lack of memory is named`, async () => {
    const attempt = await startRunning("memory");
    playOutOfMemory(attempt);
    expect(await attempt.failure()).toMatchObject({ code: "OOMKilled" });
  });

  it(`${taskType}: an image that cannot be pulled fails the attempt, and nothing is left by then`, async () => {
    const attempt = await start("image");
    attempt.play(imageMissing);
    const { code, message } = await attempt.failure();
    expect(code).toBe("ContainersNotReady|ImagePullBackOff");
    expect(message).toContain("no such image");
    expect(await attempt.remaining()).toEqual([]);
  });

  it(`${taskType}: an unschedulable pod is named while the attempt waits, and its abort leaves nothing`, async () => {
    const attempt = await start("queue");
    attempt.play(unschedulable);
    const { event } = await attempt.untilReason(UNSCHEDULABLE);
    expect(event?.phase).not.toBe(Phase.RUNNING);
    await attempt.send(DesiredState.ABORT);
    await attempt.until(Phase.ABORTED);
    expect(await attempt.remaining()).toEqual([]);
  });

  it(`${taskType}: an abort is reported when nothing is left`, async () => {
    const attempt = await startRunning("abort");
    await attempt.send(DesiredState.ABORT);
    await attempt.until(Phase.ABORTED);
    expect(await attempt.remaining()).toEqual([]);
  });

  it(`${taskType}: a timeout of the task stops the attempt before the next one starts`, async () => {
    const cluster = await installed();
    const attempt = await startRunning("timeout");
    // Propeller's request when the timeout of flytekit's task has passed.
    await attempt.send(DesiredState.ABORT, { abortReason: "task execution timeout [10s] expired", deleteResources: true });
    await attempt.until(Phase.ABORTED);
    expect(await attempt.remaining()).toEqual([]);
    const next = new Attempt(cluster, taskType, { name: "timeout", retry: 1 });
    await next.send(DesiredState.RUN);
    playRunning(next);
    await next.until(Phase.RUNNING);
    expect(await attempt.remaining()).toEqual([]);
  });

  it.runIf(WITH_DEADLINE.includes(taskType))(`${taskType}: the deadline of the job fails the attempt, and no pod runs then`, async () => {
    const cluster = await installed();
    const custom = { ...SAMPLES[taskType]?.custom, runPolicy: { activeDeadlineSeconds: 1.0 } };
    const attempt = new Attempt(cluster, taskType, { name: "deadline", custom });
    await attempt.send(DesiredState.RUN);
    // The operator checks the deadline when a pod changes, not by a timer.
    const changes = setInterval(() => attempt.play((pod) => running(pod)), 500);
    const { code, message } = await attempt.failure().finally(() => clearInterval(changes));
    expect(code).toBe("DownstreamSystemError");
    expect(message).toMatch(/deadline/i);
    expect((await attempt.remaining()).filter((name) => name !== attempt.name)).toEqual([]);
  });

  it(`${taskType}: a deletion by others fails the attempt by the system's doing, and nothing is left`, async () => {
    const attempt = await startRunning("deletion");
    await attempt.delete();
    const { code, kind } = await attempt.failure();
    expect(code).toMatch(/^(UnexpectedObjectDeletion|ResourceDeletedExternally)$/);
    expect(kind).toBe(Kind.SYSTEM);
    await attempt.untilGone();
  });
}
