import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { create, toBinary } from "@bufbuild/protobuf";
import { TASK_STREAM, taskRequestSubject } from "@flyte-ts/bus-contract";
import { TaskExecution_Phase as Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { TypedInterfaceSchema, VariableMapSchema } from "@flyte-ts/idl/flyteidl/core/interface_pb";
import { type Literal, LiteralMapSchema, LiteralSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { TaskTemplateSchema } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import { AgentMetadataService } from "@flyte-ts/idl/flyteidl/service/agent_pb";
import { DesiredState, type TaskEvent, type TaskRequest, TaskRequestSchema } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { cacheDir, createOnce, freePort, replaceAtomically, runProgram } from "@flyte-ts/host";
import { ensurePythonEnvironment } from "@flyte-ts/local-stack";
import { type Bus, connectBus } from "@flyte-ts/messaging";
import { createClient, openChannel } from "@flyte-ts/rpc";
import { collectTaskEvents, sampleRequest } from "@flyte-ts/task-plugin/harness";
import { createLogger } from "@flyte-ts/telemetry";
import { natsFixture, type ServerFixture } from "@flyte-ts/testing";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { integerLiteral } from "./literals.fixture.js";

const file = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const program = file("../dist/main.js");
const PATIENCE = { timeout: 60_000, interval: 100 };
/** Packages that `pyflyte serve connector` imports and flytekit does not require. */
const PACKAGES = ["prometheus-client==0.23.1", "httpx==0.28.1"];

/** Installs the packages of the connector server beside the environment of all stacks. */
async function connectorPackages(bin: string): Promise<string> {
  const folder = join(cacheDir(), "connector-packages-1");
  const install = ["-m", "pip", "install", "--quiet", "--target"];
  await createOnce(folder, {
    exists: () => existsSync(folder),
    create: () =>
      replaceAtomically(folder, async (staged) => {
        await runProgram(join(bin, "python"), [...install, staged, ...PACKAGES]);
      }),
  });
  return folder;
}

async function end(child: ChildProcess | undefined, signal: NodeJS.Signals): Promise<void> {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill(signal);
  await ended;
}

describe.skipIf(!existsSync(program))(
  "connectors of stock flytekit",
  () => {
    const folder = mkdtempSync(join(tmpdir(), "flyte-ts-connector-"));
    const toyLog = join(folder, "toys.log");
    const endpoint = { port: 0, address: "" };
    let nats: ServerFixture;
    let bus: Bus;
    let events: readonly TaskEvent[] = [];
    let python = { bin: "", packages: "" };
    let service: ChildProcess | undefined;
    let connector: ChildProcess | undefined;

    const startConnector = async () => {
      const args = ["serve", "connector", "--port", String(endpoint.port), "--prometheus_port", String(await freePort())];
      connector = spawn(join(python.bin, "pyflyte"), [...args, "--modules", "toy_connectors"], {
        env: {
          ...process.env,
          PYTHONPATH: [python.packages, file("../python")].join(delimiter),
          TOY_LOG: toyLog,
          PYTHONDONTWRITEBYTECODE: "1",
        },
        stdio: "ignore",
      });
      const channel = openChannel({ endpoint: endpoint.address });
      await channel.ready(120_000);
      await createClient({ channel, service: AgentMetadataService }).listAgents({});
      channel.close();
    };
    const startService = () => {
      const config = join(folder, "connector.yaml");
      const settings = {
        nats: { url: nats.url },
        endpoints: [{ name: "toys", address: endpoint.address }],
        discovery: { startDelayMs: 500, pollIntervalMs: 500 },
        ops: { port: 0 },
        logLevel: "warn",
      };
      writeFileSync(config, JSON.stringify(settings));
      service = spawn(process.execPath, [program, "--config", config], { stdio: ["ignore", "ignore", "inherit"] });
    };

    const request = (name: string, taskType: string, inputs: Record<string, Literal>, over: object = {}): TaskRequest => {
      const [integer, text] = [1, 3].map((simple) => ({ type: { type: { case: "simple" as const, value: simple } } }));
      const variables = (values: object, variable = integer) =>
        create(VariableMapSchema, {
          variables: Object.fromEntries(Object.keys(values).map((key) => [key, variable ?? {}])),
        });
      const isSensor = taskType === "sensor";
      const sample = sampleRequest(taskType, { generatedName: `${name}-0`, inputs: create(LiteralMapSchema, { literals: inputs }) });
      const data = `file://${folder}/data/${name}`;
      return Object.assign(sample, {
        inputUri: `${data}/inputs.pb`,
        outputPrefix: `${data}/0`,
        template: create(TaskTemplateSchema, {
          ...(sample.id?.taskId && { id: sample.id.taskId }),
          type: taskType,
          interface: create(TypedInterfaceSchema, {
            inputs: variables(inputs, isSensor ? text : integer),
            outputs: variables(isSensor ? {} : { o0: 1 }),
          }),
          target: { case: "container", value: { image: "none", args: ["--inputs", "{{.input}}"] } },
          ...over,
        }),
      });
    };
    const send = async (sent: TaskRequest, desired = DesiredState.RUN) => {
      const data = toBinary(TaskRequestSchema, { ...sent, desired, deleteResources: desired !== DesiredState.RUN });
      await bus.publish(taskRequestSubject(sent.template?.type ?? "", sent.shard), data);
    };
    const eventsOf = (sent: TaskRequest) => events.filter(({ event }) => event?.metadata?.generatedName === sent.generatedName);
    const phaseOf = (sent: TaskRequest) => Phase[eventsOf(sent).at(-1)?.event?.phase ?? 0];
    const errorOf = (sent: TaskRequest) => {
      const { failure, event } = eventsOf(sent).at(-1) ?? {};
      return { recoverable: failure?.recoverable, ...(event?.outputResult.case === "error" ? event.outputResult.value : {}) };
    };
    /** Waits for a phase, which may have passed already. */
    const reached = (sent: TaskRequest, phase: string) =>
      vi.waitFor(() => expect(eventsOf(sent).map(({ event }) => Phase[event?.phase ?? 0])).toContain(phase), PATIENCE);
    const calls = (word: string) =>
      readFileSync(toyLog, "utf8")
        .split("\n")
        .filter((line) => line.startsWith(word));
    const timer = (name: string, seconds: number, over: object = {}) =>
      request(name, "toy-timer", { a: integerLiteral(21) }, { custom: { seconds }, ...over });

    beforeAll(async () => {
      const { bin } = await ensurePythonEnvironment({ onInstall: () => undefined, signal: new AbortController().signal });
      python = { bin, packages: await connectorPackages(bin) };
      endpoint.port = await freePort();
      endpoint.address = `127.0.0.1:${endpoint.port}`;
      writeFileSync(toyLog, "");
      nats = await natsFixture();
      bus = await connectBus({ url: nats.url, name: "test", logger: createLogger({ service: "test", level: "silent" }) });
      events = await collectTaskEvents(bus);
      // Creates the stream in place of propeller, since plugin services create none.
      await bus.ensureStream(TASK_STREAM);
      await startConnector();
      startService();
    }, 600_000);
    afterAll(async () => {
      await end(service, "SIGTERM");
      await end(connector, "SIGKILL");
      await bus.close();
      await nats.stop();
      rmSync(folder, { recursive: true });
    });

    it("an asynchronous task is created once, runs and returns its outputs", async () => {
      const sent = timer("timer", 2);
      await send(sent);
      await reached(sent, "RUNNING");
      await send(sent);
      await reached(sent, "SUCCEEDED");
      expect(eventsOf(sent).at(-1)?.outputs?.literals.o0).toMatchObject(integerLiteral(42));
      expect(eventsOf(sent).some(({ event }) => event?.reason === "ticking")).toBe(true);
      expect(calls("create")).toEqual([`create p-development --inputs ${sent.inputUri}`]);
    });

    it("a synchronous task returns its outputs", async () => {
      const sent = request("add", "toy-add", { a: integerLiteral(1) });
      await send(sent);
      await reached(sent, "SUCCEEDED");
      expect(eventsOf(sent).at(-1)?.outputs?.literals.o0).toMatchObject(integerLiteral(2));
    });

    it("a sensor waits for its file, and can be aborted", async () => {
      const path = join(folder, "awaited");
      const text = create(LiteralSchema, {
        value: { case: "scalar", value: { value: { case: "primitive", value: { value: { case: "stringValue", value: path } } } } },
      });
      const custom = { sensor_module: "flytekit.sensor.file_sensor", sensor_name: "FileSensor", sensor_config: null, inputs: null };
      const [first, second] = ["sensor-a", "sensor-b"].map((name) => request(name, "sensor", { path: text }, { custom })) as [
        TaskRequest,
        TaskRequest,
      ];
      await send(first);
      await send(second);
      await reached(first, "RUNNING");
      await reached(second, "RUNNING");
      await send(second, DesiredState.ABORT);
      writeFileSync(path, "");
      await reached(first, "SUCCEEDED");
      await reached(second, "ABORTED");
      expect([first, second].map(phaseOf)).toEqual(["SUCCEEDED", "ABORTED"]);
    });

    it("an exception of a connector is the user's error, with its traceback", async () => {
      const sent = request("broken", "toy-broken", { a: integerLiteral(1) });
      await send(sent);
      await reached(sent, "FAILED");
      expect(errorOf(sent)).toMatchObject({ recoverable: true, code: "TaskFailedWithError", kind: 1 });
      expect(errorOf(sent)).toMatchObject({ message: expect.stringMatching(/Traceback[^]*this toy has no wheels/) });
    });

    it("a task version that flytekit does not announce fails and names the known one", async () => {
      const sent = timer("skew", 1, { taskTypeVersion: 5 });
      await send(sent);
      await reached(sent, "FAILED");
      expect(errorOf(sent)).toMatchObject({ recoverable: false, message: expect.stringContaining("know the versions 0") });
    });

    it("tasks outlive a killed service and a killed connector", async () => {
      const before = calls("create").length;
      const sent = timer("outlive", 6);
      await send(sent);
      await reached(sent, "RUNNING");
      await end(service, "SIGKILL");
      await end(connector, "SIGKILL");
      startService();
      const { pluginState = new Uint8Array() } = eventsOf(sent).at(-1) ?? {};
      const repeated = { ...sent, pluginState, knownPhase: Phase.RUNNING };
      await send(repeated);
      // The new process knows no task type until the connector is reachable; until then the bus
      // keeps the request.
      await startConnector();
      await reached(sent, "SUCCEEDED");
      expect(calls("create")).toHaveLength(before + 1);
    });

    it("a task whose event was lost is found by its record after a restart", async () => {
      const before = calls("create").length;
      const sent = timer("forgotten", 3);
      await send(sent);
      await reached(sent, "RUNNING");
      await end(service, "SIGKILL");
      startService();
      await send(sent);
      await reached(sent, "SUCCEEDED");
      expect(calls("create")).toHaveLength(before + 1);
    });

    it("attempts wait with a reason while the endpoint is away, and go on when it is back", async () => {
      const [running, fresh] = [timer("running", 5), timer("fresh", 1)];
      await send(running);
      await reached(running, "RUNNING");
      await end(connector, "SIGKILL");
      await send(fresh);
      await vi.waitFor(() => {
        expect(eventsOf(running).at(-1)?.event?.reason).toMatch(/connector endpoint "toys", .*UNAVAILABLE/);
        expect(eventsOf(fresh).at(-1)?.event?.reason).toMatch(/connector endpoint "toys", .*UNAVAILABLE/);
      }, PATIENCE);
      await startConnector();
      await reached(running, "SUCCEEDED");
      await reached(fresh, "SUCCEEDED");
    });

    it("an abort reaches the connector's delete", async () => {
      const before = calls("delete").length;
      const sent = timer("endless", 1_000);
      await send(sent);
      await reached(sent, "RUNNING");
      await send(sent, DesiredState.ABORT);
      await reached(sent, "ABORTED");
      expect(calls("delete")).toHaveLength(before + 1);
    });
  },
  300_000,
);
