import { useNavigate } from "@tanstack/react-router";
import type { Scope } from "../api/scope.js";
import type { KeyAct } from "../keys/key-map.js";
import { useKeys } from "../app/use-keys.js";
import { PLACES, SCOPE_PATH } from "./navigation.js";

interface FrameKeysProps {
  readonly scope: Scope | undefined;
  onSearch(): void;
  onKeys(): void;
}

/** Keys of every page. */
export function FrameKeys({ scope, onSearch, onKeys }: FrameKeysProps) {
  const navigate = useNavigate();
  const go = ({ to, title, key }: (typeof PLACES)[number]): KeyAct => ({
    keys: `g ${key}`,
    label: title,
    group: "Go",
    run: () => scope !== undefined && void navigate({ to: `${SCOPE_PATH}${to}`, params: scope, search: {} }),
  });
  useKeys([
    { keys: "mod+k", label: "Search or jump to", group: "Everywhere", run: onSearch },
    { keys: "?", label: "All keys", group: "Everywhere", run: onKeys },
    ...(scope === undefined ? [] : PLACES.map(go)),
    { keys: "g p", label: "Projects", group: "Go", run: () => void navigate({ to: "/projects" }) },
  ]);
  return null;
}
