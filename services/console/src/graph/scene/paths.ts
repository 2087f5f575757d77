import type { Scene } from "./scene.js";

/** Returns the ids of the nodes around a node and its own, by which other scenes know it. */
export function scenePath({ specs, parent }: Scene, node: number): string {
  const ids: string[] = [];
  for (let each = node; each >= 0; each = parent[each] as number) ids.unshift(specs[each] as string);
  return ids.join("/");
}

/** Finds the node with a path; −1 if it is not in the scene. */
export function findPath(scene: Scene, path: string | undefined): number {
  if (path === undefined) return -1;
  const last = path.slice(path.lastIndexOf("/") + 1);
  for (let node = scene.specs.indexOf(last); node !== -1; node = scene.specs.indexOf(last, node + 1))
    if (scenePath(scene, node) === path) return node;
  return -1;
}

/** Finds the next node after one whose name or id contains a text; −1 for none. */
export function findByName({ specs, texts, name, length }: Scene, text: string, after: number): number {
  const wanted = text.trim().toLowerCase();
  if (wanted === "") return -1;
  const matches = texts.map((each) => each.toLowerCase().includes(wanted));
  for (let step = 1; step <= length; step++) {
    const node = (after + step + length) % length;
    if (matches[name[node] as number] === true || (specs[node] as string).toLowerCase().includes(wanted)) return node;
  }
  return -1;
}
