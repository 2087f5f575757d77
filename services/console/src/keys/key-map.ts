/** An act by a key, or by two keys after each other: `g h`. */
export interface KeyAct {
  /** Keys as `KeyboardEvent.key` has them, separated by a space. `mod+k` is ⌘K or Ctrl K. */
  readonly keys: string;
  readonly label: string;
  readonly group: "Go" | "List" | "Execution" | "Everywhere";
  run(): void;
}

/** Keys of the pages that are open. */
export interface KeyMap {
  /** Adds acts; a later act with the same keys takes precedence. Returns their removal. */
  add(acts: readonly KeyAct[]): () => void;
  acts(): readonly KeyAct[];
  /** Handles a pressed key; true when it belonged to an act. */
  press(event: PressedKey): boolean;
}

export interface PressedKey {
  readonly key: string;
  readonly mod: boolean;
  /** A text is being entered: letters belong to it. */
  readonly typing: boolean;
  readonly timeMs: number;
}

/** Time between two keys of one act. */
const SEQUENCE_MS = 1_200;

export function createKeyMap(): KeyMap {
  const sets: (readonly KeyAct[])[] = [];
  let first: { readonly key: string; readonly timeMs: number } | undefined;
  const all = (): readonly KeyAct[] => sets.flat();
  const find = (keys: string): KeyAct | undefined => all().findLast((act) => act.keys === keys);
  return {
    add(acts) {
      sets.push(acts);
      return () => {
        sets.splice(sets.indexOf(acts), 1);
      };
    },
    acts: all,
    press({ key, mod, typing, timeMs }) {
      if (typing && !mod) return false;
      const name = mod ? `mod+${key.toLowerCase()}` : key;
      const before = first !== undefined && timeMs - first.timeMs <= SEQUENCE_MS ? first.key : undefined;
      first = undefined;
      const act = (before === undefined ? undefined : find(`${before} ${name}`)) ?? find(name);
      // A key may have an act of its own, and begin another: `t`, and `t g`.
      const isBeginning = all().some(({ keys }) => keys.startsWith(`${name} `));
      if (isBeginning && act?.keys.includes(" ") !== true) first = { key: name, timeMs };
      act?.run();
      return act !== undefined;
    },
  };
}
