import { useQuery } from "@tanstack/react-query";
import { useSyncExternalStore } from "react";
import type { Scope } from "../api/scope.js";
import { useApp } from "../app/app.js";
import { accessQuery } from "./queries.js";

const ROLES = ["viewer", "runner", "contributor", "admin"] as const;
export type Role = (typeof ROLES)[number];

/** Rights of the caller, for buttons that would be refused. The server decides all the same. */
export interface Rights {
  readonly subject: string;
  /** Reason why an act that needs the role would be refused; undefined when it would not. */
  refusal(needed: Role): string | undefined;
}

/**
 * Reads the caller's rights in a project and domain when the page is first used: before, it is only
 * read. Until they are known, nothing is refused.
 */
export function useRights(scope: Scope): Rights {
  const app = useApp();
  const isUsed = useSyncExternalStore(app.presence.subscribe, app.presence.isUsed);
  const { data } = useQuery({ ...accessQuery(app, scope), enabled: isUsed });
  return { subject: data?.subject ?? "", refusal: (needed) => (data === undefined ? undefined : refusalOf(data.role ?? "", needed)) };
}

const EVERYWHERE: Scope = { project: "*", domain: "*" };

/** Reads the roles that the caller has in all projects; undefined until they are known. */
export function useEverywhereRole(): string | undefined {
  const { data } = useQuery(accessQuery(useApp(), EVERYWHERE));
  return data === undefined ? undefined : (data.role ?? "");
}

/** Returns the reason why a caller with a role may not do what needs another one. */
export function refusalOf(role: string, needed: Role): string | undefined {
  if (ROLES.findIndex((each) => each === role) >= ROLES.indexOf(needed)) return undefined;
  return role === "" ? `You have no role here; the act needs the role ${needed}` : `You are ${role} here; the act needs the role ${needed}`;
}
