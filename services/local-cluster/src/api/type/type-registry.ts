import type { ObjectStore } from "../../store/object-store.js";
import { BUILT_IN_TYPES, STORAGE } from "./built-in-types.js";
import { typesOf } from "./crd-types.js";
import type { ResourceType } from "./resource-type.js";

/** All kinds served now: built-in ones, and those of the stored definitions. */
export class TypeRegistry {
  readonly #store: ObjectStore;
  #seen: unknown;
  #types: readonly ResourceType[] = BUILT_IN_TYPES;
  #byPath = new Map<string, ResourceType>();

  constructor(store: ObjectStore) {
    this.#store = store;
  }

  all(): readonly ResourceType[] {
    this.#refresh();
    return this.#types;
  }

  find(group: string, version: string, plural: string): ResourceType | undefined {
    this.#refresh();
    return this.#byPath.get(`${group}/${version}/${plural}`);
  }

  /** Reloads the types when a definition has changed. */
  #refresh(): void {
    const definitions = this.#store.list(STORAGE.definitions);
    if (definitions === this.#seen) return;
    this.#seen = definitions;
    this.#types = [...BUILT_IN_TYPES, ...definitions.flatMap(({ object }) => typesOf(object))];
    this.#byPath = new Map(this.#types.map((type) => [`${type.group}/${type.version}/${type.plural}`, type]));
  }
}
