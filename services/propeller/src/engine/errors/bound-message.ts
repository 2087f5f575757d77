/** Maximum error text in events and statuses, UTF-16 units. */
export const MAX_ERROR_MESSAGE = 100 * 1024;
/** Maximum `message` of a status, UTF-16 units. */
export const MAX_STATUS_MESSAGE = 1024;

const TRUNCATED = "... <Message Truncated> ...";

/** Keeps head and tail of a text that is too long: the tail of a stack trace matters most. */
export function boundMessage(text: string, max = MAX_ERROR_MESSAGE): string {
  if (text.length <= max) return text;
  const half = Math.floor((max - TRUNCATED.length) / 2);
  return `${text.slice(0, half)}${TRUNCATED}${text.slice(text.length - half)}`;
}
