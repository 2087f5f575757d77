import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { create, toBinary } from "@bufbuild/protobuf";
import { systemTime } from "@flyte-ts/async";
import { createBlobStore } from "@flyte-ts/blobstore";
import { taskRequestSubject } from "@flyte-ts/bus-contract";
import { TaskExecution_Phase as Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { TypedInterfaceSchema } from "@flyte-ts/idl/flyteidl/core/interface_pb";
import { LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { Secret_MountType, SecurityContextSchema } from "@flyte-ts/idl/flyteidl/core/security_pb";
import { TaskMetadataSchema, TaskTemplateSchema } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import { DesiredState, type TaskEvent, type TaskRequest, TaskRequestSchema } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import {
  CONFIG_MAPS,
  createKubeClient,
  type KubeClient,
  type KubeObject,
  NAMESPACES,
  POD_TEMPLATES,
  PODS,
  SECRETS,
} from "@flyte-ts/kubernetes";
import { type Bus, connectBus } from "@flyte-ts/messaging";
import { type RunningPlugin, runPlugin } from "@flyte-ts/task-plugin";
import { collectTaskEvents, sampleRequest } from "@flyte-ts/task-plugin/harness";
import { createLogger } from "@flyte-ts/telemetry";
import { natsFixture, type ServerFixture } from "@flyte-ts/testing";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { controllerSettings, podServiceConfig } from "./config.js";
import { LogArchive } from "@flyte-ts/pod-task/logs";
import { podPlugin } from "./plugin.js";
import { PodController } from "./pod-controller.js";

// Real pods: processes of the local cluster, a real bus, and files for blobs.
const clusterProgram = fileURLToPath(new URL("../../../local-cluster/dist/main.js", import.meta.url));
const logger = createLogger({ service: "test", level: "silent" });
const clock = systemTime;
const config = podServiceConfig.parse({ nats: { url: "" } });
const namespace = "p-development";

describe.skipIf(!existsSync(clusterProgram))("pods as processes", () => {
  const folder = mkdtempSync(join(tmpdir(), "flyte-ts-test-pods-"));
  let events: readonly TaskEvent[] = [];
  let cluster: ChildProcess;
  let nats: ServerFixture;
  let bus: Bus;
  let client: KubeClient;
  let running: RunningPlugin;
  let ownerUid: string;

  const serve = async () => {
    const store = createBlobStore({});
    const archive = new LogArchive({ client, store, clock, logger, config: { enabled: true, maxBytes: 1_000 } });
    running = await runPlugin({
      plugin: podPlugin(
        new PodController({ ...controllerSettings(config), config: config.pods, client, store, clock, logger, archive }),
        config,
      ),
      bus,
      logger,
      clock,
    });
  };
  /** A task that runs shell text, with `$OUT` for the folder of its outputs. */
  const request = (name: string, script: string): TaskRequest => {
    const outputPrefix = `file://${folder}/${name}/data/0`;
    const sample = sampleRequest("python-task", {
      generatedName: `${name}-n0-0`,
      outputPrefix,
      inputUri: `file://${folder}/${name}/data/inputs.pb`,
      inputs: create(LiteralMapSchema, { literals: { a: { hash: "in" } } }),
    });
    if (sample.owner !== undefined) Object.assign(sample.owner, { apiVersion: "v1", kind: "ConfigMap", name: "owner", uid: ownerUid });
    sample.template = create(TaskTemplateSchema, {
      id: { name: "tasks.work" },
      type: "python-task",
      interface: create(TypedInterfaceSchema, { outputs: { variables: { o0: {} } } }),
      target: {
        case: "container",
        value: {
          image: "local/image",
          command: ["sh", "-c", `OUT={{.outputPrefix}}; OUT=\${OUT#file://}; mkdir -p $OUT; ${script}`],
          resources: { requests: [{ name: 1, value: "10m" }] },
        },
      },
    });
    return sample;
  };
  const send = (asked: TaskRequest, desired: DesiredState) =>
    bus.publish(taskRequestSubject("python-task", asked.shard), toBinary(TaskRequestSchema, { ...asked, desired }));
  const of = ({ generatedName }: TaskRequest) => events.filter(({ event }) => event?.metadata?.generatedName === generatedName);
  const until = (asked: TaskRequest, phase: Phase) =>
    vi.waitFor(
      () => {
        const found = of(asked).find(({ event }) => event?.phase === phase);
        expect(
          found,
          of(asked)
            .map(({ event }) => `${Phase[event?.phase ?? 0]} ${event?.reason}`)
            .join("; "),
        ).toBeDefined();
        return found as TaskEvent;
      },
      { timeout: 30_000, interval: 20 },
    );
  const error = ({ event }: TaskEvent) => (event?.outputResult.case === "error" ? event.outputResult.value : undefined);
  const outputs = Buffer.from(toBinary(LiteralMapSchema, create(LiteralMapSchema, { literals: { o0: { hash: "out" } } }))).toString(
    "base64",
  );
  // An exited process that is not reaped yet is a zombie, which counts as not running.
  const alive = (pid: number) => {
    try {
      return !readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ");
    } catch {
      return false;
    }
  };

  beforeAll(async () => {
    const kubeconfig = join(folder, "kubeconfig");
    cluster = spawn(
      process.execPath,
      [clusterProgram, "--dataDir", join(folder, "cluster"), "--kubeconfig", kubeconfig, "--logLevel", "error", "--podsOnStop", "kill"],
      {
        stdio: ["ignore", "inherit", "inherit"],
        env: { PATH: process.env.PATH },
      },
    );
    await vi.waitUntil(() => existsSync(kubeconfig), { timeout: 30_000 });
    client = await createKubeClient({ kubeconfig });
    await client.create(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
    const owner = await client.create(CONFIG_MAPS, { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "owner", namespace } });
    ownerUid = owner.metadata.uid ?? "";
    nats = await natsFixture();
    bus = await connectBus({ url: nats.url, name: "test", logger });
    events = await collectTaskEvents(bus);
    await serve();
  });

  afterAll(async () => {
    await running.stop();
    await bus.close();
    await client.close();
    await nats.stop();
    cluster.kill("SIGTERM");
    await new Promise((resolve) => cluster.once("exit", resolve));
    rmSync(folder, { recursive: true, force: true });
  });

  it("runs a task and reports its outputs", async () => {
    const asked = request(
      "good",
      `IN={{.input}}; test -s \${IN#file://} && test "$FLYTE_ATTEMPT_NUMBER" = 0 && echo ${outputs} | base64 -d > $OUT/outputs.pb`,
    );
    await send(asked, DesiredState.RUN);
    const end = await until(asked, Phase.SUCCEEDED);
    expect(end.outputs?.literals.o0?.hash).toBe("out");
    expect(of(asked).map(({ event }) => event?.phase)[0]).toBe(Phase.QUEUED);
  });

  it("reports an exit code with the tail of the log", async () => {
    const asked = request("exits", "echo last words; exit 3");
    await send(asked, DesiredState.RUN);
    const end = await until(asked, Phase.FAILED);
    expect(error(end)).toMatchObject({ code: "Error", kind: 1 });
    expect(error(end)?.message).toContain("\r\n[exits-n0-0] terminated with exit code (3). Reason [Error]. Message: \nlast words");
    expect(end.failure?.recoverable).toBe(true);
    const archived = join(folder, "exits/data/0/logs/exits-n0-0.log");
    expect(end.event?.logs).toMatchObject([{ uri: `file://${archived}`, name: "Archived log of exits-n0-0" }]);
    await expect.poll(() => existsSync(archived) && readFileSync(archived, "utf8")).toMatch(/^\S+Z last words\n$/);
  });

  it("mounts secrets and applies the PodTemplate that the task names", async () => {
    const named = (name: string) => ({ metadata: { name, namespace } });
    const vault = { ...named("vault"), data: { password: btoa("pass"), token: btoa("tok") } };
    await client.create(SECRETS, vault);
    const containers = [{ name: "default", image: "-", env: [{ name: "TEMPLATE", value: "t" }] }];
    const base = { ...named("base"), template: { metadata: { labels: { team: "a" } }, spec: { priorityClassName: "batch", containers } } };
    await client.create(POD_TEMPLATES, base);
    const asked = request("given", `cat "$FILE"; echo " $TOKEN $_FSEC_VAULT_TOKEN $TEMPLATE"; exit 3`);
    if (asked.template !== undefined) {
      asked.template.metadata = create(TaskMetadataSchema, { podTemplateName: "base" });
      const secrets = [
        { group: "vault", key: "password", envVar: "FILE" },
        { group: "vault", key: "token", envVar: "TOKEN", mountRequirement: Secret_MountType.ENV_VAR },
      ];
      asked.template.securityContext = create(SecurityContextSchema, { secrets });
    }
    await send(asked, DesiredState.RUN);
    expect(error(await until(asked, Phase.FAILED))?.message).toContain("Message: \npass tok tok t");
    const pod = await client.get<KubeObject & { spec: object }>(PODS, { namespace, name: asked.generatedName });
    expect(pod).toMatchObject({ metadata: { labels: { team: "a" } }, spec: { priorityClassName: "batch" } });
  });

  it("shows why a volume cannot be mounted, and runs once it can", async () => {
    const named = (name: string) => ({ metadata: { name, namespace } });
    const volumeMounts = [{ name: "settings", mountPath: "/settings" }];
    const spec = {
      containers: [{ name: "default", image: "-", volumeMounts }],
      volumes: [{ name: "settings", configMap: { name: "late" } }],
    };
    const base = { ...named("mounting"), template: { spec } };
    await client.create(POD_TEMPLATES, base);
    const asked = request("mounting", "exit 3");
    if (asked.template !== undefined) asked.template.metadata = create(TaskMetadataSchema, { podTemplateName: "mounting" });
    await send(asked, DesiredState.RUN);
    const reasons = () => of(asked).map(({ event }) => event?.reason);
    await vi.waitFor(() => expect(reasons()).toContainEqual(expect.stringMatching(/FailedMount: .*late/)), { timeout: 30_000 });
    await client.create(CONFIG_MAPS, named("late"));
    expect(error(await until(asked, Phase.FAILED))?.message).toContain("exit code (3)");
  });

  it("reports missing outputs", async () => {
    const asked = request("silent", "exit 0");
    await send(asked, DesiredState.RUN);
    expect(error(await until(asked, Phase.FAILED))?.code).toBe("OutputsNotFound");
  });

  it("an abort ends processes that ignore SIGTERM within two seconds", async () => {
    // Kubernetes expands `$$` to a plain `$`.
    const asked = request("stubborn", "trap '' TERM; echo $$$$ > $OUT/pid; while true; do sleep 1; done");
    await send(asked, DesiredState.RUN);
    await until(asked, Phase.RUNNING);
    const file = `${folder}/stubborn/data/0/pid`;
    await vi.waitFor(() => expect(readFileSync(file, "utf8")).toMatch(/^\d+\n/), { timeout: 30_000 });
    const pid = Number(readFileSync(file, "utf8"));
    await send(asked, DesiredState.ABORT);
    await until(asked, Phase.ABORTED);
    expect(alive(pid)).toBe(false);
    expect(await client.get(PODS, { namespace, name: asked.generatedName })).toBeUndefined();
    expect(of(asked).some(({ event }) => event?.phase === Phase.FAILED)).toBe(false);
  });

  it("reports a pod that another client deletes", async () => {
    const asked = request("deleted", "sleep 60");
    await send(asked, DesiredState.RUN);
    await until(asked, Phase.RUNNING);
    await client.delete(PODS, { namespace, name: asked.generatedName, gracePeriodSeconds: 0 });
    const end = await until(asked, Phase.FAILED);
    expect(error(end)).toMatchObject({ code: expect.stringMatching(/ResourceDeletedExternally|UnexpectedObjectDeletion/), kind: 2 });
    expect(end.failure?.recoverable).toBe(true);
  });

  it("reports a result from while the service was down without a request", async () => {
    const go = join(folder, "go");
    const asked = request("away", `until [ -e ${go} ]; do sleep 0.05; done; echo ${outputs} | base64 -d > $OUT/outputs.pb`);
    await send(asked, DesiredState.RUN);
    await until(asked, Phase.RUNNING);
    await running.stop();
    writeFileSync(go, "");
    await vi.waitFor(() => expect(existsSync(`${folder}/away/data/0/outputs.pb`)).toBe(true), { timeout: 30_000 });
    await serve();
    const end = await until(asked, Phase.SUCCEEDED);
    expect(end.outputs?.literals.o0?.hash).toBe("out");
    expect(end.workflowKey).toBe(asked.workflowKey);
  });

  it("fails permanently for an invalid image name", async () => {
    const asked = request("image", "exit 0");
    if (asked.template?.target.case === "container") asked.template.target.value.image = "Not::AnImage";
    await send(asked, DesiredState.RUN);
    const end = await until(asked, Phase.FAILED);
    expect(error(end)?.code).toBe("ContainersNotReady|InvalidImageName");
    expect(end.failure).toMatchObject({ recoverable: false, cleanup: true });
    await send({ ...asked, deleteResources: true }, DesiredState.FINALIZE);
    await vi.waitFor(async () => expect(await client.get(PODS, { namespace, name: asked.generatedName })).toBeUndefined(), {
      timeout: 30_000,
    });
  });

  it("starts one pod for a repeated request", async () => {
    const asked = request("once", `echo x >> $OUT/starts; sleep 0.3; echo ${outputs} | base64 -d > $OUT/outputs.pb`);
    await Promise.all([send(asked, DesiredState.RUN), send(asked, DesiredState.RUN), send(asked, DesiredState.RUN)]);
    await until(asked, Phase.SUCCEEDED);
    expect(readFileSync(`${folder}/once/data/0/starts`, "utf8")).toBe("x\n");
  });
});
