import type { NamedEntityIdentifierListJson } from "@flyte-ts/idl/flyteidl/admin/common_pb";
import type { EntityKind } from "../api/registry-api.js";
import type { Scope } from "../api/scope.js";
import type { IconName } from "../control/icon.js";
import type { PreferenceStore } from "../session/preferences.js";
import { PLACES } from "./navigation.js";

interface EntryText {
  readonly id: string;
  readonly title: string;
  readonly kind: string;
  readonly icon: IconName;
}

/** Page that is opened, or act that is done. */
export type PaletteEntry = EntryText & ({ readonly to: string } | { readonly to?: undefined; run(): void });

const MAX_ENTRIES = 60;
/** Names of executions as Flyte makes and accepts them. */
const EXECUTION_NAME = /^[a-z][a-z0-9-]{2,62}$/;

const pathOf = ({ project, domain }: Scope, ...rest: readonly string[]): string =>
  ["/projects", encodeURIComponent(project), "domains", encodeURIComponent(domain), ...rest].join("/");

/** Pages of a project and domain. */
export function placeEntries(scope: Scope | undefined): readonly PaletteEntry[] {
  const projects = { id: "projects", title: "Projects", kind: "Go", icon: "box", to: "/projects" } as const;
  if (scope === undefined) return [projects];
  return [
    ...PLACES.map(({ to, title, icon }) => ({ id: title, title, kind: "Go", icon, to: `${pathOf(scope)}${to}` })),
    projects,
    {
      id: "failed",
      title: "Failed executions",
      kind: "Go",
      icon: "warn" as const,
      to: `${pathOf(scope, "executions")}?phase=FAILED.TIMED_OUT`,
    },
  ];
}

/** Acts on the console itself. */
export function actEntries(preferences: PreferenceStore, showKeys: () => void): readonly PaletteEntry[] {
  const act = (title: string, icon: IconName, run: () => void): PaletteEntry => ({ id: title, title, kind: "Act", icon, run });
  return [
    act("Light theme", "sun", () => preferences.set({ theme: "light" })),
    act("Dark theme", "moon", () => preferences.set({ theme: "dark" })),
    act("Times in UTC", "clock", () => preferences.set({ zone: "UTC" })),
    act("Times in local time", "clock", () => preferences.set({ zone: "local" })),
    act("All keys", "keyboard", showKeys),
  ];
}

const KINDS = {
  workflow: { folder: "workflows", kind: "Workflow", icon: "flow" },
  launch_plan: { folder: "launchPlans", kind: "Launch plan", icon: "rocket" },
  task: { folder: "tasks", kind: "Task", icon: "box" },
} as const;

/** Pages of the entities of a kind. */
export function nameEntries(
  scope: Scope | undefined,
  kind: EntityKind,
  list: NamedEntityIdentifierListJson | undefined,
): readonly PaletteEntry[] {
  if (scope === undefined) return [];
  const { folder, ...look } = KINDS[kind];
  return (list?.entities ?? []).map(({ name = "" }) => ({
    ...look,
    id: `${kind}:${name}`,
    title: name,
    to: pathOf(scope, folder, encodeURIComponent(name)),
  }));
}

/** Selects the entries whose title has each word of a text; a name may also be an execution's. */
export function findEntries(text: string, scope: Scope | undefined, entries: readonly PaletteEntry[]): readonly PaletteEntry[] {
  const words = text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  const matching = entries.filter(({ title }) => words.every((word) => title.toLowerCase().includes(word)));
  const name = text.trim();
  const execution: readonly PaletteEntry[] =
    scope !== undefined && EXECUTION_NAME.test(name)
      ? [{ id: `execution:${name}`, title: name, kind: "Open execution", icon: "run", to: pathOf(scope, "executions", name) }]
      : [];
  return [...matching.slice(0, MAX_ENTRIES), ...execution];
}
