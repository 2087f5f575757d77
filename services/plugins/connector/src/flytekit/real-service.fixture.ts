import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { TASK_STREAM, taskRequestSubject } from "@flyte-ts/bus-contract";
import { freePort } from "@flyte-ts/host";
import { type Literal, LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { TaskExecution_Phase as Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { TaskTemplateSchema } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import { AgentMetadataService } from "@flyte-ts/idl/flyteidl/service/agent_pb";
import { DesiredState, type TaskEvent, type TaskRequest, TaskRequestSchema } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { type Bus, connectBus } from "@flyte-ts/messaging";
import { createClient, openChannel } from "@flyte-ts/rpc";
import { collectTaskEvents, sampleRequest } from "@flyte-ts/task-plugin/harness";
import { createLogger } from "@flyte-ts/telemetry";
import { natsFixture, type ServerFixture, testWatchdog } from "@flyte-ts/testing";
import { vi } from "vitest";

const file = (path: string) => fileURLToPath(new URL(path, import.meta.url));
/** The built service. */
export const PROGRAM = file("../../dist/main.js");
export const PYTHON_FOLDER = file("../../python");
const PATIENCE = { timeout: 120_000, interval: 100 };
/** Connectors of one process wait for each other, and their clients are slow on a busy machine. */
const TIMEOUTS = { createTaskMs: 120_000, getTaskMs: 60_000, deleteTaskMs: 60_000, executeTaskSyncMs: 120_000, listAgentsMs: 60_000 };

export interface RealServiceOptions {
  /** Folder for logs, templates and data. */
  readonly folder: string;
  /** `bin` of the Python environment. */
  readonly bin: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly modules: readonly string[];
}

/** The service as a process, on a real bus, with `pyflyte serve connector` as its endpoint. */
export class RealService {
  events: readonly TaskEvent[] = [];
  readonly #children: ChildProcess[] = [];
  #nats: ServerFixture | undefined;
  #bus: Bus | undefined;

  constructor(private readonly options: RealServiceOptions) {
    mkdirSync(join(options.folder, "templates"), { recursive: true });
  }

  async start(plugins: readonly string[]): Promise<void> {
    const { folder } = this.options;
    this.#nats = await natsFixture();
    this.#bus = await connectBus({ url: this.#nats.url, name: "test", logger: createLogger({ service: "test", level: "silent" }) });
    this.events = await collectTaskEvents(this.#bus);
    await this.#bus.ensureStream(TASK_STREAM);
    const [address] = await Promise.all([
      this.#startConnectors(),
      this.#run("python", [join(PYTHON_FOLDER, "plugin_tasks.py"), join(folder, "templates"), ...plugins]),
    ]);
    const settings = {
      nats: { url: this.#nats.url },
      endpoints: [{ name: "flytekit", address, timeouts: TIMEOUTS }],
      polling: { initialMs: 200, growth: 1, maxMs: 200 },
      discovery: { startDelayMs: 500, pollIntervalMs: 500 },
      ops: { port: 0 },
      logLevel: "trace",
    };
    const config = join(folder, "connector.yaml");
    writeFileSync(config, JSON.stringify(settings));
    const log = openSync(join(folder, "service.log"), "w");
    this.#keep(spawn(process.execPath, [PROGRAM, "--config", config], { stdio: ["ignore", log, log] }));
  }

  /** Log lines of the service. */
  log(): string {
    return readFileSync(join(this.options.folder, "service.log"), "utf8");
  }

  /** A request for the task that `plugin_tasks.py` serialised under this name. */
  request(template: string, name: string, literals: Readonly<Record<string, Literal>>, mode = ""): TaskRequest {
    const { folder } = this.options;
    const task = fromBinary(TaskTemplateSchema, readFileSync(join(folder, "templates", `${template}.pb`)));
    const replaced = task.custom && (JSON.parse(JSON.stringify(task.custom).replaceAll("{mode}", mode)) as typeof task.custom);
    const data = `file://${folder}/data/${name}`;
    const inputs = create(LiteralMapSchema, { literals });
    const sample = sampleRequest(task.type, {
      generatedName: `${name}-0`,
      inputs,
      inputUri: `${data}/inputs.pb`,
      outputPrefix: `${data}/0`,
    });
    return Object.assign(sample, { template: { ...task, ...(replaced && { custom: replaced }) } });
  }

  async send(request: TaskRequest, desired = DesiredState.RUN): Promise<void> {
    const data = toBinary(TaskRequestSchema, { ...request, desired, deleteResources: desired !== DesiredState.RUN });
    await this.#bus?.publish(taskRequestSubject(request.template?.type ?? "", request.shard), data);
  }

  eventsOf({ generatedName }: TaskRequest): readonly TaskEvent[] {
    return this.events.filter(({ event }) => event?.metadata?.generatedName === generatedName);
  }

  /** Waits for a phase, or another end. Returns the event. */
  async reached(request: TaskRequest, phase: Phase): Promise<TaskEvent> {
    const last = () => this.eventsOf(request).at(-1);
    const isSettled = () => [phase, Phase.SUCCEEDED, Phase.FAILED, Phase.ABORTED].includes(last()?.event?.phase ?? 0);
    await vi.waitUntil(isSettled, PATIENCE).catch(() => undefined);
    const reached = Phase[last()?.event?.phase ?? 0];
    if (reached !== Phase[phase]) throw new Error(`the attempt is ${reached} instead of ${Phase[phase]}: ${describeEvent(last())}`);
    return last() as TaskEvent;
  }

  async run(request: TaskRequest, phase: Phase): Promise<TaskEvent> {
    await this.send(request);
    return this.reached(request, phase);
  }

  async stop(): Promise<void> {
    for (const child of this.#children.reverse()) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const ended = new Promise((resolve) => child.once("exit", resolve));
      child.kill(child.spawnfile === process.execPath ? "SIGTERM" : "SIGKILL");
      await ended;
    }
    await this.#bus?.close();
    await this.#nats?.stop();
  }

  /** Starts a program of the environment that runs until the end. */
  spawn(program: string, args: readonly string[], log: string): ChildProcess {
    const { folder, bin, environment } = this.options;
    const output = openSync(join(folder, log), "w");
    const env = { ...process.env, PYTHONPATH: PYTHON_FOLDER, PYTHONPYCACHEPREFIX: join(bin, "..", "pycache"), ...environment };
    const child = spawn(join(bin, program), args, { env, stdio: ["ignore", output, output] });
    return this.#keep(child);
  }

  /** Ends the process with the service, or when the process of the test dies. */
  #keep(child: ChildProcess): ChildProcess {
    testWatchdog().watch(child, "SIGKILL");
    this.#children.push(child);
    return child;
  }

  async #run(program: string, args: readonly string[]): Promise<void> {
    const child = this.spawn(program, args, "serialise.log");
    const code = await new Promise((resolve) => child.once("exit", resolve));
    if (code !== 0) throw new Error(`tasks cannot be serialised: ${readFileSync(join(this.options.folder, "serialise.log"), "utf8")}`);
  }

  async #startConnectors(): Promise<string> {
    const port = await freePort();
    const modules = this.options.modules.flatMap((name) => ["--modules", name]);
    const args = ["serve", "connector", "--port", String(port), "--prometheus_port", String(await freePort()), ...modules];
    this.spawn("pyflyte", args, "connectors.log");
    const address = `127.0.0.1:${port}`;
    const channel = openChannel({ endpoint: address });
    await channel.ready(600_000);
    await createClient({ channel, service: AgentMetadataService }).listAgents({});
    channel.close();
    return address;
  }
}

function describeEvent(event: TaskEvent | undefined): string {
  const result = event?.event?.outputResult;
  return result?.case === "error" ? result.value.message : (event?.event?.reason ?? "no event");
}
