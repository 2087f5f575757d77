import { NODE_STATES, type NodeStateName } from "../table/node-state.js";
import type { NodeTable } from "../table/node-table.js";
import type { NodeTree } from "./tree.js";

/** Nodes to show; each condition that is given must hold. */
export interface NodeFilter {
  readonly states?: readonly NodeStateName[];
  /** Part of the node's id, its id in the workflow or its task's name; without regard to case. */
  readonly text?: string;
  /** Code of the error, in full. */
  readonly errorCode?: string;
}

/** Reports whether a filter lets every node through. */
export function isOpen({ states, text = "", errorCode = "" }: NodeFilter): boolean {
  return states === undefined && text === "" && errorCode === "";
}

/** Returns 1 for each row that matches, 0 for others. */
export function matchRows(table: NodeTable, { states, text = "", errorCode = "" }: NodeFilter): Uint8Array {
  const matches = new Uint8Array(table.length);
  const shown = NODE_STATES.map((state) => states === undefined || states.includes(state));
  const needle = new TextEncoder().encode(text.toLowerCase());
  const texts = table.texts.map((each) => each.toLowerCase().includes(text.toLowerCase()));
  const code = errorCode === "" ? -1 : table.texts.indexOf(errorCode);
  for (let row = 0; row < matches.length; row++) {
    if (!shown[table.state[row] as number]) continue;
    if (errorCode !== "" && (code === -1 || table.error[row] !== code)) continue;
    const isFound = texts[table.entity[row] as number] || texts[table.spec[row] as number] || hasBytes(table, row, needle);
    matches[row] = isFound ? 1 : 0;
  }
  return matches;
}

/** Reports whether the id of a row contains bytes of lower case. */
function hasBytes({ ids, idStart }: NodeTable, row: number, needle: Uint8Array): boolean {
  const last = (idStart[row + 1] as number) - needle.length;
  for (let start = idStart[row] as number; start <= last; start++) {
    let at = 0;
    while (at < needle.length && lowerCase(ids[start + at] as number) === needle[at]) at++;
    if (at === needle.length) return true;
  }
  return false;
}

/** Folds a byte of ASCII; ids of nodes have no other letters. */
function lowerCase(byte: number): number {
  return byte >= 65 && byte <= 90 ? byte + 32 : byte;
}

/** Adds the rows that enclose matches, so that a tree shows where they are. */
export function keepAncestors(matches: Uint8Array, { parent }: NodeTree): Uint8Array {
  const kept = matches.slice();
  for (let row = 0; row < matches.length; row++) {
    if (matches[row] === 0) continue;
    for (let above = parent[row] as number; above !== -1 && kept[above] === 0; above = parent[above] as number) kept[above] = 1;
  }
  return kept;
}
