import { create, type JsonObject, type MessageInitShape } from "@bufbuild/protobuf";
import type { FlyteClient } from "@flyte-ts/client";
import { IdentifierSchema, ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { LiteralSchema, PrimitiveSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { BlobType_BlobDimensionality, type LiteralTypeSchema, SimpleType } from "@flyte-ts/idl/flyteidl/core/types_pb";
import { type NodeSchema, WorkflowTemplateSchema } from "@flyte-ts/idl/flyteidl/core/workflow_pb";
import { TARGET } from "../stack/shell-tasks.js";

type TypeInit = MessageInitShape<typeof LiteralTypeSchema>;
type PrimitiveInit = MessageInitShape<typeof PrimitiveSchema>;
type NodeInit = MessageInitShape<typeof NodeSchema>;

const simple = (value: SimpleType, more: object = {}): TypeInit => ({ type: { case: "simple", value }, ...more });

/** JSON schema of a dataclass with a field of each kind, as flytekit writes it. */
const SCHEMA: JsonObject = {
  type: "object",
  title: "Params",
  properties: {
    rate: { type: "number" },
    depth: { type: "integer", minimum: 1, maximum: 32, default: 8 },
    model: { enum: ["TREE", "LINEAR"], default: "TREE" },
    next: { anyOf: [{ $ref: "#/$defs/Next" }, { type: "null" }], default: null },
  },
  required: ["rate"],
  $defs: {
    Next: { type: "object", title: "Next", properties: { names: { type: "array", items: { type: "string" } } }, required: ["names"] },
  },
};

/** One input of each kind that has a form. */
export const INPUT_TYPES = {
  count: simple(SimpleType.INTEGER),
  share: simple(SimpleType.FLOAT),
  note: simple(SimpleType.STRING),
  early: simple(SimpleType.BOOLEAN),
  begin: simple(SimpleType.DATETIME),
  wait: simple(SimpleType.DURATION),
  colour: { type: { case: "enumType", value: { values: ["red", "green"] } } },
  regions: { type: { case: "collectionType", value: simple(SimpleType.STRING) } },
  weights: { type: { case: "mapValueType", value: simple(SimpleType.INTEGER) } },
  limit: {
    type: {
      case: "unionType",
      value: {
        variants: [
          simple(SimpleType.INTEGER, { structure: { tag: "int" } }),
          simple(SimpleType.FLOAT, { structure: { tag: "float" } }),
          simple(SimpleType.NONE, { structure: { tag: "none" } }),
        ],
      },
    },
  },
  params: simple(SimpleType.STRUCT, {
    metadata: SCHEMA,
    annotation: { annotations: { "cache-key-metadata": { "serialization-format": "msgpack" } } },
  }),
  stations: { type: { case: "blob", value: { format: "csv", dimensionality: BlobType_BlobDimensionality.SINGLE } } },
  table: { type: { case: "structuredDatasetType", value: { format: "parquet" } } },
} as const satisfies Readonly<Record<string, TypeInit>>;

const SLEEP: NodeInit = {
  id: "n0",
  metadata: { name: "n0" },
  target: { case: "gateNode", value: { condition: { case: "sleep", value: { duration: { seconds: 0n, nanos: 1_000_000 } } } } },
};

/** Registers a workflow with an input of each kind that runs no pod. */
export async function registerTypedWorkflow(client: FlyteClient, name: string): Promise<void> {
  const value = { case: "primitive", value: { value: { case: "stringValue", value: "as ever" } } } as const;
  const defaults = { note: { value: { case: "scalar", value: { value } } } } as const;
  await register(client, { name, types: INPUT_TYPES, defaults, nodes: [SLEEP] });
}

/** Registers a workflow with an integer and a text, which have defaults, that runs no pod. */
export async function registerNoted(client: FlyteClient, name: string): Promise<void> {
  const primitive = (value: PrimitiveInit["value"]) =>
    ({ value: { case: "scalar", value: { value: { case: "primitive", value: { value } } } } }) as const;
  const defaults = { count: primitive({ case: "integer", value: 4n }), note: primitive({ case: "stringValue", value: "as ever" }) };
  await register(client, { name, types: { count: INPUT_TYPES.count, note: INPUT_TYPES.note }, defaults, nodes: [SLEEP] });
}

/** Registers a workflow that waits for a text and then for an approval. */
export async function registerGates(client: FlyteClient, name: string): Promise<void> {
  const gate = (id: string, condition: object, rest: object = {}): NodeInit =>
    ({ id, metadata: { name: id }, target: { case: "gateNode", value: { condition } }, ...rest }) as NodeInit;
  const title = { case: "promise", value: { nodeId: "n0", var: "o0" } };
  const nodes = [
    gate("n0", { case: "signal", value: { signalId: "title", type: simple(SimpleType.STRING), outputVariableName: "o0" } }),
    gate(
      "n1",
      { case: "approve", value: { signalId: "consent" } },
      { upstreamNodeIds: ["n0"], inputs: [{ var: "o0", binding: { value: title } }] },
    ),
  ];
  await register(client, { name, types: {}, defaults: {}, nodes });
}

interface RegisteredWorkflow {
  readonly name: string;
  /** Types of the inputs. */
  readonly types: Readonly<Record<string, TypeInit>>;
  readonly defaults: Readonly<Record<string, MessageInitShape<typeof LiteralSchema>>>;
  readonly nodes: readonly NodeInit[];
}

async function register(client: FlyteClient, { name, types, defaults, nodes }: RegisteredWorkflow): Promise<void> {
  const id = (resourceType: ResourceType) => create(IdentifierSchema, { ...TARGET, resourceType, name });
  const variables = Object.fromEntries(Object.entries(types).map(([input, type]) => [input, { type, description: "" }]));
  const template = create(WorkflowTemplateSchema, {
    id: id(ResourceType.WORKFLOW),
    metadata: {},
    metadataDefaults: {},
    interface: { inputs: { variables }, outputs: {} },
    nodes: [...nodes],
  });
  await client.admin.createWorkflow({ id: id(ResourceType.WORKFLOW), spec: { template } });
  const parameters = Object.fromEntries(
    Object.entries(variables).map(([input, variable]) => {
      const fallback = defaults[input];
      const behavior =
        fallback === undefined ? ({ case: "required", value: true } as const) : ({ case: "default", value: fallback } as const);
      return [input, { var: variable, behavior }];
    }),
  );
  await client.admin.createLaunchPlan({
    id: id(ResourceType.LAUNCH_PLAN),
    spec: { workflowId: id(ResourceType.WORKFLOW), entityMetadata: {}, defaultInputs: { parameters } },
  });
}
