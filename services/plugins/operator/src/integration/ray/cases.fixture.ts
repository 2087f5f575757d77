import { ExecutionError_ErrorKind as Kind } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { expect, it } from "vitest";
import { Attempt, DesiredState, Phase } from "../attempt.fixture.js";
import type { OperatorCluster } from "../operator-cluster.fixture.js";
import { playLostHead, playRunning } from "../plays.fixture.js";

/** Tests what only Ray jobs do; `installed` resolves when the operator runs. */
export function rayCases(installed: () => Promise<OperatorCluster>): void {
  it("ray: a job that is lost with its head fails by the system's doing, and the end of the head is named", async () => {
    const attempt = new Attempt(await installed(), "ray", { name: "head" });
    await attempt.send(DesiredState.RUN);
    playRunning(attempt);
    await attempt.until(Phase.RUNNING);
    playLostHead(attempt, "Error");
    const { code, kind, message } = await attempt.failure();
    expect({ code, kind }).toEqual({ code: "Interrupted", kind: Kind.SYSTEM });
    expect(message).toMatch(/Ray job not found[^]*-head-/);
  });
}
