import { existsSync } from "node:fs";
import { freemem } from "node:os";
import { basename, join } from "node:path";
import type { Logger } from "@flyte-ts/telemetry";
import { findExecutable } from "../container/find-executable.js";
import { CONTAINER_ENV, POD_UID_ENV } from "../container/process-reaper.js";
import { NodeSpare, removeOldSpares } from "./node-spare.js";
import { PER_POD_VARIABLE, type StartRequest, type WarmStart, type WarmStarter } from "./warm-start.js";

/** Entry point of TypeScript tasks; `--spare` makes it wait for its task. */
const ENTRY_POINT = "flyte-ts-execute";
/** Variable that names the folder of unpacked bundles; spares load from it. */
const BUNDLES_ENV = "FLYTE_TS_BUNDLE_CACHE";
/** Room for the variables that mark a pod's processes, bytes. */
const ROOM = { [POD_UID_ENV]: 64, [CONTAINER_ENV]: 96 };
/** Time after a start before spares are replaced, ms: the task begins first. */
const REFILL_DELAY_MS = 20;
/** Exit codes of a process that a signal ended. */
const KILLED: ReadonlySet<number> = new Set([137, 143]);
/** Free memory below which no spare starts, bytes. */
const MIN_FREE_BYTES = 512 << 20;

export interface SpareOptions {
  /** Folder of the spares' files. */
  readonly folder: string;
  readonly logger: Logger;
  /** Time without a start after which all spares end, ms. */
  readonly idleTimeoutMs: number;
  readonly maxSpares: number;
}

/** Tasks that a spare may become: those with the same program, variables and, if loaded, bundle. */
interface SpareKind {
  readonly program: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Program and variables as a text. */
  readonly key: string;
  /** Digest of the bundle that it has loaded; undefined: it may become a task of any bundle. */
  readonly digest: string | undefined;
}

interface Waiting {
  readonly kind: SpareKind;
  readonly spare: NodeSpare;
}

/**
 * Keeps Node.js processes ready for TypeScript tasks. Node.js cannot fork: each spare becomes one
 * task and ends with it. One spare serves any bundle, the others have loaded the last one.
 */
export class NodeSpares implements WarmStarter {
  readonly origin = "spare";
  readonly #options: SpareOptions;
  readonly #waiting = new Set<Waiting>();
  readonly #unavailable = new Set<string>();
  /** Kind of the last request. */
  #wanted: SpareKind | undefined;
  #refillTimer: NodeJS.Timeout | undefined;
  #idleTimer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(options: SpareOptions) {
    this.#options = options;
    removeOldSpares(options.folder);
  }

  start(request: StartRequest): Promise<WarmStart> | undefined {
    const kind = this.#closed ? undefined : kindOf(request);
    if (kind === undefined || this.#unavailable.has(kind.key) || !fitsMarks(request)) return undefined;
    this.#wanted = kind;
    const taken = this.#take(kind);
    this.#refillTimer ??= setTimeout(() => {
      this.#refillTimer = undefined;
      this.#refill();
    }, REFILL_DELAY_MS).unref();
    clearTimeout(this.#idleTimer);
    this.#idleTimer = setTimeout(() => this.#endAll(), this.#options.idleTimeoutMs).unref();
    return taken?.become(request);
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#refillTimer);
    clearTimeout(this.#idleTimer);
    this.#endAll();
  }

  kill(): void {
    this.#closed = true;
    for (const { spare } of this.#waiting) spare.kill();
  }

  /** Takes the best spare: one that is ready, and that has loaded the bundle. */
  #take({ key, digest }: SpareKind): NodeSpare | undefined {
    const fitting = [...this.#waiting].filter(({ kind }) => kind.key === key && (kind.digest === undefined || kind.digest === digest));
    const rank = ({ kind, spare }: Waiting) => (spare.isReady ? 0 : 2) + (kind.digest === undefined ? 1 : 0);
    const [best] = fitting.toSorted((a, b) => rank(a) - rank(b));
    if (best === undefined) return undefined;
    this.#waiting.delete(best);
    return best.spare;
  }

  /** Ends spares of other kinds, and starts the missing ones, one after the other. */
  #refill(): void {
    const wanted = this.#wanted;
    if (this.#closed || wanted === undefined || this.#unavailable.has(wanted.key)) return;
    const bundle = wanted.digest !== undefined && isUnpacked(wanted) ? wanted.digest : undefined;
    for (const each of this.#waiting) if (each.kind.key !== wanted.key || ![undefined, bundle].includes(each.kind.digest)) this.#end(each);
    const plain = [...this.#waiting].filter(({ kind }) => kind.digest === undefined);
    // The first task of a bundle unpacks it: the spares after that can load it.
    if (wanted.digest !== undefined && bundle === undefined && plain.length > 0) return;
    if (bundle !== undefined) for (const each of plain.slice(1)) this.#end(each);
    const waiting = [...this.#waiting];
    if (waiting.length >= this.#options.maxSpares || waiting.filter(({ spare }) => !spare.isReady).length > 1) return;
    if (freemem() < MIN_FREE_BYTES) return;
    const needsPlain = waiting.length === this.#options.maxSpares - 1 && waiting.every(({ kind }) => kind.digest !== undefined);
    this.#startSpare({ ...wanted, digest: needsPlain ? undefined : bundle });
  }

  #startSpare(kind: SpareKind): void {
    const { folder, logger } = this.#options;
    const { program, environment, digest } = kind;
    const spare = new NodeSpare({ parent: folder, program, environment, digest });
    const waiting = { kind, spare };
    this.#waiting.add(waiting);
    void spare.ready.then((isReady) => {
      if (isReady) this.#refill();
    });
    void spare.exited.then((status = 1) => {
      const isUnused = this.#waiting.delete(waiting);
      // Another process would end in the same way, unless a signal ended this one.
      if (!isUnused || spare.isReady || status < 0 || KILLED.has(status)) return;
      logger.warn({ program, reason: spare.problem }, "spare Node.js process exited during its start; disabled");
      this.#unavailable.add(kind.key);
    });
  }

  #end(waiting: Waiting): void {
    this.#waiting.delete(waiting);
    waiting.spare.end();
  }

  #endAll(): void {
    for (const waiting of this.#waiting) this.#end(waiting);
  }
}

/** Returns the kind of spare for a command; undefined when it is no TypeScript task. */
function kindOf({ command: [name = "", ...words], environment, directory }: StartRequest): SpareKind | undefined {
  // Without a shared folder of bundles, each pod has one of its own.
  if (basename(name) !== ENTRY_POINT || !environment[BUNDLES_ENV]) return undefined;
  const program = findExecutable(name, { path: environment["PATH"] ?? "", directory });
  if (program === undefined) return undefined;
  const settings = Object.entries(environment).filter(([variable]) => variable === BUNDLES_ENV || !PER_POD_VARIABLE.test(variable));
  const marks = Object.entries(ROOM).map(([variable, room]) => [variable, "-".repeat(room)]);
  const key = JSON.stringify([program, settings.sort(([a], [b]) => (a < b ? -1 : 1))]);
  const at = words.indexOf("--bundle-digest");
  const digest = at < 0 || at > words.indexOf("--") ? undefined : words[at + 1];
  return { program, key, environment: Object.fromEntries([...settings, ...marks]), digest };
}

/** True when the identifying variables fit into the room that spares reserve for them. */
const fitsMarks = ({ environment }: StartRequest): boolean =>
  Object.entries(ROOM).every(([variable, room]) => Buffer.byteLength(environment[variable] ?? "") <= room);

const isUnpacked = ({ environment, digest = "" }: SpareKind): boolean =>
  /^[0-9a-f]{64}$/.test(digest) && existsSync(join(environment[BUNDLES_ENV] ?? "", digest));
