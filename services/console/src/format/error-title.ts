const MAX_TITLE = 200;
/** Last line of a Python traceback: `ValueError: column is missing`. */
const EXCEPTION = /^\s*(?:[\w.]+\.)?(\w*(?:Error|Exception|Interrupt|Exit|Warning|Timeout)\w*)\b: ?(.+)$/;
/** Lines that begin a traceback and say nothing themselves, and its frames. */
const TRACEBACK = /^\s*(?:Trace:|Traceback \(most recent call last\):|File "|Message:)/;
/** Text that propeller puts before the error of a last attempt. */
const RETRIES = /^\s*\[\d+\/\d+\] currentAttempt done\. Last Error: \w+::\s*/;
/** End of a container; the end of its output follows. */
const EXIT = /^\s*\[[^\]]*\] terminated with exit code \((\d+)\)[^\n]*\n?/;

/**
 * Returns the line of an error that says most: its last exception, else the exit code of a
 * container with the last line of its output, else its first line, else the code. Lists cut
 * messages short, so a traceback may end before its exception.
 */
export function errorTitle(message: string, code: string): string {
  const own = message.replace(RETRIES, "");
  const lines = own.split("\n").filter((line) => line.trim() !== "");
  const [, name, text] = lines.map((line) => EXCEPTION.exec(line)).findLast((match) => match !== null) ?? [];
  const exit = EXIT.exec(own);
  if (name === undefined && exit !== null) return exitTitle(exit[1] ?? "", own.slice(exit[0].length));
  const line = name === undefined ? lines.find((each) => !TRACEBACK.test(each)) : `${name}: ${text ?? ""}`;
  const isTraceback = TRACEBACK.test(lines[0] ?? "");
  const title = name === undefined && isTraceback ? "" : (line ?? "").trim().slice(0, MAX_TITLE);
  return title === "" ? (code.split(":").at(-1) ?? "") || "No message" : title;
}

function exitTitle(exitCode: string, output: string): string {
  // A message ends with the sentence's full stop, on a line of its own.
  const last = output.split("\n").findLast((line) => line.trim() !== "" && line.trim() !== ".") ?? "";
  return `Exit code ${exitCode}${last === "" ? "" : `: ${last.trim()}`}`.slice(0, MAX_TITLE);
}
