import type { MatchJson, SearchResponseJson } from "@flyte-ts/idl/flytets/admin/v1/search_pb";
import type { Scope } from "../api/scope.js";
import type { IconName } from "../control/icon.js";
import { executionPhaseLook } from "../format/phase.js";
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
  WORKFLOW: { folder: "workflows", kind: "Workflow", icon: "flow" },
  LAUNCH_PLAN: { folder: "launchPlans", kind: "Launch plan", icon: "rocket" },
  TASK: { folder: "tasks", kind: "Task", icon: "box" },
  EXECUTION: { folder: "executions", kind: "Execution", icon: "run" },
} as const;

/** Pages of the matches of a search. */
export function matchEntries(scope: Scope | undefined, found: SearchResponseJson | undefined): readonly PaletteEntry[] {
  if (scope === undefined) return [];
  return (found?.matches ?? []).flatMap(({ kind, name = "", workflow = "", phase }: MatchJson) => {
    if (kind === undefined || !Object.hasOwn(KINDS, kind)) return [];
    const { folder, ...look } = KINDS[kind as keyof typeof KINDS];
    const note = kind === "EXECUTION" ? `${executionPhaseLook(phase).word} · ${workflow}` : look.kind;
    return [{ ...look, kind: note, id: `${kind}:${name}`, title: name, to: pathOf(scope, folder, encodeURIComponent(name)) }];
  });
}

/** Selects the entries whose title or kind has each word of a text. */
export function findEntries(text: string, entries: readonly PaletteEntry[]): readonly PaletteEntry[] {
  const words = text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  return entries.filter(({ title, kind }) => words.every((word) => `${title} ${kind}`.toLowerCase().includes(word)));
}
