import { useParams } from "@tanstack/react-router";
import type { Scope } from "../api/scope.js";

/** Project and domain of the address; undefined on pages outside of them. */
export function useMaybeScope(): Scope | undefined {
  const { project, domain } = useParams({ strict: false });
  return project === undefined || domain === undefined ? undefined : { project, domain };
}

/** Project and domain of the address of a page within them. */
export function useScope(): Scope {
  const { project, domain } = useParams({ from: "/projects/$project/domains/$domain" });
  return { project, domain };
}
