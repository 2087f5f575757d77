import {
  assignName,
  callsEntities,
  type Definition,
  definitionOf,
  type EntityAddress,
  findDefinition,
  findName,
  madeReferences,
  nameOf,
  type TaskDefinition,
} from "../entity/definition.js";
import { GraphError } from "../entity/errors.js";
import { originText } from "../entity/origin.js";
import { Compilation, referenceKey } from "../graph/compilation.js";
import { buildWorkflow } from "../graph/workflow-graph.js";
import { LOCAL_REGISTRATION } from "./registration.js";

/** A module of tasks and workflows. */
export interface LoadedModule {
  /** Path by which the container's entry loads it, such as `flows/train`. */
  readonly module: string;
  /** Begins the names of its entities, such as `train`. */
  readonly prefix: string;
  readonly exports: Readonly<Record<string, unknown>>;
}

export interface CollectedEntity {
  readonly definition: Definition;
  readonly name: string;
  readonly module: string;
  readonly exportName: string;
}

/** The entities that modules export. */
export class Collection {
  private readonly byExport: ReadonlyMap<string, CollectedEntity>;

  constructor(readonly entities: readonly CollectedEntity[]) {
    this.byExport = new Map(entities.map((entity) => [`${entity.module} ${entity.exportName}`, entity]));
  }

  /**
   * Finds an entity by its module and export, or a task with a name of its own that a graph of the
   * module uses.
   */
  find(module: string, exportName: string): CollectedEntity | undefined {
    const found = this.byExport.get(`${module} ${exportName}`);
    if (found !== undefined) return found;
    const definition = this.tasksOf(module).find((task) => findName(task) === exportName);
    return definition && { definition, name: exportName, module, exportName };
  }

  private tasksOf(module: string): readonly TaskDefinition[] {
    const compilation = new Compilation(LOCAL_REGISTRATION, buildWorkflow);
    for (const entity of this.entities) {
      if (entity.module === module && entity.definition.kind === "workflow") compilation.workflow(entity.definition);
    }
    return [...compilation.tasks.values()];
  }
}

/**
 * Names the entities that modules export after module and export.
 *
 * @throws GraphError for two entities of one kind and name
 */
export function collectEntities(modules: readonly LoadedModule[]): Collection {
  const found = new Map<unknown, CollectedEntity>();
  const names = new Map<string, CollectedEntity>();
  for (const { module, prefix, exports } of modules) {
    for (const [exportName, value] of Object.entries(exports)) {
      const definition = findDefinition(value);
      if (definition === undefined || definition.kind === "reference" || found.has(definition.entity)) continue;
      if (definition.name === undefined) assignName(definition.entity, prefix === "" ? exportName : `${prefix}.${exportName}`);
      const entity = { definition, name: nameOf(definition), module, exportName };
      found.set(definition.entity, entity);
      const key = `${definition.kind} ${entity.name}`;
      const earlier = names.get(key);
      if (earlier !== undefined) throw twice(entity, earlier);
      names.set(key, entity);
    }
  }
  return new Collection([...found.values()]);
}

function twice(entity: CollectedEntity, earlier: CollectedEntity): GraphError {
  const places = `${originText(earlier.definition.origin)} and ${originText(entity.definition.origin)}`;
  return new GraphError(`two entities have the name ${entity.name}: a ${entity.definition.kind} is made at ${places}`);
}

/** Registered entities that a collection refers to. */
export interface References {
  /** Those of its graphs. */
  readonly used: readonly EntityAddress[];
  /** Those without a version that the functions of dynamic and eager tasks may use. */
  readonly usable: readonly EntityAddress[];
}

/** Lists the registered entities that a collection refers to. */
export function listReferences(collection: Collection): References {
  const compilation = new Compilation(LOCAL_REGISTRATION, buildWorkflow);
  for (const { definition } of collection.entities) {
    const workflow = definition.kind === "launchplan" ? definitionOf(definition.workflow) : definition;
    if (workflow.kind === "workflow") compilation.workflow(workflow);
  }
  const tasks = [...collection.entities.map(({ definition }) => definition), ...compilation.tasks.values()];
  return {
    used: distinct([...compilation.references.values()].map(({ address }) => address)),
    usable: tasks.some((definition) => definition.kind === "task" && callsEntities(definition)) ? distinct(madeReferences()) : [],
  };
}

function distinct(addresses: readonly EntityAddress[]): readonly EntityAddress[] {
  return [...new Map(addresses.map((address) => [referenceKey(address), address])).values()];
}
