import { Code, RpcError } from "@flyte-ts/rpc";

/** Position of a stream of a node table. */
export interface TableCursor {
  /** Identifies the feed: another replica, or a later feed, numbers changes differently. */
  readonly feed: string;
  /** Sequence of the last change received. */
  readonly sequence: number;
  /** Version of the execution received. */
  readonly execution: number;
  /** The stream had ended. */
  readonly ended: boolean;
}

const VERSION = "1";
const FORM = /^1\.([\w-]{1,40})\.([0-9]{1,15})\.([0-9]{1,15})\.(e?)$/;

/** Formats a cursor with characters that headers and URLs keep. */
export function writeTableCursor({ feed, sequence, execution, ended }: TableCursor): string {
  return [VERSION, feed, sequence, execution, ended ? "e" : ""].join(".");
}

/** Parses a cursor; undefined for an invalid text. */
export function readTableCursor(text: string): TableCursor | undefined {
  const match = FORM.exec(text);
  if (match === null) return undefined;
  const [, feed = "", sequence, execution, ended] = match;
  return { feed, sequence: Number(sequence), execution: Number(execution), ended: ended === "e" };
}

/**
 * Parses the cursor of a request; undefined for the empty one.
 *
 * @throws RpcError INVALID_ARGUMENT.
 */
export function parseTableCursor(text: string): TableCursor | undefined {
  const cursor = readTableCursor(text);
  if (text !== "" && cursor === undefined)
    throw new RpcError(Code.INVALID_ARGUMENT, "invalid value for cursor: it must come from an earlier message");
  return cursor;
}
