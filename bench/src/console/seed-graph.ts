import { createHash } from "node:crypto";
import { create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { CompiledWorkflowClosureSchema } from "@flyte-ts/idl/flyteidl/core/compiler_pb";
import { ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { NodeSchema } from "@flyte-ts/idl/flyteidl/core/workflow_pb";
import type { Database } from "@flyte-ts/postgres";
import { SEEDED_PREFIX } from "../rate/seed-database.js";

const NAME = "bench.graph";
/** Layers of the graph; each node follows two of the layer before. */
const LAYERS = 200;

export interface SeedGraphOptions {
  readonly project: string;
  readonly domain: string;
  /** Nodes of the execution, `n1` and so on. */
  readonly nodes: number;
}

/**
 * Gives the first inserted execution a workflow whose graph has its nodes. It is inserted as
 * compiled, since registering it takes longer than all else.
 */
export async function seedGraph(db: Database, { project, domain, nodes }: SeedGraphOptions): Promise<void> {
  const closure = closureOf({ project, domain, nodes });
  const digest = createHash("sha256").update(closure).digest();
  await db.query({
    text: `WITH made AS (INSERT INTO workflows (project, domain, name, version, short_description, typed_interface, closure, digest,
        created_at, updated_at, expanded_instances, expanded_depth)
      VALUES ($1, $2, $3, $4, '', '', $5, $6, now(), now(), $7, 1) ON CONFLICT DO NOTHING RETURNING id)
      UPDATE executions SET workflow_id = made.id FROM made
      WHERE execution_project = $1 AND execution_domain = $2 AND execution_name = $8`,
    values: [project, domain, NAME, String(nodes), closure, digest, nodes, `${SEEDED_PREFIX}1`],
  });
}

function closureOf({ project, domain, nodes }: SeedGraphOptions): Uint8Array {
  const id = { project, domain, name: NAME, version: String(nodes) };
  const task = { ...id, resourceType: ResourceType.TASK, name: "bench.echo" };
  const perLayer = Math.max(Math.ceil(nodes / LAYERS), 1);
  const nodeAt = (index: number): MessageInitShape<typeof NodeSchema> => ({
    id: `n${index + 1}`,
    metadata: { name: `task ${index + 1}` },
    target: { case: "taskNode", value: { reference: { case: "referenceId", value: task } } },
  });
  const downstream: Record<string, { ids: string[] }> = {};
  for (let index = perLayer; index < nodes; index++) {
    const first = Math.floor(index / perLayer) * perLayer - perLayer;
    for (const step of [index * 7, index * 7 + 13])
      (downstream[`n${first + (step % perLayer) + 1}`] ??= { ids: [] }).ids.push(`n${index + 1}`);
  }
  const template = {
    id: { ...id, resourceType: ResourceType.WORKFLOW },
    nodes: Array.from({ length: nodes }, (_, index) => nodeAt(index)),
  };
  return toBinary(
    CompiledWorkflowClosureSchema,
    create(CompiledWorkflowClosureSchema, { primary: { template, connections: { downstream } } }),
  );
}
