import { type Message, toBinary } from "@bufbuild/protobuf";
import type { GenMessage } from "@bufbuild/protobuf/codegenv2";
import { BlobError, type BlobStore, BlobTooLargeError } from "@flyte-ts/blobstore";
import { readStored, StoredMessageError } from "@flyte-ts/input-limits";
import { type Literal, type LiteralMap, LiteralMapSchema, LiteralSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { ReadResult } from "../../engine/types.js";

/**
 * Reads and writes literals in the blob store; returns failures as values, which the engine
 * interprets.
 */
export class OutputsStore {
  constructor(private readonly blobs: Pick<BlobStore, "get" | "put">) {}

  readOutputs(uri: string): Promise<ReadResult<LiteralMap>> {
    return this.#read(uri, LiteralMapSchema);
  }

  readLiteral(uri: string): Promise<ReadResult<Literal>> {
    return this.#read(uri, LiteralSchema);
  }

  /** @returns the failure, or undefined when the blob is durable. */
  async writeOutputs(uri: string, outputs: LiteralMap): Promise<string | undefined> {
    try {
      await this.blobs.put(uri, toBinary(LiteralMapSchema, outputs));
      return undefined;
    } catch (error) {
      return String(error);
    }
  }

  async #read<T extends Message>(uri: string, schema: GenMessage<T>): Promise<ReadResult<T>> {
    try {
      const value = await readStored(this.blobs, { uri, schema });
      return value === undefined ? { kind: "missing" } : { kind: "value", value };
    } catch (error) {
      if (error instanceof StoredMessageError || error instanceof BlobTooLargeError)
        return { kind: "corrupt", message: `it is not a valid ${schema.typeName}: ${error.message}` };
      return { kind: "error", message: error instanceof BlobError ? error.message : `${uri}: ${String(error)}` };
    }
  }
}
