import { ManualTime } from "@flyte-ts/async/manual-time";
import { createLogger } from "@flyte-ts/telemetry";
import { afterEach, describe, expect, it } from "vitest";
import type { KubeClient, WatchEvent } from "./client/client.js";
import { KubeError } from "./client/errors.js";
import type { KubeObject } from "./client/resources.js";
import { createInformer, type Informer, type InformerEvent, type InformerOptions } from "./informer.js";

const logger = createLogger({ service: "test", level: "silent" });
const CONFIG_MAPS = { group: "", version: "v1", plural: "configmaps", namespaced: true };

/** A collection that the test changes. */
class Collection {
  /** Number of watches that were started. */
  watches = 0;
  readonly #objects = new Map<string, KubeObject>();
  readonly #changes: WatchEvent<KubeObject>[] = [];
  #wake: () => void = () => undefined;

  readonly client = {
    list: () => Promise.resolve({ metadata: { resourceVersion: String(this.#changes.length) }, items: [...this.#objects.values()] }),
    watch: (_: object, options: { readonly resourceVersion: string; readonly signal: AbortSignal }) => this.#watch(options),
  } as unknown as Pick<KubeClient, "list" | "watch">;

  put(name: string): void {
    const object = this.#versioned(name);
    this.#change({ type: this.#objects.has(name) ? "MODIFIED" : "ADDED", object });
    this.#objects.set(name, object);
  }

  remove(name: string): void {
    this.#objects.delete(name);
    this.#change({ type: "DELETED", object: this.#versioned(name) });
  }

  #versioned(name: string): KubeObject {
    return { metadata: { namespace: "n", name, resourceVersion: String(this.#changes.length + 1) } };
  }

  #change(event: WatchEvent<KubeObject>): void {
    this.#changes.push(event);
    this.#wake();
  }

  async *#watch({ resourceVersion, signal }: { readonly resourceVersion: string; readonly signal: AbortSignal }) {
    this.watches++;
    let next = Number(resourceVersion);
    signal.addEventListener("abort", () => this.#wake());
    while (!signal.aborted) {
      const event = this.#changes[next];
      if (event === undefined) await new Promise<void>((resolve) => (this.#wake = resolve));
      else {
        next++;
        yield event;
      }
    }
  }
}

describe("an informer", () => {
  let informer: Informer<KubeObject>;
  let collection: Collection;
  let seen: string[];
  const names = () => informer.list().map(({ metadata }) => metadata.name);
  const start = (options: Partial<InformerOptions<KubeObject>>) => {
    const onEvent = ({ type, object }: InformerEvent<KubeObject>) => void seen.push(`${type} ${object.metadata.name}`);
    informer = createInformer<KubeObject>({ client: collection.client, ref: CONFIG_MAPS, logger, onEvent, ...options });
    return informer.synced;
  };
  const refuse = (bad: string) => (object: KubeObject) => {
    if (object.metadata.name === bad) throw new RangeError("Invalid time value");
    return { metadata: { ...object.metadata, labels: { mapped: "yes" } } };
  };

  const open = (setUp: (collection: Collection) => void) => {
    collection = new Collection();
    seen = [];
    setUp(collection);
  };
  afterEach(() => informer.stop());

  it("counts the silence of an API server that has never answered a list", async () => {
    open(() => undefined);
    const time = new ManualTime();
    const client = { ...collection.client, list: () => Promise.reject(new Error("connection refused")) };
    void start({ client, time });
    await time.advance(240_000);
    expect(informer.lagMs()).toBe(240_000);
  });

  it("lists again no sooner than an API server asks for", async () => {
    open(() => undefined);
    const time = new ManualTime();
    let lists = 0;
    const list = () => {
      lists++;
      return Promise.reject(new KubeError("too many requests", { status: 429, retryAfterMs: 60_000 }));
    };
    void start({ client: { ...collection.client, list }, time });
    await time.advance(59_999);
    expect(lists).toBe(1);
    await time.advance(1);
    expect(lists).toBe(2);
  });

  it("leaves out an object of the first list that cannot be mapped, and shows the others", async () => {
    open((one) => ["good", "bad", "last"].forEach((name) => one.put(name)));
    await start({ transform: refuse("bad") });
    expect(names()).toEqual(["good", "last"]);
    expect(informer.list()[0]?.metadata.labels).toEqual({ mapped: "yes" });
  });

  it("goes on with one watch after a change that cannot be mapped, and tells no deletion of what it did not show", async () => {
    open((one) => one.put("good"));
    await start({ transform: refuse("bad") });
    collection.put("bad");
    collection.put("last");
    await expect.poll(names).toEqual(["good", "last"]);
    collection.remove("bad");
    collection.remove("last");
    await expect.poll(() => seen).toEqual(["added good", "added last", "deleted last"]);
    expect(collection.watches).toBe(1);
  });

  it("keeps the earlier state of an object whose change cannot be mapped", async () => {
    open((one) => one.put("one"));
    const transform = (object: KubeObject) => {
      if (object.metadata.resourceVersion === "2") throw new Error("no");
      return object;
    };
    await start({ transform });
    collection.put("one");
    collection.put("other");
    await expect.poll(names).toEqual(["one", "other"]);
    expect(informer.get("n/one")?.metadata.resourceVersion).toBe("1");
    collection.put("one");
    await expect.poll(() => informer.get("n/one")?.metadata.resourceVersion).toBe("4");
    expect(collection.watches).toBe(1);
  });

  it("maps a deleted object too", async () => {
    open((one) => one.put("one"));
    const deleted: (string | undefined)[] = [];
    await start({
      transform: refuse("bad"),
      onEvent: ({ type, object }) => {
        if (type === "deleted") deleted.push(object.metadata.labels?.["mapped"]);
      },
    });
    collection.remove("one");
    await expect.poll(() => deleted).toEqual(["yes"]);
  });

  it("goes on with one watch when the handler of a change fails", async () => {
    open((one) => one.put("bad"));
    const onEvent = ({ type, object }: InformerEvent<KubeObject>) => {
      seen.push(`${type} ${object.metadata.name}`);
      if (object.metadata.name === "bad") throw new Error("no");
    };
    await start({ onEvent });
    collection.remove("bad");
    collection.put("last");
    await expect.poll(() => seen).toEqual(["added bad", "deleted bad", "added last"]);
    expect(collection.watches).toBe(1);
  });
});
