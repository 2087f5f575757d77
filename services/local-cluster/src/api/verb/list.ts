import { BoundedMap } from "@flyte-ts/async";
import type { Stored } from "../../store/stored-object.js";
import { ApiError, badRequest, expired } from "../api-error.js";
import type { ApiContext, Target } from "../context.js";
import { type Selection, selectionOf } from "./selection.js";

export interface Page {
  readonly items: readonly Stored[];
  readonly meta: { readonly resourceVersion: string; readonly continue?: string; readonly remainingItemCount?: number };
}

/** Time for which the rest of a paged list is kept, ms; as etcd keeps old revisions. */
const CONTINUE_TTL_MS = 5 * 60_000;
const MAX_CONTINUED_LISTS = 64;

interface ContinuedList {
  readonly items: readonly Stored[];
  readonly revision: number;
  readonly expiresAt: number;
}

const TOKEN_FORM = "local/v1";

/** Lists collections; all pages of a list show the same revision. */
export class Lister {
  readonly #context: ApiContext;
  readonly #continuedLists = new BoundedMap<string, ContinuedList>(MAX_CONTINUED_LISTS);

  constructor(context: ApiContext) {
    this.#context = context;
  }

  /** @throws ApiError Expired when the rest of a paged list has been discarded */
  async list(target: Target, query: URLSearchParams): Promise<Page> {
    const limit = numberOf(query, "limit") ?? 0;
    const token = query.get("continue") ?? "";
    if (token !== "") return this.#continued(token, limit);
    this.#checkVersion(query);
    const { store } = this.#context;
    const items = select(this.#context, target, selectionOf(target, query));
    const { revision } = store;
    await store.durable(revision);
    return this.#page({ items, revision, limit, token: undefined });
  }

  #checkVersion(query: URLSearchParams): void {
    const text = query.get("resourceVersion") ?? "";
    const match = query.get("resourceVersionMatch") ?? "";
    if (match !== "" && text === "") throw badRequest("resourceVersionMatch is forbidden unless resourceVersion is provided");
    if (text === "" || text === "0") return;
    const wanted = Number(text);
    if (!Number.isSafeInteger(wanted) || wanted < 0)
      throw badRequest(`Invalid value: ${JSON.stringify(text)}: resourceVersion must be a number`);
    const { revision } = this.#context.store;
    if (wanted > revision) {
      throw new ApiError("Timeout", `Too large resource version: ${wanted}, current: ${revision}`, {
        causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
        retryAfterSeconds: 1,
      });
    }
    if (match === "Exact" && wanted < revision) throw expired(`The resourceVersion for the provided list is too old.`);
  }

  #continued(token: string, limit: number): Page {
    if (!isToken(token)) throw badRequest("continue key is not valid");
    const rest = this.#continuedLists.get(token);
    if (rest === undefined || rest.expiresAt < this.#context.now()) {
      this.#continuedLists.delete(token);
      throw expired(
        "The provided continue parameter is too old to display a consistent list result. You must start a new list without the continue parameter.",
      );
    }
    return this.#page({ items: rest.items, revision: rest.revision, limit, token });
  }

  #page({ items, revision, limit, token }: { items: readonly Stored[]; revision: number; limit: number; token: string | undefined }): Page {
    const resourceVersion = String(revision);
    if (limit <= 0 || items.length <= limit) return { items, meta: { resourceVersion } };
    const now = this.#context.now();
    for (const [key, { expiresAt: until }] of this.#continuedLists) if (until < now) this.#continuedLists.delete(key);
    const next = Buffer.from(
      JSON.stringify({ v: TOKEN_FORM, rv: revision, id: this.#context.newUid(), after: token === undefined ? 1 : 2 }),
    ).toString("base64url");
    this.#continuedLists.set(next, { items: items.slice(limit), revision, expiresAt: now + CONTINUE_TTL_MS });
    return { items: items.slice(0, limit), meta: { resourceVersion, continue: next, remainingItemCount: items.length - limit } };
  }
}

/**
 * True for a continue token in the form of this server's tokens. A token of this form that the
 * server does not know has expired.
 */
function isToken(text: string): boolean {
  try {
    return (JSON.parse(Buffer.from(text, "base64url").toString()) as { v?: string }).v === TOKEN_FORM;
  } catch {
    return false;
  }
}

/** Returns the selected objects in key order. */
export function select({ store }: ApiContext, target: Target, selection: Selection): readonly Stored[] {
  const { type, namespace } = target;
  if (selection.all) return store.list(type.storage);
  if (selection.name !== undefined && (namespace !== undefined || !type.namespaced)) {
    const one = store.get({ resource: type.storage, namespace: namespace ?? "", name: selection.name });
    return one !== undefined && selection.matches(one.object) ? [one] : [];
  }
  return store.list(type.storage, namespace).filter(({ object }) => selection.matches(object));
}

function numberOf(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null || text === "") return undefined;
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
  return value;
}
