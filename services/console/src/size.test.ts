import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const KB = 1_000;
const folder = join(import.meta.dirname, "..", "bundle");

interface Chunk {
  readonly file: string;
  readonly imports?: readonly string[];
  readonly css?: readonly string[];
}
const manifest = JSON.parse(readFileSync(join(folder, ".vite", "manifest.json"), "utf8")) as Readonly<Record<string, Chunk>>;

/** Bytes of a file with gzip, as it is sent; short files have no compressed form. */
function gzipBytes(file: string): number {
  const compressed = join(folder, `${file}.gz`);
  return statSync(existsSync(compressed) ? compressed : join(folder, file)).size;
}

/** Files that a browser loads for some modules: scripts and style sheets. */
function filesOf(modules: readonly string[]): readonly string[] {
  const seen = new Set<string>();
  const files = new Set<string>();
  const visit = (name: string): void => {
    const chunk = manifest[name];
    if (chunk === undefined) throw new Error(`${name} is not built`);
    if (seen.has(name)) return;
    seen.add(name);
    for (const file of [chunk.file, ...(chunk.css ?? [])]) files.add(file);
    for (const each of chunk.imports ?? []) visit(each);
  };
  for (const name of modules) visit(name);
  return [...files];
}

const total = (files: readonly string[], end: string): number =>
  files.filter((file) => file.endsWith(end)).reduce((sum, file) => sum + gzipBytes(file), 0);
const assets = readdirSync(join(folder, "assets")).map((name) => `assets/${name}`);

test.each(["execution/execution-page", "executions/executions-page", "home/home-page"])("the first load of %s keeps its budget", (page) => {
  const files = filesOf(["index.html", "src/start-app.tsx", `src/page/${page}.tsx`]);
  expect(total(files, ".js")).toBeLessThanOrEqual(190 * KB);
  expect(total(files, ".css")).toBeLessThanOrEqual(20 * KB);
});

test("no script has more than 110 KB, and all together have at most 520 KB", () => {
  for (const file of assets.filter((name) => name.endsWith(".js"))) expect([file, gzipBytes(file) <= 110 * KB]).toEqual([file, true]);
  expect(total(assets, ".js") + total(assets, ".css")).toBeLessThanOrEqual(520 * KB);
});

test("there are two fonts of at most 110 KB, and the page preloads one", () => {
  const fonts = assets.filter((name) => name.endsWith(".woff2"));
  expect(fonts).toHaveLength(2);
  expect(fonts.reduce((sum, name) => sum + gzipBytes(name), 0)).toBeLessThanOrEqual(110 * KB);
  const page = readFileSync(join(folder, "index.html"), "utf8");
  expect(page.match(/rel="preload"/g)).toHaveLength(1);
  // The policy of the page allows neither scripts nor styles in it.
  expect(page).not.toMatch(/<style|style=|<script(?![^>]*src=)/);
});

test("long texts have both compressed forms", () => {
  const long = assets.filter((name) => /\.(js|css)$/.test(name) && statSync(join(folder, name)).size >= 1_024);
  const forms = long.flatMap((name) => [`${name}.br`, `${name}.gz`]);
  expect(forms.filter((name) => !existsSync(join(folder, name)))).toEqual([]);
});
