import type { Collection } from "../describe/collection.js";
import type { Registration } from "../describe/registration.js";
import { Compilation } from "../graph/compilation.js";
import { buildWorkflow } from "../graph/workflow-graph.js";
import { compileIn } from "./compile.js";

/** A problem that the server would have with an entity. */
export interface EntityProblem {
  readonly entity: string;
  readonly message: string;
}

/** Compiles all workflows of a collection as the server does. */
export function checkEntities(collection: Collection, registration: Registration): readonly EntityProblem[] {
  return collection.entities.flatMap(({ definition, name }) => {
    if (definition.kind !== "workflow") return [];
    const { errors } = compileIn(new Compilation(registration, buildWorkflow), definition);
    return errors.map((message) => ({ entity: name, message }));
  });
}
