import {
  IdentifierSchema,
  ResourceType,
  WorkflowExecutionIdentifierSchema,
  type Identifier,
} from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { LiteralMapSchema, type LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { create } from "@bufbuild/protobuf";
import { hasOnlyUpdateManagers } from "../resource/managed-fields.js";
import { identityLabels } from "../resource/identity-labels.js";
import type { ParsedWorkflow, PlatformResources } from "../model/model.js";
import { type ClosureModel, parseGraphs } from "../graph/closure.js";
import { graphFromResource } from "../graph/graph.js";
import { runToCompletion } from "../graph/run-to-completion.js";
import { checkStatusVersion } from "./status-version.js";
import { parseOptions } from "./options.js";
import { Field } from "./field.js";
import { assembleSlices } from "../slice/assemble.js";
import type { LoadedSlice } from "../slice/codec.js";
import { sliceReferences, type SliceReference } from "../slice/references.js";
import type { WorkflowStatus } from "../model/status.js";
import { parseStatus } from "./status.js";

/**
 * References of a resource to its parts in the blob store. Fetch the parts and pass them to
 * parseFlyteWorkflow, the closure as parsed by `parseEncodedClosure`.
 */
export interface WorkflowReferences {
  readonly closure: string | undefined;
  readonly inputs: string | undefined;
  /** Slices of the status. */
  readonly slices: readonly SliceReference[];
}

/** Fetched parts of a resource. */
export interface OffloadedParts {
  /** Result of `parseEncodedClosure`. */
  readonly graphs?: ClosureModel | undefined;
  readonly inputs?: LiteralMap | undefined;
  readonly slices?: readonly LoadedSlice[] | undefined;
}

/**
 * Reads the references; call it first.
 *
 * @throws WorkflowFormatError when the value is not an object or an address is not a text,
 *   StatusTooNewError when the resource is for a newer build.
 */
export function referencesOf(json: unknown): WorkflowReferences {
  const root = new Field(json, "resource");
  checkStatusVersion(root.at("status"));
  return {
    closure: root.at("workflowClosureReference").stringOrEmpty() || undefined,
    inputs: root.at("offloadedInputs").stringOrEmpty() || undefined,
    slices: sliceReferences(root.at("status")),
  };
}

/**
 * Parses a FlyteWorkflow resource, written by this admin or Go FlyteAdmin. Unknown fields are
 * ignored; every reference of a node must exist. Nothing of `json` is shared with the mutable parts
 * of the result.
 * @throws WorkflowFormatError that names the path, when the resource is malformed.
 */
export function parseFlyteWorkflow(json: unknown, offloaded: OffloadedParts = {}): ParsedWorkflow {
  const root = new Field(json, "resource");
  const metadata = root.at("metadata");
  const name = metadata.at("name").string();
  const namespace = metadata.at("namespace").string();
  const graphs = offloaded.graphs ?? parseOwnGraphs(root);
  const executionId = root.at("executionId").message(WorkflowExecutionIdentifierSchema);
  const workflowId = parseWorkflowId(graphs.root.id);
  return {
    model: {
      key: `${namespace}/${name}`,
      namespace,
      name,
      uid: metadata.at("uid").stringOrEmpty(),
      executionId,
      workflowId,
      // Go FlyteAdmin lets the given labels override its own and gives a child execution the labels
      // of its parent, so the labels of this execution replace them.
      labels: { ...metadata.at("labels").stringMap(), ...identityLabels(executionId, workflowId.name) },
      annotations: metadata.at("annotations").stringMap(),
      ...graphs,
      inputs: offloaded.inputs ?? parseInputs(root),
      acceptedAt: root.at("acceptedAt").optional(parseTime),
      options: parseOptions(root),
    },
    status: attachSlices(parseStatus(root.at("status")), root, offloaded.slices),
    ...(offloaded.slices === undefined ? {} : { slices: offloaded.slices }),
    resourceVersion: metadata.at("resourceVersion").stringOrEmpty(),
    generation: metadata.at("generation").optional((field) => field.nonNegativeInt()),
    hasManagedFields: hasOnlyUpdateManagers(metadata.at("managedFields").value),
    deletionRequested: !metadata.at("deletionTimestamp").isAbsent,
    finalizers: metadata
      .at("finalizers")
      .items()
      .map((finalizer) => finalizer.string()),
  };
}

function attachSlices(status: WorkflowStatus, root: Field, slices: readonly LoadedSlice[] = []): WorkflowStatus {
  const expected = sliceReferences(root.at("status"));
  const fetchedNames = new Map(slices.map(({ key, name }) => [key, name]));
  const missing = expected.find(({ key, name }) => fetchedNames.get(key) !== name);
  if (missing !== undefined) throw root.at("status").at("slices").error(`slice ${missing.key} is in the blob store and was not fetched`);
  return expected.length === 0 ? status : { ...status, nodeStatus: assembleSlices(slices) };
}

/**
 * Settings of the resource that, beside a closure's bytes, decide how its graphs are parsed.
 * @throws WorkflowFormatError when the resource's settings are malformed.
 */
export function platformOf(json: unknown): PlatformResources {
  return parseOptions(new Field(json, "resource")).resources;
}

function parseOwnGraphs(root: Field): ClosureModel {
  const reference = root.at("workflowClosureReference");
  if (!reference.isAbsent) throw reference.error("the closure is in the blob store and was not fetched");
  const graphs = parseGraphs({
    spec: graphFromResource(root.at("spec")),
    tasks: root.at("tasks"),
    subWorkflows: new Map(
      root
        .at("subWorkflows")
        .entries()
        .map(([key, field]) => [key, graphFromResource(field)]),
    ),
  });
  return runToCompletion(graphs);
}

function parseInputs(root: Field): LiteralMap {
  const reference = root.at("offloadedInputs");
  if (!reference.isAbsent) throw reference.error("the inputs are in the blob store and were not fetched");
  return root.at("inputs").message(LiteralMapSchema);
}

function parseWorkflowId(id: string): Identifier {
  const [project = "", domain = "", ...name] = id.split(":");
  return create(IdentifierSchema, { resourceType: ResourceType.WORKFLOW, project, domain, name: name.join(":") });
}

function parseTime(field: Field): Date {
  const time = new Date(field.string());
  if (Number.isNaN(time.getTime())) throw field.error(`must be an RFC 3339 time, is ${JSON.stringify(field.value)}`);
  return time;
}
