// Checks the areas of admin: directions of imports (types included), one face per area, no circle
// of folders, SQL in `store/` only, at most 15 source files in a folder and 60 names in a face.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { parseSync } from "oxc-parser";
import { root } from "./prepare.mjs";
import { importedModules, isForTests, sourceFiles } from "./source-files.mjs";

/**
 * Area → the areas that it may import. Files outside the areas are the composition root, which may
 * import all.
 */
const DIRECTIONS = {
  platform: [],
  registry: ["platform"],
  clusters: ["platform", "registry"],
  executions: ["platform", "registry", "clusters"],
  events: ["platform", "registry", "clusters", "executions"],
  dispatch: ["platform", "registry", "clusters", "executions", "events"],
  identity: ["platform"],
  automation: ["platform", "registry", "clusters", "executions", "identity"],
  overview: ["platform", "registry", "executions", "automation"],
  search: ["platform", "registry", "executions"],
  console: [],
};

/**
 * Area → its tables. Only its `store/` writes them; those of areas that may import it also read
 * them, in joins.
 */
const TABLES = {
  registry: [
    "projects",
    "tasks",
    "workflows",
    "launch_plans",
    "schedules",
    "named_entities",
    "description_entities",
    "matchable_attributes",
  ],
  clusters: ["cluster_resource_syncs"],
  executions: [
    "executions",
    "execution_tags",
    "execution_outbox",
    "execution_ends",
    "execution_deletions",
    "kept_raw_outputs",
    "deleted_executions",
    "execution_node_tables",
    "node_executions",
    "task_executions",
    "task_execution_events",
    "signals",
  ],
  identity: [
    "audit_log",
    "role_bindings",
    "token_revocations",
    "browser_sessions",
    "issuer_clients",
    "issuer_keys",
    "issuer_state",
    "issuer_users",
  ],
  automation: ["notification_deliveries", "retention_policies", "triggers", "trigger_firings", "trigger_keys"],
};

const MAX_FILES = 15;
const MAX_NAMES = 60;

const OWNERS = new Map(Object.entries(TABLES).flatMap(([area, tables]) => tables.map((table) => [table, area])));
const NAMED = [...OWNERS.keys()].join("|");
const CLAUSE = new RegExp(String.raw`\b(DELETE FROM|FROM|JOIN|INTO|UPDATE|USING)\s+(?:ONLY\s+)?(${NAMED})\b`, "g");
const LITERAL = new RegExp(String.raw`\b(?:table|name|from): ["'\`](${NAMED})["'\`]`, "g");
const WRITES = ["DELETE FROM", "INTO", "UPDATE"];

const [source = join(root, "services/admin/src")] = process.argv.slice(2);
const problems = [];
// Tests and their fixtures may look into every area.
const files = [...sourceFiles(source)].filter((file) => !isForTests(file)).map(parsed);
for (const file of files) {
  checkImports(file);
  checkSql(file);
}
checkCircles();
checkSizes();
if (process.argv[2] === undefined) checkTables();
for (const problem of problems) console.error(problem);
process.exit(problems.length > 0 ? 1 : 0);

function parsed(path) {
  const text = readFileSync(path, "utf8");
  const { module, comments } = parseSync(path, text);
  const place = relative(source, path);
  const imports = [...new Set(importedModules(module, text))]
    .filter((request) => request.startsWith("."))
    .map((request) => relative(source, resolve(dirname(path), request.replace(/\.js$/, ".ts"))));
  const names = module.staticExports.flatMap((statement) => statement.entries).length;
  return { place, area: areaOf(place), isFace: isFace(place), imports, names, code: withoutComments(text, comments) };
}

function withoutComments(text, comments) {
  let code = text;
  for (const { start, end } of comments) code = code.slice(0, start) + " ".repeat(end - start) + code.slice(end);
  return code;
}

/** Returns the area of a file; undefined for the composition root. */
function areaOf(place) {
  const [first] = place.split("/");
  return Object.hasOwn(DIRECTIONS, first) ? first : undefined;
}

function isFace(place) {
  return areaOf(place) !== undefined && place === `${areaOf(place)}/index.ts`;
}

function checkImports({ place, area, imports }) {
  for (const target of imports) {
    const other = areaOf(target);
    if (other === area && area !== undefined && isFace(target))
      problems.push(`${place} imports ${target}: an area does not import its own face`);
    if (other === area) continue;
    if (other === undefined) problems.push(`${place} imports ${target}: areas do not import the composition root`);
    else if (area !== undefined && !DIRECTIONS[area].includes(other))
      problems.push(`${place} imports ${target}: ${area} may import ${DIRECTIONS[area].join(", ") || "no other area"}`);
    else if (!isFace(target)) problems.push(`${place} imports ${target}: other areas are imported through ${other}/index.ts`);
  }
}

function checkSql({ place, area, code }) {
  const inStore = area !== undefined && place.startsWith(`${area}/store/`);
  const found = new Set();
  const note = (table, isWrite) => {
    const owner = OWNERS.get(table);
    if (!inStore) found.add(`${place} names table ${table}: SQL on it stands in ${owner}/store/`);
    else if (owner !== area && isWrite) found.add(`${place} writes table ${table}: only ${owner}/store/ does`);
    else if (owner !== area && !DIRECTIONS[area].includes(owner)) found.add(`${place} reads table ${table}: ${area} may not know ${owner}`);
  };
  for (const [, clause, table] of code.matchAll(CLAUSE)) note(table, WRITES.includes(clause));
  for (const [, table] of code.matchAll(LITERAL)) note(table, false);
  problems.push(...found);
}

/**
 * Finds circles among folders. Left out are the files of an area that stand for all its folders:
 * its face, its settings (`config.ts`) and its dependencies (`deps.ts`).
 */
function checkCircles() {
  const edges = new Map();
  for (const { place, imports } of files) {
    if (isOfWholeArea(place)) continue;
    const from = dirname(place);
    for (const target of imports) {
      const to = dirname(target);
      if (to === from || isOfWholeArea(target)) continue;
      const key = `${from} ${to}`;
      if (!edges.has(key)) edges.set(key, { from, to, example: `${place} imports ${target}` });
    }
  }
  const next = Map.groupBy([...edges.values()], ({ from }) => from);
  const done = new Set();
  const visit = (folder, path) => {
    const start = path.findIndex(({ from }) => from === folder);
    if (start !== -1) {
      problems.push(
        `circle of folders: ${path
          .slice(start)
          .map(({ example }) => example)
          .join("; ")}`,
      );
      return;
    }
    if (done.has(folder)) return;
    for (const edge of next.get(folder) ?? []) visit(edge.to, [...path, edge]);
    done.add(folder);
  };
  for (const folder of next.keys()) visit(folder, []);
}

function isOfWholeArea(place) {
  return areaOf(place) !== undefined && /^[^/]+\/(index|config|deps)\.ts$/.test(place);
}

function checkSizes() {
  for (const [folder, members] of Map.groupBy(files, ({ place }) => dirname(place))) {
    if (members.length > MAX_FILES) problems.push(`${folder} has ${members.length} source files: at most ${MAX_FILES}`);
  }
  for (const { place, isFace: face, names } of files) {
    if (face && names > MAX_NAMES) problems.push(`${place} shows ${names} names: at most ${MAX_NAMES}`);
  }
}

/** Every table of the migrations has an owner, and no other has. */
function checkTables() {
  const folder = join(source, "../migrations");
  const sql = readdirSync(folder)
    .filter((name) => name.endsWith(".sql"))
    .map((name) => readFileSync(join(folder, name), "utf8"));
  const created = new Set(
    sql.flatMap((text) => [...text.matchAll(/CREATE (?:UNLOGGED )?TABLE (?:IF NOT EXISTS )?(\w+)/gi)].map(([, name]) => name)),
  );
  for (const table of created)
    if (!OWNERS.has(table)) problems.push(`table ${table} belongs to no area: name it in scripts/check-areas.mjs`);
  for (const table of OWNERS.keys())
    if (!created.has(table)) problems.push(`table ${table} is in no migration: remove it from scripts/check-areas.mjs`);
}
