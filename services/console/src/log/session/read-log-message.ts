import { readTime } from "./read-time.js";
import { readFields } from "../../wire/read-fields.js";

/** Decoded flytets.admin.v1.FollowLogResponse; its lines are passed on instead. */
export interface LogMessage {
  readonly cursor: string;
  /** Number of the attempt, from 0. */
  readonly attempt: number;
  /** The log is complete. */
  readonly ended: boolean;
}

const utf8 = new TextDecoder();

/** Takes a line, with a time of NaN if it is not known. */
type OnLine = (text: Uint8Array, timeMs: number) => void;

/**
 * Reads an encoded message and calls `onLine` for each line, `onEndLine` for each one of the log's
 * end. Lines are skipped without them.
 */
export function readLogMessage(bytes: Uint8Array, onLine?: OnLine, onEndLine?: OnLine): LogMessage {
  const message = { cursor: "", attempt: 0, ended: false };
  readFields(bytes, {
    number: (field, value) => {
      if (field === 3) message.attempt = value;
      if (field === 4) message.ended = value !== 0;
    },
    bytes: (field, value) => {
      if (field === 1) message.cursor = utf8.decode(value);
      if (field === 2 && onLine !== undefined) readLine(value, onLine);
      if (field === 5 && onEndLine !== undefined) readLine(value, onEndLine);
    },
  });
  return message;
}

const NO_BYTES = new Uint8Array();

function readLine(bytes: Uint8Array, onLine: OnLine): void {
  let [text, timeMs] = [NO_BYTES as Uint8Array, Number.NaN];
  readFields(bytes, {
    bytes: (field, value) => {
      if (field === 1) timeMs = readTime(value);
      if (field === 2) text = value;
    },
  });
  onLine(text, timeMs);
}
