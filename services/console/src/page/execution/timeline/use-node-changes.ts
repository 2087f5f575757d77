import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import type { ExecutionKey } from "../../../api/scope.js";

/** Reads the attempts and values of a node again when it ends while it is shown. */
export function useNodeEnd({ project, domain, name }: ExecutionKey, node: string, hasEnded: boolean | undefined): void {
  const queries = useQueryClient();
  const known = useRef({ node, hasEnded });
  useEffect(() => {
    const before = known.current;
    known.current = { node, hasEnded };
    if (before.node !== node || before.hasEnded !== false || hasEnded !== true) return;
    for (const kind of ["attempts", "node data"]) void queries.invalidateQueries({ queryKey: [kind, { project, domain, name }, node] });
  }, [queries, project, domain, name, node, hasEnded]);
}

/** Reads a node, its attempts and values again when its version changes from a known one. */
export function useNodeChanges({ project, domain, name }: ExecutionKey, node: string, version: number): void {
  const queries = useQueryClient();
  const known = useRef({ node, version: 0 });
  useEffect(() => {
    const before = known.current;
    if (version !== 0) known.current = { node, version };
    if (version === 0 || before.version === 0 || before.node !== node || before.version === version) return;
    for (const kind of ["node", "attempts", "node data"])
      void queries.invalidateQueries({ queryKey: [kind, { project, domain, name }, node] });
  }, [queries, project, domain, name, node, version]);
}
