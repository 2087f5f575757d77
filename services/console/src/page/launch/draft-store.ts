/** Longest draft that an address holds, characters. */
const MAX_IN_ADDRESS = 8 * 1024;
const PREFIX = "flyte-ts.launch.";

/** Keeps entered values in the address, or where they are too long in the storage of the tab. */
export interface DraftStore {
  read(place: { readonly values: string; readonly draft: string }): string;
  /** Keeps a draft. Returns what the address holds of it. */
  write(text: string, id: string): { readonly values: string; readonly draft: string };
}

export function createDraftStore(storage: Pick<Storage, "getItem" | "setItem" | "removeItem"> | undefined): DraftStore {
  return {
    read: ({ values, draft }) => (draft === "" ? values : (storage?.getItem(PREFIX + draft) ?? values)),
    write(text, id) {
      if (encodeURIComponent(text).length <= MAX_IN_ADDRESS) {
        storage?.removeItem(PREFIX + id);
        return { values: text, draft: "" };
      }
      try {
        storage?.setItem(PREFIX + id, text);
      } catch {
        // The storage is full: the form keeps its values while the page is open.
        return { values: "", draft: "" };
      }
      return { values: "", draft: id };
    },
  };
}
