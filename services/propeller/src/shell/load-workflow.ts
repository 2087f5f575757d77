import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { BlobAddressRefused, type BlobStore } from "@flyte-ts/blobstore";
import { LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { decodeStored, MAX_STORED_BYTES } from "@flyte-ts/input-limits";
import type { KubeClient, KubeObject, ObjectName } from "@flyte-ts/kubernetes";
import {
  type BrokenResource,
  checkIdentity,
  FLYTE_WORKFLOW_RESOURCE,
  type ParsedWorkflow,
  parseFlyteWorkflow,
  readBroken,
  referencesOf,
  WorkflowBuildError,
  WorkflowFormatError,
} from "@flyte-ts/workflow-crd";
import { othersTurn } from "./in-turns.js";
import { SharedGraphs } from "./shared-graphs.js";
import type { SliceStore } from "./slice-store.js";

/** A resource that can never be read, as of this version. */
export class UnreadableWorkflow extends Error {
  override readonly name = "UnreadableWorkflow";

  constructor(
    readonly resourceVersion: string,
    cause: WorkflowFormatError | WorkflowBuildError,
    /** Facts that can be read all the same. */
    readonly known: BrokenResource,
  ) {
    super(cause.message, { cause });
  }
}

/** Reads a workflow's resource, with the parts that it keeps in the blob store. */
export class WorkflowLoader {
  readonly #graphs = new SharedGraphs();

  constructor(
    private readonly client: Pick<KubeClient, "get">,
    private readonly blobs: Pick<BlobStore, "get">,
    private readonly slices: Pick<SliceStore, "read">,
    /** Gives the namespace of a project and domain. */
    private readonly namespaceTemplate: string,
  ) {}

  /**
   * @param notOlderThan a version that serves, where nobody can have written the resource since; else its latest is read.
   * @returns undefined when there is no such resource.
   * @throws UnreadableWorkflow when it can never be read, NewerStatusError when only a newer build can; other errors are worth another try.
   */
  async load(name: ObjectName, notOlderThan?: string): Promise<ParsedWorkflow | undefined> {
    const resource = await this.client.get<KubeObject>(FLYTE_WORKFLOW_RESOURCE, { ...name, notOlderThan });
    if (resource === undefined) return undefined;
    try {
      return await this.#parse(resource);
    } catch (error) {
      if (!(error instanceof WorkflowFormatError || error instanceof WorkflowBuildError)) throw error;
      throw new UnreadableWorkflow(resource.metadata.resourceVersion ?? "", error, readBroken(resource));
    }
  }

  async #parse(resource: KubeObject): Promise<ParsedWorkflow> {
    const references = referencesOf(resource);
    // Before anything that it names is read.
    checkIdentity(resource, this.namespaceTemplate);
    const { closure, inputs: inputsAddress } = references;
    const [graphs, inputs, slices] = await Promise.all([
      closure === undefined
        ? undefined
        : this.#graphs.of(resource, { address: closure, read: () => this.#read("workflowClosureReference", closure) }),
      inputsAddress === undefined ? undefined : this.#read("offloadedInputs", inputsAddress),
      this.slices.read(references.slices).catch(refusedIn("status.slices.prefix")),
    ]);
    const parsed = parseFlyteWorkflow(resource, { graphs, inputs: inputs && decode("offloadedInputs", inputs, LiteralMapSchema), slices });
    if (graphs !== undefined) await othersTurn();
    return parsed;
  }

  async #read(field: string, uri: string): Promise<Uint8Array> {
    const bytes = await this.blobs.get(uri, { maxBytes: MAX_STORED_BYTES }).catch(refusedIn(field));
    if (bytes === undefined) throw new WorkflowFormatError(field, `nothing stands at ${uri}`);
    return bytes;
  }
}

/** Makes an address that can never be read a fault of the field that names it. */
function refusedIn(field: string): (error: unknown) => never {
  return (error) => {
    throw error instanceof BlobAddressRefused ? new WorkflowFormatError(field, error.message, { cause: error }) : error;
  };
}

function decode<S extends DescMessage>(field: string, bytes: Uint8Array, schema: S): MessageShape<S> {
  try {
    return decodeStored(schema, bytes);
  } catch (cause) {
    const problem = cause instanceof Error ? cause.message : String(cause);
    throw new WorkflowFormatError(field, `what stands there is no ${schema.typeName}: ${problem}`, { cause });
  }
}
