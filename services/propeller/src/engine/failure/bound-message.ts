/** Longest error text that events and statuses carry, in UTF-16 units (contract §5.3). */
export const MAX_ERROR_MESSAGE = 100 * 1024;
/** Longest `message` of a status. */
export const MAX_STATUS_MESSAGE = 1024;

const CUT = "... <Message Truncated> ...";

/** Keeps head and tail of a text that is too long: the tail of a trace is what people need. */
export function boundMessage(text: string, max = MAX_ERROR_MESSAGE): string {
  if (text.length <= max) return text;
  const half = Math.floor((max - CUT.length) / 2);
  return `${text.slice(0, half)}${CUT}${text.slice(text.length - half)}`;
}
