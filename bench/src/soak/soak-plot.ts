import { round, type SoakTenth } from "./soak-figures.js";

/** One line of a panel: a value for each tenth. */
interface Series {
  readonly name: string;
  readonly values: readonly number[];
}

interface Panel {
  readonly title: string;
  readonly series: readonly Series[];
}

const PANEL = { width: 420, height: 200, gap: 30, left: 52, right: 110, top: 28, bottom: 24 };
const COLUMNS = 2;
/** Colors of lines, which also readers who are color-blind tell apart (Okabe and Ito). */
const COLORS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"];
/** Programs whose memory is drawn; others are smaller. */
const DRAWN_PROGRAMS = 6;

/** Draws throughput, latencies, memory and the size of the database as an SVG image. */
export function soakPlot(tenths: readonly SoakTenth[]): string {
  const { width, height, gap } = PANEL;
  const panels = panelsOf(tenths);
  const rows = Math.ceil(panels.length / COLUMNS);
  const drawn = panels.map((panel, index) => {
    const [x, y] = [(index % COLUMNS) * (width + gap), Math.floor(index / COLUMNS) * (height + gap)];
    return `<g transform="translate(${x} ${y})">${drawPanel(
      panel,
      tenths.map(({ ended }) => ended),
    )}</g>`;
  });
  const size = { width: COLUMNS * (width + gap) - gap, height: rows * (height + gap) - gap };
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size.width} ${size.height}" font-family="sans-serif" font-size="11">`,
    `<rect width="${size.width}" height="${size.height}" fill="#fff"/>`,
    ...drawn,
    "</svg>\n",
  ].join("\n");
}

function panelsOf(tenths: readonly SoakTenth[]): readonly Panel[] {
  const last = tenths.at(-1)?.memory.parts ?? {};
  const programs = Object.keys(last)
    .toSorted((one, other) => (last[other] ?? 0) - (last[one] ?? 0))
    .slice(0, DRAWN_PROGRAMS);
  return [
    { title: "executions ended per second", series: [{ name: "ended", values: tenths.map(({ rate }) => rate) }] },
    {
      title: "latency, ms",
      series: [
        { name: "queue p99", values: tenths.map(({ queue }) => queue.p99) },
        { name: "queue p50", values: tenths.map(({ queue }) => queue.p50) },
        { name: "create p99", values: tenths.map(({ create }) => create.p99) },
        { name: "create p50", values: tenths.map(({ create }) => create.p50) },
      ],
    },
    { title: "memory, MiB", series: programs.map((name) => ({ name, values: tenths.map(({ memory }) => memory.parts[name] ?? 0) })) },
    {
      title: "database, MiB",
      series: [
        { name: "all", values: tenths.map(({ databaseMib }) => databaseMib) },
        { name: "excl. audit log", values: tenths.map(({ databaseMib, auditLogMib }) => databaseMib - auditLogMib) },
      ],
    },
  ];
}

function drawPanel({ title, series }: Panel, ended: readonly number[]): string {
  const { width, height, left, right, top, bottom } = PANEL;
  const max = Math.max(1, ...series.flatMap(({ values }) => values)) * 1.05;
  const x = (index: number) => round(left + ((width - left - right) * index) / Math.max(1, ended.length - 1));
  const y = (value: number) => round(height - bottom - ((height - top - bottom) * value) / max);
  const axis = `<path d="M${left} ${top}V${height - bottom}H${width - right}" fill="none" stroke="#888"/>`;
  const ticks = [0, max / 2, max].map((value) => text(left - 6, y(value) + 4, String(Math.round(value)), "end"));
  const ends = [0, ended.length - 1].map((index) => text(x(index), height - 6, (ended[index] ?? 0).toLocaleString("en-US"), "middle"));
  const lines = spread(series.map((each) => ({ ...each, at: y(each.values.at(-1) ?? 0) }))).flatMap(({ name, values, at }, index) => {
    const color = COLORS[index % COLORS.length] ?? "#000000";
    const points = values.map((value, position) => `${x(position)},${y(value)}`).join(" ");
    return [
      `<polyline points="${points}" fill="none" stroke="${color}" stroke-width="2"/>`,
      `<text x="${width - right + 8}" y="${at + 4}" fill="${color}">${name} ${Math.round(values.at(-1) ?? 0)}</text>`,
    ];
  });
  return [text(left, 14, title, "start"), axis, ...ticks, ...ends, ...lines].join("");
}

/** Moves labels apart that would cover one another. */
function spread<T extends { readonly at: number }>(labels: readonly T[]): readonly T[] {
  const LINE = 13;
  let free = Number.POSITIVE_INFINITY;
  const moved = new Map<T, number>();
  for (const label of labels.toSorted((one, other) => other.at - one.at)) {
    const at = Math.min(label.at, free);
    moved.set(label, at);
    free = at - LINE;
  }
  return labels.map((label) => ({ ...label, at: moved.get(label) ?? label.at }));
}

function text(x: number, y: number, content: string, anchor: "start" | "middle" | "end"): string {
  return `<text x="${x}" y="${y}" text-anchor="${anchor}" fill="#333">${content}</text>`;
}
