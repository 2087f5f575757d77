import { ExecutionError_ErrorKind as Kind } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { PODS } from "@flyte-ts/kubernetes";
import { OPERATOR_JOB_LABEL, type Pod } from "@flyte-ts/pod-task";
import { expect, it } from "vitest";
import { Attempt, DesiredState, Phase } from "../attempt.fixture.js";
import type { OperatorCluster } from "../operator-cluster.fixture.js";
import { playFailure, playLostHead, playRunning } from "../plays.fixture.js";
import { running, succeeded } from "../pod-status.fixture.js";
import { NAMESPACE } from "../test-cluster.fixture.js";

const RAY_CLUSTERS = { group: "ray.io", version: "v1", plural: "rayclusters", namespaced: true };

/** Resources and pods of the Ray nodes of an attempt. */
async function nodesOf({ client }: OperatorCluster, { name }: Attempt): Promise<string[]> {
  const clusters = await client.list(RAY_CLUSTERS, { namespace: NAMESPACE });
  const pods = await client.list<Pod>(PODS, { namespace: NAMESPACE, labelSelector: `${OPERATOR_JOB_LABEL}=${name},ray.io/node-type` });
  const ofJob = clusters.items.filter(({ metadata }) => metadata.ownerReferences?.some((owner) => owner.name === name));
  return [...ofJob, ...pods.items].map(({ metadata }) => metadata.name);
}

/** Tests what only Ray jobs do; `installed` resolves when the operator runs. */
export function rayCases(installed: () => Promise<OperatorCluster>): void {
  it("ray: a job that is lost with its head fails by the system's doing, and the end of the head is named", async () => {
    const cluster = await installed();
    const attempt = new Attempt(cluster, "ray", { name: "head" });
    await attempt.send(DesiredState.RUN);
    playRunning(attempt);
    await attempt.until(Phase.RUNNING);
    playLostHead(attempt, "Error");
    const { code, kind, message } = await attempt.failure();
    expect({ code, kind }).toEqual({ code: "Interrupted", kind: Kind.SYSTEM });
    expect(message).toMatch(/Ray job not found[^]*-head-/);
    expect(await nodesOf(cluster, attempt)).toEqual([]);
  });

  it("ray: the cluster of a failed job is deleted before the failure is reported, and the job stays", async () => {
    const cluster = await installed();
    const attempt = new Attempt(cluster, "ray", { name: "cluster" });
    await attempt.send(DesiredState.RUN);
    playRunning(attempt);
    await attempt.until(Phase.RUNNING);
    playFailure(attempt);
    expect(await attempt.failure()).toMatchObject({ code: "TaskFailedWithError", kind: Kind.USER });
    expect(await nodesOf(cluster, attempt)).toEqual([]);
    expect(await attempt.exists()).toMatchObject({ status: { jobDeploymentStatus: "Failed" } });
  });

  it("ray: a failed job whose submitter still runs keeps its cluster, and gets no second one", async () => {
    const cluster = await installed();
    const attempt = new Attempt(cluster, "ray", { name: "submitter" });
    await attempt.send(DesiredState.RUN);
    const heads = new Set<string | undefined>();
    attempt.play((pod) => {
      if (pod.metadata.labels?.["ray.io/node-type"] === "head") heads.add(pod.metadata.uid);
      return running(pod);
    });
    attempt.report("RUNNING");
    await attempt.until(Phase.RUNNING);
    attempt.report("FAILED");
    await attempt.untilReason("its submitter still runs");
    expect(await nodesOf(cluster, attempt)).not.toEqual([]);
    attempt.play((pod) => {
      const type = pod.metadata.labels?.["ray.io/node-type"];
      if (type === "head") heads.add(pod.metadata.uid);
      return type === undefined ? succeeded(pod) : running(pod);
    });
    expect(await attempt.failure()).toMatchObject({ code: "TaskFailedWithError", kind: Kind.USER });
    expect(await nodesOf(cluster, attempt)).toEqual([]);
    expect(heads.size).toBe(1);
  });
}
