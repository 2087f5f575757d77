export interface DifferingCase {
  readonly id: string;
  /** The call, then a line for each difference. */
  readonly lines: readonly string[];
}

export interface ProbeReport {
  /** Number of compared cases; undefined when the driver did not finish. */
  readonly total: number | undefined;
  readonly differing: readonly DifferingCase[];
}

/** Parses the output of `probe.py --compare`. */
export function readReport(text: string): ProbeReport {
  const differing: { id: string; lines: string[] }[] = [];
  let total: number | undefined;
  let inCase = false;
  for (const line of text.split("\n")) {
    const start = /^DIFF (\S+) (.*)$/.exec(line);
    if (start) differing.push({ id: start[1] as string, lines: [start[2] as string] });
    else if (inCase && line.startsWith("    ")) differing.at(-1)?.lines.push(line.trim());
    inCase = start !== null || (inCase && line.startsWith("    "));
    const end = /^TOTAL (\d+) cases, (\d+) differ/.exec(line);
    if (end && Number(end[2]) === differing.length) total = Number(end[1]);
  }
  return { total, differing };
}
