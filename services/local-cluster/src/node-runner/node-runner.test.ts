import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { createKubeClient, EVENTS, type KubeClient, type KubeObject, LEASES, NODES, PODS, SECRETS } from "@flyte-ts/kubernetes";
import { createLogger } from "@flyte-ts/telemetry";
import { type KubernetesFixture, kubernetesFixture, kubernetesSkipReason } from "@flyte-ts/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { nodeRunnerConfig } from "./config.js";
import { type NodeRunner, startNodeRunner } from "./node-runner.js";

interface Pod extends KubeObject {
  readonly spec: { readonly nodeName?: string };
  readonly status: {
    readonly phase: string;
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly reason?: string;
      readonly message?: string;
    }[];
    readonly containerStatuses?: readonly {
      readonly restartCount: number;
      readonly state: { readonly terminated?: { readonly exitCode: number; readonly reason: string; readonly message?: string } };
    }[];
  };
}

const namespace = "default";

describe.skipIf(await kubernetesSkipReason())("the node runner on a real Kubernetes API", () => {
  let kubernetes: KubernetesFixture;
  let client: KubeClient;
  let folder: string;
  let runner: NodeRunner;
  const start = () =>
    startNodeRunner({
      config: nodeRunnerConfig.parse({
        kubernetes: { kubeconfig: kubernetes.kubeconfig },
        dataDir: folder,
        nodeName: "this-machine",
        allocatable: { cpu: 4 },
        podsOnStop: "keep",
        podEnv: { FROM_CONFIG: "yes" },
      }),
      logger: createLogger({ service: "test", level: "silent" }),
      now: Date.now,
      forkServerProgram: fileURLToPath(new URL("../../python/fork_server.py", import.meta.url)),
    });

  beforeAll(async () => {
    kubernetes = await kubernetesFixture();
    client = await createKubeClient({ kubeconfig: kubernetes.kubeconfig, timeoutMs: 5_000 });
    folder = mkdtempSync(join(tmpdir(), "node-runner-"));
    runner = await start();
  }, 120_000);
  afterAll(async () => {
    for (const { metadata } of (await client.list(PODS, { namespace })).items)
      await client.delete(PODS, { namespace, name: metadata.name, gracePeriodSeconds: 0 });
    await sleep(300);
    await runner.close();
    await client.close();
    await kubernetes.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const run = (name: string, script: string, more: { container?: object; spec?: object } = {}) =>
    client.create<Pod>(PODS, {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { namespace, name },
      spec: {
        restartPolicy: "Never",
        containers: [{ name: "main", image: "local/image:1", command: ["sh", "-c", script], ...more.container }],
        ...more.spec,
      },
    } as never);
  async function until(name: string, fits: (pod: Pod) => boolean): Promise<Pod> {
    let pod: Pod | undefined;
    for (let i = 0; i < 1_200; i++) {
      pod = await client.get<Pod>(PODS, { namespace, name }).catch(() => pod);
      if (pod !== undefined && fits(pod)) return pod;
      await sleep(25);
    }
    throw new Error(`${name}: ${JSON.stringify(pod?.status)}`);
  }
  const ended = ({ status }: Pod) => status.phase === "Succeeded" || status.phase === "Failed";
  const outcome = ({ status }: Pod) => status.containerStatuses?.[0]?.state.terminated;

  test("registers its node and renews the node's lease", async () => {
    const node = await client.get<KubeObject & { status: { allocatable: Record<string, string> } }>(NODES, { name: "this-machine" });
    expect(node?.status.allocatable).toMatchObject({ cpu: "4" });
    const lease = async () =>
      (
        await client.get<KubeObject & { spec: { holderIdentity: string; renewTime: string } }>(LEASES, {
          namespace: "kube-node-lease",
          name: "this-machine",
        })
      )?.spec;
    // The first lease is written after the start has returned.
    await expect.poll(lease).toMatchObject({ holderIdentity: "this-machine" });
    const first = (await lease())?.renewTime;
    await expect.poll(async () => (await lease())?.renewTime, { timeout: 100_000 }).not.toBe(first);
  });

  test("gives a pod the node, its secret and the configured environment, and reports its end", async () => {
    const data = { word: Buffer.from("mellon").toString("base64") };
    await client.create(SECRETS, { apiVersion: "v1", kind: "Secret", metadata: { namespace, name: "door" }, data } as never);
    const env = [{ name: "WORD", valueFrom: { secretKeyRef: { name: "door", key: "word" } } }];
    await run("succeeds", `test "$WORD $FROM_CONFIG" = "mellon yes" && echo done > $FLYTE_TS_TERMINATION_LOG`, { container: { env } });
    const pod = await until("succeeds", ended);
    expect(pod.spec.nodeName).toBe("this-machine");
    expect(pod.status.phase).toBe("Succeeded");
    expect(outcome(pod)).toMatchObject({ exitCode: 0, reason: "Completed", message: "done\n" });
    let reasons: string[] = [];
    for (let i = 0; i < 600 && !reasons.includes("Started"); i++) {
      const { items } = await client.list<KubeObject & { reason: string; involvedObject: { name: string } }>(EVENTS, { namespace });
      reasons = items.filter(({ involvedObject }) => involvedObject.name === "succeeds").map(({ reason }) => reason);
      await sleep(50);
    }
    expect(reasons).toEqual(expect.arrayContaining(["Scheduled", "Pulled", "Created", "Started"]));
  });

  test("reports exit codes, deadlines, missing images and unschedulable pods as kubelet and scheduler do", async () => {
    await run("fails", "exit 3");
    await run("late", "sleep 60", { spec: { activeDeadlineSeconds: 1 } });
    await run("imageless", "true", { container: { image: "registry.invalid/none:1" } });
    await run("too-large", "true", { container: { resources: { requests: { cpu: "100" } } } });
    expect(outcome(await until("fails", ended))).toMatchObject({ exitCode: 3, reason: "Error" });
    expect((await until("late", ended)).status).toMatchObject({ phase: "Failed", reason: "DeadlineExceeded" });
    const waiting = await until("imageless", ({ status }) => JSON.stringify(status).includes("ErrImagePull"));
    expect(waiting.status.phase).toBe("Pending");
    const refused = await until("too-large", ({ status }) => status.conditions?.some(({ reason }) => reason === "Unschedulable") ?? false);
    expect(refused.status.conditions?.[0]?.message).toContain("Insufficient cpu");
  });

  test("stops a deleted pod and removes it from the API", async () => {
    const [file, ready] = [join(folder, "deleted"), join(folder, "deleted-listens")];
    await run("deleted", `trap 'echo stopped > ${file}; exit 0' TERM; echo > ${ready}; while :; do sleep 0.1; done`);
    await until("deleted", ({ status }) => status.phase === "Running" && existsSync(ready));
    await client.delete(PODS, { namespace, name: "deleted", gracePeriodSeconds: 10 });
    for (let i = 0; i < 1_200 && (await client.get(PODS, { namespace, name: "deleted" })) !== undefined; i++) await sleep(25);
    expect(await client.get(PODS, { namespace, name: "deleted" })).toBeUndefined();
    expect(readFileSync(file, "utf8")).toBe("stopped\n");
  });

  test("survives restarts of itself and the API server: ends during the outage are reported, and nothing runs twice", async () => {
    const file = join(folder, "ran");
    const end = (name: string) => join(folder, `end-of-${name}`);
    const waiting = (name: string) => `echo ran >> ${file}; while [ ! -e ${end(name)} ]; do sleep 0.05; done`;
    await run("outlives", `${waiting("outlives")}; exit 7`);
    await until("outlives", ({ status }) => status.phase === "Running");
    await runner.close();
    await kubernetes.kill();
    writeFileSync(end("outlives"), "");
    await sleep(1_000);
    await kubernetes.restart();
    runner = await start();
    expect(outcome(await until("outlives", ended))).toMatchObject({ exitCode: 7 });
    expect(readFileSync(file, "utf8")).toBe("ran\n");
    // The API is down while the pod runs; its end is reported afterwards.
    await run("in-the-dark", `${waiting("in-the-dark")}; exit 5`);
    await until("in-the-dark", ({ status }) => status.phase === "Running");
    await kubernetes.kill();
    writeFileSync(end("in-the-dark"), "");
    await sleep(1_000);
    await kubernetes.restart();
    expect(outcome(await until("in-the-dark", ended))).toMatchObject({ exitCode: 5 });
    expect(readFileSync(file, "utf8")).toBe("ran\nran\n");
  }, 120_000);
});
