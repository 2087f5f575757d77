import { BoundedMap } from "@flyte-ts/async";
import type { Pod } from "@flyte-ts/pod-task";
import { type AttemptEnd, MAX_PRELOADS, moduleName, WARM_PRELOAD_ANNOTATION } from "@flyte-ts/pod-task/warm";
import { z } from "zod";
import { kindOf } from "../idle-pod.js";

/** Kinds whose modules are remembered. */
const MAX_KINDS = 1_000;
const names = z.array(moduleName).max(MAX_PRELOADS);
const annotation = z.object({ load: names, refuse: names });

/** Modules of one kind of pods. */
interface Known {
  readonly load: Set<string>;
  /** Those that supervisors could not load ahead: never loaded again. */
  readonly refuse: Set<string>;
}

/**
 * Modules that supervisors of reused pods load ahead: those that earlier attempts of the same kind
 * imported. Idle pods hold the list in an annotation, so that it outlives this process.
 */
export class Preloads {
  readonly #kinds = new BoundedMap<string, Known>(MAX_KINDS);

  /** Adds what the end of an attempt tells about its kind. */
  learn(kind: string, { imports, refused }: Pick<AttemptEnd, "imports" | "refused">): void {
    if (imports.length + refused.length === 0) return;
    const known: Known = this.#kinds.get(kind) ?? { load: new Set(), refuse: new Set() };
    for (const name of refused) {
      known.load.delete(name);
      if (known.refuse.size < MAX_PRELOADS) known.refuse.add(name);
    }
    for (const name of imports) if (known.load.size < MAX_PRELOADS && !known.refuse.has(name)) known.load.add(name);
    this.#kinds.set(kind, known);
  }

  /** Adds what an idle pod of an earlier process holds. */
  inherit(pod: Pod): void {
    const text = pod.metadata.annotations?.[WARM_PRELOAD_ANNOTATION];
    const known = text === undefined ? undefined : parse(text);
    if (known !== undefined) this.learn(kindOf(pod), { imports: known.load, refused: known.refuse });
  }

  /** The annotation of idle pods of a kind; undefined while nothing is known. */
  annotationOf(kind: string): string | undefined {
    const known = this.#kinds.get(kind);
    return known === undefined ? undefined : JSON.stringify({ load: [...known.load], refuse: [...known.refuse] });
  }
}

function parse(text: string): z.infer<typeof annotation> | undefined {
  try {
    return annotation.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
