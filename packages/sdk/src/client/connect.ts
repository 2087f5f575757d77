import type { MessageInitShape } from "@bufbuild/protobuf";
import { ExecutionMetadata_ExecutionMode, type ExecutionSpecSchema } from "@flyte-ts/idl/flyteidl/admin/execution_pb";
import { type Identifier, ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { type ExecutionName, Executions } from "../api/executions.js";
import { FlyteApi } from "../api/flyte-api.js";
import { type Definition, findDefinition, findName } from "../entity/definition.js";
import { ApiFiles } from "./api-files.js";
import { encodeGiven } from "./encode-inputs.js";
import { RemoteExecution } from "./execution.js";
import { executionName } from "./execution-name.js";
import { listExecutions } from "./list-executions.js";
import { findRegistered, type FullAddress, type Registered } from "./find-entity.js";
import type { ConnectOptions, FlyteConnection, ListedExecution, ListOptions, RunOptions, UntypedConnection } from "./types.js";

/** Connects to a Flyte control plane. The first call opens the connection. */
export function connect(options: ConnectOptions = {}): FlyteConnection {
  return new Connection(options);
}

type Given = Readonly<Record<string, unknown>>;

class Connection implements FlyteConnection {
  readonly #executions: Executions;
  readonly #scope: { readonly project: string; readonly domain: string };
  /** Interfaces that were fetched, by address. */
  readonly #interfaces = new Map<string, Promise<Registered>>();

  constructor({ project = "flytesnacks", domain = "development", ...settings }: ConnectOptions) {
    this.#executions = new Executions(new FlyteApi(settings, process.env));
    this.#scope = { project, domain };
  }

  // The interface gives the types; this function serves all of them.
  readonly run = (async (target: unknown, inputs: Given = {}, options: RunOptions = {}) => {
    const definition = findDefinition(target);
    const address = definition === undefined ? { name: String(target) } : addressOf(definition);
    const found = await this.#find({ ...this.#scope, kind: options.kind, version: options.version, ...address });
    return this.#start(definition === undefined ? found : { ...found, interface: definition }, inputs, options);
  }) as FlyteConnection["run"];

  readonly untyped: UntypedConnection = {
    run: (name, inputs, options) => (this.run as UntypedConnection["run"])(name, inputs, options),
    execution: (name) => this.#existing(name),
  };

  execution(name: string): never {
    return this.#existing(name) as never;
  }

  executions(options: ListOptions = {}): AsyncIterable<ListedExecution> {
    return listExecutions(this.#executions.api, this.#scope, options);
  }

  #find(address: FullAddress): Promise<Registered> {
    const key = JSON.stringify([address.kind, address.project, address.domain, address.name, address.version]);
    const known = this.#interfaces.get(key) ?? findRegistered(this.#executions.api, address);
    this.#interfaces.set(key, known);
    // A failure is not kept: the entity may be registered later.
    known.catch(() => this.#interfaces.delete(key));
    return known;
  }

  async #start(registered: Registered, inputs: Given, options: RunOptions): Promise<RemoteExecution> {
    const id: ExecutionName = { ...this.#scope, name: options.name ?? executionName() };
    const literals = await encodeGiven(registered, inputs, new ApiFiles(this.#executions.api, this.#scope));
    await this.#executions.create({ ...id, inputs: literals, spec: specOf(registered.id, options) });
    return new RemoteExecution(this.#executions, id, async () => registered.interface);
  }

  #existing(name: string): RemoteExecution {
    const id = { ...this.#scope, name };
    return new RemoteExecution(this.#executions, id, async () => {
      const { spec } = await this.#executions.get(id);
      const entity = spec?.launchPlan;
      if (entity === undefined) throw new Error(`the server does not say what ${name} runs`);
      const kind = entity.resourceType === ResourceType.TASK ? "task" : "launchplan";
      const { project, domain, version } = entity;
      return (await this.#find({ kind, project, domain, name: entity.name, version })).interface;
    });
  }
}

function addressOf(definition: Definition): Omit<FullAddress, "project" | "domain"> & Partial<FullAddress> {
  if (definition.kind === "reference") return definition.address;
  const name = findName(definition);
  if (name !== undefined) return { kind: definition.kind, name };
  throw new Error(`name the ${definition.kind} as it is registered: run<typeof flow>("module.flow", { … })`);
}

function specOf(launchPlan: Identifier, options: RunOptions): MessageInitShape<typeof ExecutionSpecSchema> {
  const { labels, annotations, tags = [], env, maxParallelism = 0, interruptible, overwriteCache = false, serviceAccount } = options;
  return {
    launchPlan,
    metadata: { mode: ExecutionMetadata_ExecutionMode.MANUAL },
    tags: [...tags],
    maxParallelism,
    overwriteCache,
    ...(labels && { labels: { values: { ...labels } } }),
    ...(annotations && { annotations: { values: { ...annotations } } }),
    ...(env && { envs: { values: Object.entries(env).map(([key, value]) => ({ key, value })) } }),
    ...(interruptible !== undefined && { interruptible }),
    ...(serviceAccount !== undefined && { securityContext: { runAs: { k8sServiceAccount: serviceAccount } } }),
  };
}
