import { useNavigate } from "@tanstack/react-router";
import type { Scope } from "../api/scope.js";
import { Button } from "../control/button.js";
import { SCOPE_PATH } from "../frame/navigation.js";
import { useRights } from "../frame/use-role.js";
import { type LaunchSearch, launchSearch } from "../route/launch-search.js";

/** Leads to the form that launches an entity. */
export function LaunchButton({ scope, search }: { readonly scope: Scope; readonly search: Partial<LaunchSearch> }) {
  const navigate = useNavigate();
  const { refusal } = useRights(scope);
  const open = (): void =>
    void navigate({ to: `${SCOPE_PATH}/launch`, params: scope, search: launchSearch.write({ ...launchSearch.read({}), ...search }) });
  return (
    <Button kind="primary" icon="run" refused={refusal("runner")} onClick={open}>
      Launch…
    </Button>
  );
}
