import { cacheKeyOf } from "@flyte-ts/domain/catalog";
import { create } from "@bufbuild/protobuf";
import { durationMs } from "@bufbuild/protobuf/wkt";
import { type LiteralMap, LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { NodeMetadata } from "@flyte-ts/idl/flyteidl/core/workflow_pb";
import { decodeInputs, encodeFields, encodeOutputs } from "../codec/interface-values.js";
import { graphEncoding } from "../codec/encoding.js";
import { runTask } from "../describe/run-task.js";
import { taskTemplate } from "../describe/task-template.js";
import { withChildren } from "../entity/children.js";
import { type Definition, definitionOf, type LaunchPlanDefinition, shownName, type TaskDefinition } from "../entity/definition.js";
import type { AnyEntity } from "../entity/entity.js";
import { GraphError, IgnoreOutputs } from "../entity/errors.js";
import type { FileStore } from "../file/file.js";
import type { Compilation } from "../graph/compilation.js";
import { durationOf } from "../type/duration.js";
import { attempted, AttemptsFailed } from "./attempts.js";
import { localFilesExist } from "./local-files.js";
import { GraphRun } from "./graph-run.js";
import { type CheckpointState, localContext } from "./local-context.js";
import { NodeFailed } from "./local-error.js";
import type { CacheStore, LocalOptions, MockEntry, NodeRecord } from "./options.js";

export interface RunnerParts {
  readonly compilation: Compilation;
  readonly files: FileStore;
  readonly cache: CacheStore;
  readonly options: LocalOptions;
  readonly rawOutputPrefix: string;
}

/** One execution of an entity: its place in the run, and the settings of its node. */
export interface EntityRun {
  /** Id of the node, prefixed by those around it. */
  readonly id: string;
  readonly inputs: LiteralMap;
  readonly metadata?: NodeMetadata | undefined;
  /** Place among the records; default: the end. */
  readonly place?: number;
}

export interface EntityOutcome {
  readonly outputs: LiteralMap;
  readonly attempts: number;
  readonly cached: boolean;
}

/** Runs entities in this process. */
export class EntityRunner {
  readonly decks = new Map<string, string>();
  private readonly found: (NodeRecord | undefined)[] = [];
  private readonly mocks: ReadonlyMap<AnyEntity, MockEntry>;
  private children = 0;

  constructor(readonly parts: RunnerParts) {
    this.mocks = new Map((parts.options.mocks ?? []).map((mock) => [mock.entity, mock]));
  }

  /** Records of all nodes, in the order in which they are declared. */
  records(): readonly NodeRecord[] {
    return this.found.filter((record) => record !== undefined);
  }

  /** Reserves the place of a node among the records. */
  record(index: number, node: NodeRecord): void {
    this.found[index] = node;
    this.parts.options.onNode?.(node);
  }

  /** Reserves a place among the records. */
  reserve(): number {
    return this.found.push(undefined) - 1;
  }

  get signal(): AbortSignal {
    return this.parts.options.signal ?? NEVER;
  }

  /** Runs the entity that was asked for; a task is the only node of its run. */
  async runTop(definition: Definition, inputs: LiteralMap): Promise<LiteralMap> {
    if (definition.kind === "workflow") return (await this.run(definition, { id: "", inputs })).outputs;
    return (await this.runRecorded(definition, { id: "n0", inputs })).outputs;
  }

  /** Runs an entity and records it as a node. */
  async runRecorded(definition: Definition, run: EntityRun): Promise<EntityOutcome> {
    const place = run.place ?? this.reserve();
    const started = performance.now();
    const shared = {
      id: run.id,
      entity: this.name(definition),
      kind: kindOf(definition),
      inputs: await this.values(definition, run.inputs),
    };
    try {
      const outcome = await this.run(definition, run);
      const { attempts, cached } = outcome;
      const outputs = await this.outputValues(definition, outcome.outputs);
      this.record(place, { ...shared, outputs, attempts, phase: "SUCCEEDED", cached, milliseconds: performance.now() - started });
      return outcome;
    } catch (error) {
      const attempts = error instanceof AttemptsFailed ? error.attempts : 1;
      this.record(place, { ...shared, outputs: {}, attempts, phase: "FAILED", cached: false, milliseconds: performance.now() - started });
      throw error instanceof NodeFailed
        ? error
        : new NodeFailed(run.id, shared.entity, error instanceof AttemptsFailed ? error.cause : error);
    }
  }

  name(definition: Definition): string {
    return this.parts.compilation.name(definition);
  }

  values(definition: Pick<Definition, "inputs">, inputs: LiteralMap): Promise<Record<string, unknown>> {
    return decodeInputs(definition, inputs, this.parts.files);
  }

  outputValues({ outputs }: Pick<Definition, "outputs">, literals: LiteralMap): Promise<Record<string, unknown>> {
    return decodeInputs({ inputs: outputs }, literals, this.parts.files);
  }

  /** Runs an entity: its mock, its function, or its graph. */
  async run(definition: Definition, run: EntityRun): Promise<EntityOutcome> {
    const mock = this.mocks.get(definition.entity);
    if (mock !== undefined) return this.runMock(definition, mock, run);
    switch (definition.kind) {
      case "task":
        return this.runTask(definition, run);
      case "workflow": {
        const { template, subWorkflows } = this.parts.compilation.workflow(definition);
        return once(await new GraphRun(this, subWorkflows).workflow(template, run));
      }
      case "launchplan":
        return this.runLaunchPlan(definition, run);
      case "reference":
        throw new GraphError(`${shownName(definition)} is registered elsewhere and does not run in this process: give a mock for it`);
    }
  }

  private async runMock(definition: Definition, { answer }: MockEntry, { inputs, metadata }: EntityRun): Promise<EntityOutcome> {
    const { files } = this.parts;
    const { result, attempts } = await attempted(this.attemptSettings(definition, metadata), async () => {
      const values = await decodeInputs(definition, inputs, files);
      return encodeOutputs(definition, await answer(values), files);
    });
    return { outputs: result, attempts, cached: false };
  }

  /** Adds the defaults and fixed inputs of a launch plan, and runs its workflow. */
  private async runLaunchPlan(definition: LaunchPlanDefinition, { id, inputs }: EntityRun): Promise<EntityOutcome> {
    const workflow = definitionOf(definition.workflow);
    const { defaults = {}, fixed = {} } = definition.settings;
    const given = { ...defaults, ...fixed };
    const open = Object.entries(workflow.inputs).filter(([name]) => !Object.hasOwn(inputs.literals, name) || Object.hasOwn(fixed, name));
    const further = encodeFields(Object.fromEntries(open), pick(given, open), graphEncoding, "input");
    return this.run(workflow, { id, inputs: { ...inputs, literals: { ...inputs.literals, ...further.literals } } });
  }

  private attemptSettings(definition: Definition, metadata: NodeMetadata | undefined) {
    const settings = definition.kind === "task" ? definition.settings : {};
    const timeout = settings.timeout === undefined ? undefined : durationOf(settings.timeout).milliseconds;
    return {
      retries: metadata?.retries?.retries ?? settings.retries ?? 0,
      timeoutMs: metadata?.timeout === undefined ? timeout : durationMs(metadata.timeout),
      signal: this.signal,
      pauseMs: this.parts.options.waits === true ? 1000 : 0,
    };
  }

  private async runTask(definition: TaskDefinition, run: EntityRun): Promise<EntityOutcome> {
    const key = this.cacheKey(definition, run);
    const known = key === undefined ? undefined : await this.cached(definition, key);
    if (known !== undefined) return { outputs: known, attempts: 1, cached: true };
    const checkpoint: CheckpointState = { state: undefined };
    const { result, attempts } = await attempted(this.attemptSettings(definition, run.metadata), (attempt, signal) =>
      this.attempt(definition, run, { attempt, signal, checkpoint }),
    );
    if (key !== undefined) await this.parts.cache.set(key, result);
    return { outputs: result, attempts, cached: false };
  }

  private async attempt(
    definition: TaskDefinition,
    run: EntityRun,
    { attempt, signal, checkpoint }: { readonly attempt: number; readonly signal: AbortSignal; readonly checkpoint: CheckpointState },
  ): Promise<LiteralMap> {
    const { files, options, rawOutputPrefix, compilation } = this.parts;
    const context = localContext({ task: this.name(definition), attempt, signal, rawOutputPrefix, options, checkpoint, decks: this.decks });
    const children = { files, run: (child: Definition, inputs: LiteralMap) => this.runChild(run.id, child, inputs) };
    const result = await withChildren(children, () => runTask(definition, { inputs: run.inputs, files, context, compilation })).catch(
      (error: unknown) => withoutOutputs(definition, error),
    );
    if ("outputs" in result) return result.outputs;
    const { nodes, outputs, subworkflows } = result.futures;
    return new GraphRun(this, subworkflows).graph({ nodes, outputs }, { id: run.id, inputs: run.inputs });
  }

  /** Runs a child of an eager task. */
  private async runChild(parent: string, definition: Definition, inputs: LiteralMap): Promise<LiteralMap> {
    const id = `${parent}-c${this.children++}`;
    try {
      return (await this.runRecorded(definition, { id, inputs })).outputs;
    } catch (error) {
      throw error instanceof NodeFailed ? error.cause : error;
    }
  }

  /** Returns the kept outputs of a call, if the files that they name still exist. */
  private async cached(definition: TaskDefinition, key: string): Promise<LiteralMap | undefined> {
    const outputs = await this.parts.cache.get(key);
    return outputs !== undefined && localFilesExist(await this.outputValues(definition, outputs)) ? outputs : undefined;
  }

  private cacheKey(definition: TaskDefinition, { inputs, metadata }: EntityRun): string | undefined {
    const { cache = false } = definition.settings;
    const override = metadata?.cacheableValue.case === "cacheable" ? metadata.cacheableValue.value : undefined;
    if (!(override ?? cache !== false)) return undefined;
    const description = { name: this.name(definition), definition, location: { module: "", exportName: "" } };
    const key = cacheKeyOf(taskTemplate(description, this.parts.compilation.registration), inputs);
    return key && JSON.stringify(key);
  }
}

const NEVER = new AbortController().signal;

/** Returns the outputs of a task that says that another one writes them: none. */
function withoutOutputs({ outputs }: TaskDefinition, error: unknown): { readonly outputs: LiteralMap } {
  if (!(error instanceof IgnoreOutputs)) throw error;
  if (Object.keys(outputs).length > 0) throw new Error("Outputs not generated by task execution", { cause: error });
  return { outputs: create(LiteralMapSchema) };
}

function once(outputs: LiteralMap): EntityOutcome {
  return { outputs, attempts: 1, cached: false };
}

function kindOf(definition: Definition): NodeRecord["kind"] {
  return definition.kind === "reference" ? definition.address.kind : definition.kind;
}

function pick(values: Readonly<Record<string, unknown>>, fields: readonly (readonly [string, unknown])[]): Record<string, unknown> {
  return Object.fromEntries(fields.flatMap(([name]) => (Object.hasOwn(values, name) ? [[name, values[name]]] : [])));
}
