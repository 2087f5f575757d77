import type { EngineConfig } from "../config.js";

type Limits = Pick<EngineConfig, "maxInlineOutputBytes" | "maxTotalInlineOutputBytes" | "maxKeptOutputBytes">;

/**
 * Counts the outputs that the status holds by value, and the node statuses that it keeps until the
 * end is recorded, against their limits.
 */
export class OutputBudget<Node extends object> {
  /** Bytes of outputs that the status holds by value for consumers. */
  inlineBytes = 0;
  /** Bytes of outputs that the status holds by value only until the end is recorded. */
  keptBytes = 0;
  /** Nodes below ended ones whose statuses are kept until the end is recorded. */
  keptNodes = 0;
  /** Bytes by node whose outputs the status holds for consumers. */
  readonly #inline = new Map<Node, number>();

  /** True when further outputs may be sent and kept by value. */
  fits(bytes: number, { maxInlineOutputBytes, maxTotalInlineOutputBytes, maxKeptOutputBytes }: Limits): boolean {
    return (
      bytes <= maxInlineOutputBytes &&
      this.inlineBytes + bytes <= maxTotalInlineOutputBytes &&
      this.inlineBytes + this.keptBytes + bytes <= maxKeptOutputBytes
    );
  }

  /** Counts a node's outputs that consumers need. */
  addInline(node: Node, bytes: number): void {
    this.#inline.set(node, bytes);
    this.inlineBytes += bytes;
  }

  /** Removes a node's outputs from those kept for consumers; returns their bytes. */
  removeInline(node: Node): number {
    const bytes = this.#inline.get(node) ?? 0;
    this.#inline.delete(node);
    this.inlineBytes -= bytes;
    return bytes;
  }

  /** Counts outputs kept until the end is recorded. */
  addKept(bytes: number): void {
    this.keptBytes += bytes;
  }

  /** Counts nodes whose statuses are kept until the end is recorded. */
  addKeptNodes(count: number): void {
    this.keptNodes += count;
  }
}
