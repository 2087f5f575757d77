import type { DescriptionEntity } from "@flyte-ts/idl/flyteidl/admin/description_entity_pb";
import { NamedEntityState } from "@flyte-ts/idl/flyteidl/admin/common_pb";
import { CreateWorkflowFailureReasonSchema } from "@flyte-ts/idl/flyteidl/admin/workflow_pb";
import { create, fromBinary } from "@bufbuild/protobuf";
import { type CompiledWorkflowClosure, CompiledWorkflowClosureSchema } from "@flyte-ts/idl/flyteidl/core/compiler_pb";
import type { Identifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { Queryable } from "@flyte-ts/postgres";
import type { RegistryDeps } from "../deps.js";
import { storeDescription } from "../store/descriptions.js";
import { alreadyExists, invalidArgument, structureDifference } from "../../platform/index.js";
import { ensureNamedEntity } from "../store/named-entities.js";
import { rejectExpansion } from "./expansion.js";
import { compileStoredWorkflow, type WorkflowDefinition } from "./compile.js";
import type { CompiledWorkflow } from "./compiler/compile-to-bytes.js";
import { findWorkflowClosure, findWorkflowDigest, insertWorkflow } from "../store/workflows.js";

export interface NewWorkflow extends WorkflowDefinition {
  readonly description?: DescriptionEntity | undefined;
}

export interface CreatedWorkflow {
  readonly rowId: bigint;
  /** False when the same workflow existed before. */
  readonly isNew: boolean;
}

type Deps = Pick<RegistryDeps, "db" | "config" | "clock" | "compilerWorker">;

/** Nodes that the compiler adds to each workflow. */
const SYSTEM_NODES = 2;

/**
 * Compiles and stores a version of a workflow; the caller has validated its project and identifier.
 * Idempotent for equal content, also under concurrency.
 *
 * @throws RpcError INVALID_ARGUMENT when it does not compile, exceeds a configured limit, or the
 *   version exists with
 * different content.
 */
export async function createWorkflowInternal(
  deps: Deps,
  workflow: NewWorkflow,
  state: NamedEntityState = NamedEntityState.NAMED_ENTITY_ACTIVE,
): Promise<CreatedWorkflow> {
  const { id } = workflow;
  const compiled = await compileStoredWorkflow(deps, workflow);
  checkLimits(deps, id, compiled);
  // Checks for the stored version before the insert, so that a repeated registration does not send
  // a large workflow to the database.
  const before = await existingWorkflow(deps.db, id, compiled);
  if (before !== undefined) return { rowId: before, isNew: false };
  const rowId = await insert(deps, { workflow, state, compiled });
  if (rowId !== undefined) return { rowId, isNew: true };
  const other = await existingWorkflow(deps.db, id, compiled);
  if (other === undefined) throw new Error("a workflow that existed a moment ago no longer exists");
  return { rowId: other, isNew: false };
}

/** Finds the row of the same workflow, if it exists. */
async function existingWorkflow(db: Queryable, id: Identifier, { bytes, digest }: CompiledWorkflow): Promise<bigint | undefined> {
  const row = await findWorkflowDigest(db, id);
  if (row === undefined || Buffer.from(row.digest).equals(digest)) return row?.id;
  const closure = fromBinary(CompiledWorkflowClosureSchema, bytes);
  throw differentStructure(id, (await findWorkflowClosure(db, id)) ?? create(CompiledWorkflowClosureSchema), closure);
}

interface NewRow {
  readonly workflow: NewWorkflow;
  readonly state: NamedEntityState;
  readonly compiled: CompiledWorkflow;
}

/** Stores the workflow with its name and description; undefined when its version exists. */
async function insert({ db, clock }: Deps, { workflow, state, compiled }: NewRow): Promise<bigint | undefined> {
  const { id, description } = workflow;
  const now = clock();
  return db.transaction(async (tx) => {
    const rowId = await insertWorkflow(tx, { id, shortDescription: description?.shortDescription ?? "", compiled, now });
    if (rowId === undefined) return undefined;
    await ensureNamedEntity(tx, id, state);
    await storeDescription(tx, { id, description, now });
    return rowId;
  });
}

function checkLimits({ config }: Deps, id: Identifier, { bytes, nodes: all, expansion }: CompiledWorkflow): void {
  const { maxWorkflowNodes, workflowSizeLimit } = config.registration;
  if (workflowSizeLimit > 0 && bytes.length > workflowSizeLimit) {
    throw invalidArgument(`spec: the compiled workflow [${id.name}] has ${bytes.length} bytes, the limit is ${workflowSizeLimit}`);
  }
  const nodes = all - SYSTEM_NODES;
  if (maxWorkflowNodes > 0 && nodes > maxWorkflowNodes) {
    throw invalidArgument(`number of nodes in workflow [${id.name}] exceeds limit (${nodes} > ${maxWorkflowNodes})`);
  }
  rejectExpansion(id.name, expansion, config);
}

/** Error for a version that exists with the same content. */
export function identicalWorkflow(id: Identifier): Error {
  const message = create(CreateWorkflowFailureReasonSchema, { reason: { case: "existsIdenticalStructure", value: { id } } });
  return alreadyExists("workflow with identical structure already exists", [{ schema: CreateWorkflowFailureReasonSchema, message }]);
}

function differentStructure(id: Identifier, before: CompiledWorkflowClosure, after: CompiledWorkflowClosure): Error {
  const message = create(CreateWorkflowFailureReasonSchema, { reason: { case: "existsDifferentStructure", value: { id } } });
  return invalidArgument(
    `${id.name} workflow with different structure already exists. (Please register a new version of the workflow):\n` +
      structureDifference(CompiledWorkflowClosureSchema, before, after),
    [{ schema: CreateWorkflowFailureReasonSchema, message }],
  );
}
