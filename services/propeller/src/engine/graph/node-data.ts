import type { LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";

export interface UncommittedSuccess {
  /** The outputs by value, if small enough; undefined when only their location is known. */
  readonly value: LiteralMap | undefined;
  readonly deckUri: string;
  readonly uri: string;
  /**
   * True: the outputs are at `uri` once the node's `pendingWrites` are done. False: they exist only
   * here.
   */
  readonly stored: boolean;
  /** The attempt's objects are deleted once the success is stored. */
  readonly cleanup: boolean;
}

/** Inputs and outputs of a node, and the blobs that it waits for. */
export class NodeData {
  inputs: LiteralMap | undefined;
  /** The inputs are in the blob store. */
  inputsInBlobStore = false;
  /** True for an item that selects its inputs from the array's own. */
  readsArrayInputs = false;
  /** Outputs by value, while consumers may need them. */
  outputs: LiteralMap | undefined;
  /** Blobs that the node waits for. */
  pendingReads: Set<string> | undefined;
  /** Blobs being written before the node continues. */
  pendingWrites: Set<string> | undefined;
  /** A success that waits until its outputs are written. */
  uncommittedSuccess: UncommittedSuccess | undefined;

  setInputs(inputs: LiteralMap | undefined): void {
    this.inputs = inputs;
  }

  setInputLocation({ inBlobStore, inArrayFile }: { readonly inBlobStore: boolean; readonly inArrayFile: boolean }): void {
    this.inputsInBlobStore = inBlobStore;
    this.readsArrayInputs = inArrayFile;
  }

  setOutputs(outputs: LiteralMap | undefined): void {
    this.outputs = outputs;
  }

  addRead(uri: string): void {
    this.pendingReads ??= new Set();
    this.pendingReads.add(uri);
  }

  clearReads(): void {
    this.pendingReads = undefined;
  }

  addWrite(uri: string): void {
    this.pendingWrites ??= new Set();
    this.pendingWrites.add(uri);
  }

  /** Ends one write. Returns true when it was the last. */
  writeDone(uri: string): boolean {
    if (this.pendingWrites === undefined) return false;
    this.pendingWrites.delete(uri);
    if (this.pendingWrites.size > 0) return false;
    this.pendingWrites = undefined;
    return true;
  }

  clearWrites(): void {
    this.pendingWrites = undefined;
  }

  setUncommittedSuccess(success: UncommittedSuccess): void {
    this.uncommittedSuccess = success;
  }

  /** True when an ended node needs nothing of this record. */
  get isEmpty(): boolean {
    const { outputs, readsArrayInputs, pendingReads, pendingWrites } = this;
    return outputs === undefined && !readsArrayInputs && pendingReads === undefined && pendingWrites === undefined;
  }

  /** Drops the data that only an unfinished node needs. */
  end(): void {
    this.inputs = undefined;
    this.uncommittedSuccess = undefined;
  }
}
