import type { DescMessage } from "@bufbuild/protobuf";
import { BlobUriError, type BlobStore, BlobTooLargeError } from "@flyte-ts/blobstore";
import { WorkflowClosureSchema } from "@flyte-ts/idl/flyteidl/admin/workflow_pb";
import { CompiledWorkflowClosureSchema } from "@flyte-ts/idl/flyteidl/core/compiler_pb";
import { type LiteralMap, LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { checkStored, MAX_STORED_BYTES, readStored, StoredMessageError } from "@flyte-ts/input-limits";
import type { KubeClient, KubeObject, ObjectName } from "@flyte-ts/kubernetes";
import {
  type MalformedResource,
  checkIdentity,
  FLYTE_WORKFLOW_RESOURCE,
  isWrappedClosure,
  type ParsedWorkflow,
  parseFlyteWorkflow,
  readMalformed,
  referencesOf,
  WorkflowBuildError,
  WorkflowFormatError,
} from "@flyte-ts/workflow-crd";
import { yieldToEventLoop } from "../yield-to-event-loop.js";
import { GraphCache } from "./graph-cache.js";
import type { SliceStore } from "../status/slice-store.js";

/** A resource whose current version is permanently unreadable. */
export class InvalidWorkflowError extends Error {
  override readonly name = "InvalidWorkflowError";

  constructor(
    readonly resourceVersion: string,
    cause: WorkflowFormatError | WorkflowBuildError,
    /** Fields that are still readable. */
    readonly known: MalformedResource,
  ) {
    super(cause.message, { cause });
  }
}

/** Reads a workflow's resource and its parts in the blob store. */
export class WorkflowLoader {
  readonly #graphs = new GraphCache();

  constructor(
    private readonly client: Pick<KubeClient, "get">,
    private readonly blobs: Pick<BlobStore, "get">,
    private readonly slices: Pick<SliceStore, "read">,
    /** Template of the namespace of a project and domain. */
    private readonly namespaceTemplate: string,
  ) {}

  /**
   * @param minResourceVersion a sufficient version, when no other client can have written the
   *   resource since; else its latest
   * is read.
   * @returns undefined when there is no such resource.
   * @throws InvalidWorkflowError when it is permanently invalid, StatusTooNewError when only a
   *   newer build can read it;
   * other errors are transient.
   */
  async load(name: ObjectName, minResourceVersion?: string): Promise<ParsedWorkflow | undefined> {
    const resource = await this.client.get<KubeObject>(FLYTE_WORKFLOW_RESOURCE, { ...name, minResourceVersion });
    if (resource === undefined) return undefined;
    try {
      return await this.#parse(resource);
    } catch (error) {
      if (!(error instanceof WorkflowFormatError || error instanceof WorkflowBuildError)) throw error;
      throw new InvalidWorkflowError(resource.metadata.resourceVersion ?? "", error, readMalformed(resource));
    }
  }

  async #parse(resource: KubeObject): Promise<ParsedWorkflow> {
    const references = referencesOf(resource);
    // Checks the identity before reading anything that the resource names.
    checkIdentity(resource, this.namespaceTemplate);
    const { closure, inputs: inputsAddress } = references;
    const [graphs, inputs, slices] = await Promise.all([
      closure === undefined
        ? undefined
        : this.#graphs.get(resource, {
            uri: closure,
            read: () => this.#readClosure(closure).catch(attributeTo("workflowClosureReference")),
          }),
      inputsAddress === undefined ? undefined : this.#readInputs(inputsAddress).catch(attributeTo("offloadedInputs")),
      this.slices.read(references.slices).catch(attributeTo("status.slices.prefix")),
    ]);
    const parsed = parseFlyteWorkflow(resource, { graphs, inputs, slices });
    if (graphs !== undefined) await yieldToEventLoop();
    return parsed;
  }

  /** Reads the bytes of a closure: they are decoded in parts, so the elements are counted here. */
  async #readClosure(uri: string): Promise<Uint8Array> {
    const bytes = await this.blobs.get(uri, { maxBytes: MAX_STORED_BYTES });
    if (bytes === undefined) return throwMissingBlob("workflowClosureReference", uri);
    checkStored(closureSchemaOf(bytes), bytes, { elements: MAX_CLOSURE_ELEMENTS });
    return bytes;
  }

  async #readInputs(uri: string): Promise<LiteralMap> {
    return (await readStored(this.blobs, { uri, schema: LiteralMapSchema })) ?? throwMissingBlob("offloadedInputs", uri);
  }
}

/**
 * Twice the elements of the largest registration request: compilation adds interfaces, connections
 * and templates.
 */
const MAX_CLOSURE_ELEMENTS = 8_000_000;

/**
 * Returns the message type of a closure blob. For invalid bytes either type is possible, since the
 * parser rejects them.
 */
function closureSchemaOf(bytes: Uint8Array): DescMessage {
  try {
    return isWrappedClosure(bytes) ? WorkflowClosureSchema : CompiledWorkflowClosureSchema;
  } catch {
    return CompiledWorkflowClosureSchema;
  }
}

function throwMissingBlob(field: string, uri: string): never {
  throw new WorkflowFormatError(field, `there is no blob at ${uri}`);
}

/** Attributes an invalid address or unreadable blob to the field that names it. */
function attributeTo(field: string): (error: unknown) => never {
  return (error) => {
    if (error instanceof StoredMessageError)
      throw new WorkflowFormatError(field, `the blob cannot be decoded: ${error.message}`, { cause: error });
    if (error instanceof BlobUriError || error instanceof BlobTooLargeError)
      throw new WorkflowFormatError(field, error.message, { cause: error });
    throw error;
  };
}
