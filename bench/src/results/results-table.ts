import type { Figure, Result, ResultFile } from "./result-file.js";

const HEADER = ["| workload | target | flyte-ts | Go Flyte | ratio | commit |", "|---|---|---|---|---|---|"] as const;
const BEGIN = "<!-- results: written by `npm run bench -- --table` from bench/results -->";
const END = "<!-- end of results -->";

/** Formats the results of all environments as one Markdown table. */
export function resultsTable(files: readonly ResultFile[]): string {
  const sections = files
    .toSorted((a, b) => a.order - b.order)
    .flatMap(({ title, detail, results }) => [
      `| **${title}**${detail === undefined ? "" : `, ${detail}`} | | | | | |`,
      ...results.map(formatRow),
    ]);
  return [...HEADER, ...sections].join("\n");
}

/**
 * Replaces the table between the markers of a document.
 *
 * @throws Error when a marker is missing
 */
export function replaceTable(document: string, table: string): string {
  const [begin, end] = [document.indexOf(BEGIN), document.indexOf(END)];
  if (begin < 0 || end < begin) throw new Error(`the document lacks "${BEGIN}" or "${END}"`);
  return `${document.slice(0, begin + BEGIN.length)}\n\n${table}\n\n${document.slice(end)}`;
}

function formatRow({ workload, target = "", figure, goFlyte, ratio, commit }: Result): string {
  const cells = [workload, target, formatFigure(figure), goFlyte === undefined ? "" : formatFigure(goFlyte), formatRatio(ratio), commit];
  return `|${cells.map((cell) => (cell === "" ? " " : ` ${cell} `)).join("|")}|`;
}

/** Formats a figure as median (range; runs), or as its values. */
export function formatFigure(figure: Figure): string {
  const { unit, median, min, max, runs, values, note = "" } = figure;
  const number = (value: number) => formatNumber(value, figure.digits);
  const range = min === undefined || max === undefined ? undefined : `${number(min)}–${number(max)}`;
  const suffix = `${unit.startsWith("/") ? "" : " "}${unit}`;
  if (values !== undefined) {
    const groups = values.map((value) => (typeof value === "number" ? number(value) : value.map(number).join(", ")));
    const separator = values.every((value) => typeof value === "number") ? ", " : "; ";
    return `${groups.join(separator)}${suffix}${values.length === 1 && typeof values[0] === "number" ? " (1)" : ""}${note}`;
  }
  if (median === undefined) return `${range ?? "?"}${suffix}${note}`;
  const spread = [range, runs === undefined ? undefined : String(runs)].filter((part) => part !== undefined).join("; ");
  return `${number(median)}${suffix}${spread === "" ? "" : ` (${spread})`}${note}`;
}

function formatNumber(value: number, digits = value < 10 ? 2 : value < 1_000 ? 1 : 0): string {
  return value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

function formatRatio(ratio: Result["ratio"]): string {
  if (ratio === undefined) return "";
  const format = (value: number) => String(Number(value.toFixed(1)));
  return typeof ratio === "number" ? format(ratio) : ratio.map(format).join("–");
}
