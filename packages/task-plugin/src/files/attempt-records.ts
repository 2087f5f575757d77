import type { BlobStore } from "@flyte-ts/blobstore";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import type { OwningWorkflow } from "../plugin.js";
import { isOwnedBy, type RecordedAttempt } from "./recorded-attempt.js";

export type RecordStore = Pick<BlobStore, "get" | "put" | "delete" | "list">;

/** Form of the records of a plugin. */
export interface RecordFormat<Content> {
  /** Name of the file at the output prefix of an attempt. */
  readonly fileName: string;
  /** Maximum size of a record, bytes. */
  readonly maxBytes: number;
  encode(content: Content): Uint8Array;
  /** Also takes bytes that are no record. */
  decode(bytes: Uint8Array): Content;
  /** Returns the attempt that a record names; older builds named none. */
  attempt(content: Content): RecordedAttempt | undefined;
  /** False when nothing of the attempt runs, nor may be started. */
  mayRun(content: Content): boolean;
}

/**
 * Records of attempts that run elsewhere, one file at the output prefix of each attempt. A process
 * finds by them what an earlier one started. The folder of a deleted execution may still have its
 * records when another execution gets its name: a record counts for the attempt that it names, or,
 * if it names none, for the attempt of its folder. Methods throw BlobUnavailableError.
 */
export class AttemptRecords<Content> {
  constructor(
    private readonly store: RecordStore,
    private readonly format: RecordFormat<Content>,
  ) {}

  uriOf(outputPrefix: string): string {
    return `${outputPrefix}/${this.format.fileName}`;
  }

  /**
   * Writes the first record of an attempt. Returns its earlier record instead if there is one.
   */
  async begin(request: TaskRequest, content: Content): Promise<Content | undefined> {
    const uri = this.uriOf(request.outputPrefix);
    const result = await this.store.put(uri, this.format.encode(content), { ifAbsent: true });
    if (result === "written") return undefined;
    // A record that was deleted meanwhile counts as the first one.
    const earlier = (await this.#readUri(uri)) ?? content;
    if (this.#isOf(earlier, request)) return earlier;
    await this.write(request.outputPrefix, content);
    return undefined;
  }

  async write(outputPrefix: string, content: Content): Promise<void> {
    await this.store.put(this.uriOf(outputPrefix), this.format.encode(content));
  }

  /** Reads the record of an attempt; the request has the owner of the attempt. */
  async read(request: TaskRequest): Promise<Content | undefined> {
    const content = await this.#readUri(this.uriOf(request.outputPrefix));
    return content !== undefined && this.#isOf(content, request) ? content : undefined;
  }

  async delete(outputPrefix: string): Promise<void> {
    await this.store.delete(this.uriOf(outputPrefix));
  }

  /**
   * Lists the attempts of a resource that may run by their records below its folder, except those
   * with a known output prefix. A record that names another folder than its own does not count:
   * the code of tasks can write there.
   */
  async listRunning(workflow: OwningWorkflow, knownPrefixes: ReadonlySet<string>): Promise<readonly TaskRequest[]> {
    const { outputPrefix: folder = "" } = workflow;
    if (folder === "") return [];
    const requests: TaskRequest[] = [];
    for await (const { uri } of this.store.list(`${folder}/`)) {
      const prefix = uri.slice(0, -this.format.fileName.length - 1);
      if (uri !== this.uriOf(prefix) || knownPrefixes.has(prefix)) continue;
      const content = await this.#readUri(uri);
      const attempt = content !== undefined && this.format.mayRun(content) ? this.format.attempt(content) : undefined;
      if (attempt?.request.outputPrefix !== prefix || !isOwnedBy(attempt, workflow)) continue;
      requests.push({ ...attempt.request, owner: workflow.owner });
    }
    return requests;
  }

  #isOf(content: Content, { generatedName, owner }: TaskRequest): boolean {
    const attempt = this.format.attempt(content);
    return attempt === undefined || (attempt.ownerUid === (owner?.uid ?? "") && attempt.request.generatedName === generatedName);
  }

  async #readUri(uri: string): Promise<Content | undefined> {
    const bytes = await this.store.get(uri, { maxBytes: this.format.maxBytes });
    return bytes === undefined ? undefined : this.format.decode(bytes);
  }
}
