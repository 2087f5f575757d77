import type { FlyteClient } from "@flyte-ts/client";
import { type NamedEntityIdentifierListRequestSchema, Sort_Direction } from "@flyte-ts/idl/flyteidl/admin/common_pb";
import type { VariableMap } from "@flyte-ts/idl/flyteidl/core/interface_pb";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Literal } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { type AnyType, decodeInputs, LocalFileStore, typeOfLiteralType } from "@flyte-ts/sdk/runtime";

export type ReferenceKind = "task" | "workflow" | "launchplan";

export interface Scope {
  readonly project: string;
  readonly domain: string;
}

/** Registered entity with its interface. */
export interface RegisteredInterface extends Scope {
  readonly kind: ReferenceKind;
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly inputs: Readonly<Record<string, AnyType>>;
  readonly outputs: Readonly<Record<string, AnyType>>;
}

const PAGE = 100;

/** Lists the names of the entities of one kind, in order. */
export async function listNames({ admin }: FlyteClient, kind: ReferenceKind, scope: Scope): Promise<string[]> {
  type ListRequest = MessageInitShape<typeof NamedEntityIdentifierListRequestSchema>;
  const list = {
    task: (request: ListRequest) => admin.listTaskIds(request),
    workflow: (request: ListRequest) => admin.listWorkflowIds(request),
    launchplan: (request: ListRequest) => admin.listLaunchPlanIds(request),
  }[kind];
  const names: string[] = [];
  for (let token = ""; ; ) {
    const page = await list({ ...scope, limit: PAGE, token });
    names.push(...page.entities.map(({ name }) => name));
    token = page.token;
    if (token === "") return names.toSorted();
  }
}

/** Reads the interface of an entity: of one version, or of the newest. */
export async function readInterface(
  { admin }: FlyteClient,
  { kind, name, version, ...scope }: Scope & { readonly kind: ReferenceKind; readonly name: string; readonly version?: string | undefined },
): Promise<RegisteredInterface | undefined> {
  const filters = version === undefined ? "" : `eq(version,${version})`;
  const request = { id: { ...scope, name }, limit: 1, filters, sortBy: { key: "created_at", direction: Sort_Direction.DESCENDING } };
  const common = { ...scope, kind, name };
  if (kind === "task") {
    const [task] = (await admin.listTasks(request)).tasks;
    if (task?.id === undefined) return undefined;
    const { closure } = await admin.getTask({ id: task.id });
    const face = closure?.compiledTask?.template?.interface;
    return { ...common, version: task.id.version, description: task.shortDescription, ...typesOf(face?.inputs, face?.outputs) };
  }
  if (kind === "workflow") {
    const [workflow] = (await admin.listWorkflows(request)).workflows;
    if (workflow?.id === undefined) return undefined;
    const { closure } = await admin.getWorkflow({ id: workflow.id });
    const face = closure?.compiledWorkflow?.primary?.template?.interface;
    return { ...common, version: workflow.id.version, description: workflow.shortDescription, ...typesOf(face?.inputs, face?.outputs) };
  }
  const [plan] = (await admin.listLaunchPlans(request)).launchPlans;
  if (plan?.id === undefined) return undefined;
  return { ...common, version: plan.id.version, description: "", ...(await planTypes(plan)) };
}

type Plan = Awaited<ReturnType<FlyteClient["admin"]["getLaunchPlan"]>>;

/** Inputs of a launch plan that have a default may be left out; fixed ones may not be given. */
async function planTypes({ closure }: Plan): Promise<Pick<RegisteredInterface, "inputs" | "outputs">> {
  const parameters = Object.entries(closure?.expectedInputs?.parameters ?? {}).toSorted(byName);
  const inputs: [string, AnyType][] = [];
  for (const [name, { var: variable, behavior }] of parameters) {
    if (variable?.type === undefined) continue;
    const type = typeOfLiteralType(variable.type);
    inputs.push([name, behavior.case === "default" ? await withDefault(type, behavior.value) : type]);
  }
  return { inputs: Object.fromEntries(inputs), outputs: typesOf(undefined, closure?.expectedOutputs).outputs };
}

/** Adds a default that a file can state; without it callers have to give the input. */
async function withDefault(type: AnyType, literal: Literal): Promise<AnyType> {
  if (type.kind === "optional") return type;
  const literals = { $typeName: "flyteidl.core.LiteralMap" as const, literals: { value: literal } };
  const { value } = await decodeInputs({ inputs: { value: type } }, literals, new LocalFileStore("/"));
  return isWritable(value) ? ({ kind: "default", inner: type, value } as AnyType) : type;
}

function isWritable(value: unknown): boolean {
  if (value === null || value instanceof Date || typeof value === "string" || typeof value === "boolean") return true;
  if (typeof value === "number") return Number.isFinite(value);
  if (Array.isArray(value)) return value.every(isWritable);
  return typeof value === "object" && Object.getPrototypeOf(value) === Object.prototype && Object.values(value).every(isWritable);
}

function typesOf(inputs: VariableMap | undefined, outputs: VariableMap | undefined): Pick<RegisteredInterface, "inputs" | "outputs"> {
  const types = (map: VariableMap | undefined) =>
    Object.fromEntries(
      Object.entries(map?.variables ?? {})
        .toSorted(byName)
        .flatMap(([name, { type }]): [string, AnyType][] => (type === undefined ? [] : [[name, typeOfLiteralType(type)]])),
    );
  return { inputs: types(inputs), outputs: types(outputs) };
}

const byName = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number => (a < b ? -1 : a > b ? 1 : 0);
