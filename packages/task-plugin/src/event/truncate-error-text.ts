// The limit of Go Flyte's event recorder: 100 KiB, without the middle.
const MAX_BYTES = 100 * 1024;
const OMISSION_MARK = "\n... (cut) ...\n";

/** Returns `text`, or its head and tail when it is longer than 100 KiB. */
export function truncateErrorText(text: string, maxBytes: number = MAX_BYTES): string {
  if (text.length * 3 <= maxBytes) return text;
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return text;
  const half = Math.floor((maxBytes - OMISSION_MARK.length) / 2);
  // A character cut in two becomes U+FFFD; drop those at the seams.
  const head = bytes
    .subarray(0, half)
    .toString()
    .replace(/\uFFFD+$/, "");
  const tail = bytes
    .subarray(bytes.length - half)
    .toString()
    .replace(/^\uFFFD+/, "");
  return head + OMISSION_MARK + tail;
}
