import { createHash } from "node:crypto";
import { ResourceType, type Identifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { WorkflowTemplate } from "@flyte-ts/idl/flyteidl/core/workflow_pb";
import {
  type Definition,
  type EntityAddress,
  findName,
  type LaunchPlanDefinition,
  nameOf,
  type ReferenceDefinition,
  type TaskDefinition,
  type WorkflowDefinition,
} from "../entity/definition.js";
import { GraphError } from "../entity/errors.js";
import { originText, placeOf } from "../entity/origin.js";
import { identify, type Registration } from "../describe/registration.js";

/** A task that maps another one over lists. */
export interface MapTask {
  readonly name: string;
  /** Name of the task that is mapped. */
  readonly taskName: string;
  readonly task: TaskDefinition;
  /** Inputs that are the same for each item. */
  readonly bound: readonly string[];
  /** Failed items give None. */
  readonly tolerant: boolean;
}

/**
 * The entities that graphs of one registration use. Each workflow is built once, whatever refers
 * to it.
 */
export class Compilation {
  readonly tasks = new Map<string, TaskDefinition>();
  readonly mapTasks = new Map<string, MapTask>();
  readonly workflows = new Map<string, BuiltWorkflow>();
  readonly launchPlans = new Map<string, LaunchPlanDefinition | ReferenceDefinition>();
  readonly references = new Map<string, ReferenceDefinition>();
  private readonly names = new Map<string, Definition>();

  private readonly building: string[] = [];

  constructor(
    readonly registration: Registration,
    private readonly build: (definition: WorkflowDefinition, compilation: Compilation) => BuiltWorkflow,
    /** Accepts entities that are neither exported nor named explicitly, for local runs. */
    private readonly lenient = false,
  ) {}

  /** @throws GraphError for two entities of one kind and name */
  name(definition: Definition): string {
    const name = this.lenient ? (findName(definition) ?? this.placeName(definition)) : nameOf(definition);
    const key = `${definition.kind} ${name}`;
    const known = this.names.get(key);
    if (known !== undefined && known.entity !== definition.entity) {
      if (definition.kind === "reference") return name;
      const places = `${originText(known.origin)} and ${originText(definition.origin)}`;
      throw new GraphError(`two entities have the name ${name}: a ${definition.kind} is made at ${places}`);
    }
    this.names.set(key, definition);
    return name;
  }

  id(definition: Definition, resourceType: ResourceType): Identifier {
    return identify(this.registration, resourceType, this.name(definition));
  }

  useTask(definition: TaskDefinition): Identifier {
    const id = this.id(definition, ResourceType.TASK);
    this.tasks.set(id.name, definition);
    return id;
  }

  useMapTask(task: TaskDefinition, bound: readonly string[], tolerant: boolean): Identifier {
    const name = this.name(task);
    const hash = createHash("sha256")
      .update(JSON.stringify([bound, tolerant]))
      .digest("hex")
      .slice(0, 12);
    const mapName = `${name}_map_${hash}`;
    this.mapTasks.set(mapName, { name: mapName, taskName: name, task, bound, tolerant });
    return identify(this.registration, ResourceType.TASK, mapName);
  }

  useLaunchPlan(definition: LaunchPlanDefinition): Identifier {
    const id = this.id(definition, ResourceType.LAUNCH_PLAN);
    this.launchPlans.set(id.name, definition);
    return id;
  }

  /** Returns the identifier of a registered entity. */
  useReference(definition: ReferenceDefinition): Identifier {
    const { address } = definition;
    const { project, domain } = this.registration;
    const version = address.version ?? this.registration.resolve?.(address);
    if (version === undefined)
      throw new GraphError(
        `the reference to the ${address.kind} ${address.name} has no version, and registering the project found none; give it one`,
      );
    const resourceType = RESOURCE_TYPES[address.kind];
    const id: Identifier = {
      $typeName: "flyteidl.core.Identifier",
      resourceType,
      project: address.project ?? project,
      domain: address.domain ?? domain,
      name: address.name,
      version,
      org: "",
    };
    this.references.set(referenceKey(address), definition);
    if (address.kind === "launchplan") this.launchPlans.set(referenceKey(address), definition);
    return id;
  }

  /** Returns the built workflow; it is built at its first use. */
  workflow(definition: WorkflowDefinition): BuiltWorkflow {
    const name = this.name(definition);
    const known = this.workflows.get(name);
    if (known !== undefined) return known;
    if (this.building.includes(name)) throw new GraphError(`the workflow ${name} contains itself`);
    this.building.push(name);
    try {
      const built = this.build(definition, this);
      this.workflows.set(name, built);
      return built;
    } finally {
      this.building.pop();
    }
  }

  /** Finds the definition behind an identifier of a built graph. */
  find({ resourceType, name }: Identifier): Definition | undefined {
    const kind = KINDS.get(resourceType);
    const own = this.names.get(`${kind} ${name}`);
    return own ?? [...this.references.values()].find(({ address }) => address.kind === kind && address.name === name);
  }

  private placeName(definition: Definition): string {
    const place = placeOf(definition.origin);
    const file =
      place?.file
        .split("/")
        .at(-1)
        ?.replace(/\.[^.]*$/, "") ?? "unnamed";
    const base = `${file}.L${place?.line ?? 0}`;
    for (let n = 1; ; n++) {
      const name = n === 1 ? base : `${base}-${n}`;
      const known = this.names.get(`${definition.kind} ${name}`);
      if (known === undefined || known.entity === definition.entity) return name;
    }
  }
}

export interface BuiltWorkflow {
  readonly template: WorkflowTemplate;
  /** All workflows within it, each once. */
  readonly subWorkflows: readonly WorkflowTemplate[];
}

const RESOURCE_TYPES = {
  task: ResourceType.TASK,
  workflow: ResourceType.WORKFLOW,
  launchplan: ResourceType.LAUNCH_PLAN,
};

const KINDS: ReadonlyMap<ResourceType, EntityAddress["kind"]> = new Map([
  [ResourceType.TASK, "task"],
  [ResourceType.WORKFLOW, "workflow"],
  [ResourceType.LAUNCH_PLAN, "launchplan"],
]);

/** Key of the address of a registered entity. */
export function referenceKey({ kind, project = "", domain = "", name, version = "" }: EntityAddress): string {
  return [kind, project, domain, name, version].join(" ");
}
