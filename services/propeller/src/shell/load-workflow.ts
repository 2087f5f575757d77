import { type DescMessage, fromBinary, type MessageShape } from "@bufbuild/protobuf";
import type { BlobStore } from "@flyte-ts/blobstore";
import { CompiledWorkflowClosureSchema } from "@flyte-ts/idl/flyteidl/core/compiler_pb";
import { LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { KubeClient, KubeObject, ObjectName } from "@flyte-ts/kubernetes";
import {
  FLYTE_WORKFLOW_RESOURCE,
  type ParsedWorkflow,
  parseFlyteWorkflow,
  referencesOf,
  WorkflowFormatError,
} from "@flyte-ts/workflow-crd";

/** Reads a workflow's resource, with the parts that it keeps in the blob store. */
export class WorkflowLoader {
  constructor(
    private readonly client: Pick<KubeClient, "get">,
    private readonly blobs: Pick<BlobStore, "get">,
  ) {}

  /**
   * @returns undefined when there is no such resource.
   * @throws WorkflowFormatError when it can never be read; other errors are worth another try.
   */
  async load(name: ObjectName): Promise<ParsedWorkflow | undefined> {
    const resource = await this.client.get<KubeObject>(FLYTE_WORKFLOW_RESOURCE, name);
    if (resource === undefined) return undefined;
    const references = referencesOf(resource);
    const [closure, inputs] = await Promise.all([
      this.#read("workflowClosureReference", references.closure),
      this.#read("offloadedInputs", references.inputs),
    ]);
    return parseFlyteWorkflow(resource, {
      closure: closure && decode("workflowClosureReference", closure, CompiledWorkflowClosureSchema),
      inputs: inputs && decode("offloadedInputs", inputs, LiteralMapSchema),
    });
  }

  async #read(field: string, uri: string | undefined): Promise<Uint8Array | undefined> {
    if (uri === undefined) return undefined;
    const bytes = await this.blobs.get(uri);
    if (bytes === undefined) throw new WorkflowFormatError(field, `nothing stands at ${uri}`);
    return bytes;
  }
}

function decode<S extends DescMessage>(field: string, bytes: Uint8Array, schema: S): MessageShape<S> {
  try {
    return fromBinary(schema, bytes);
  } catch (cause) {
    const problem = cause instanceof Error ? cause.message : String(cause);
    throw new WorkflowFormatError(field, `what stands there is no ${schema.typeName}: ${problem}`, { cause });
  }
}
