const MAX_TITLE = 200;
/** Last line of a Python traceback: `ValueError: column is missing`. */
const EXCEPTION = /^\s*(?:[\w.]+\.)?(\w*(?:Error|Exception|Interrupt|Exit|Warning|Timeout)\w*)\b: ?(.+)$/;
/** Lines that begin a traceback and say nothing themselves, and its frames. */
const TRACEBACK = /^\s*(?:Trace:|Traceback \(most recent call last\):|File "|Message:)/;

/**
 * Returns the line of an error that says most: its last exception, else its first line, else the
 * code. Lists cut messages short, so a traceback may end before its exception.
 */
export function errorTitle(message: string, code: string): string {
  const lines = message.split("\n").filter((line) => line.trim() !== "");
  const [, name, text] = lines.map((line) => EXCEPTION.exec(line)).findLast((match) => match !== null) ?? [];
  const line = name === undefined ? lines.find((each) => !TRACEBACK.test(each)) : `${name}: ${text ?? ""}`;
  const isTraceback = TRACEBACK.test(lines[0] ?? "");
  const title = name === undefined && isTraceback ? "" : (line ?? "").trim().slice(0, MAX_TITLE);
  return title === "" ? (code.split(":").at(-1) ?? "") || "No message" : title;
}
