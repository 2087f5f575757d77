import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { LaunchPlanJson } from "@flyte-ts/idl/flyteidl/admin/launch_plan_pb";
import type { Scope } from "../../api/scope.js";
import { useApp } from "../../app/app.js";
import { Button } from "../../control/button.js";
import { isActive } from "../../entity/schedule-text.js";
import { useRights } from "../../frame/use-role.js";

interface ActivateButtonProps {
  readonly scope: Scope;
  readonly plan: LaunchPlanJson;
}

/** Activates a version of a launch plan with its schedule, or deactivates it. */
export function ActivateButton({ scope, plan }: ActivateButtonProps) {
  const { api, toasts } = useApp();
  const queries = useQueryClient();
  const { refusal } = useRights(scope);
  const { name = "", version = "" } = plan.id ?? {};
  const active = isActive(plan);
  const verb = active ? "deactivated" : "activated";
  const change = useMutation({
    mutationFn: () => api.automation.setPlanState(plan.id ?? {}, !active),
    onSuccess: async () => {
      toasts.show({ kind: "ok", text: `Version ${version} of ${name} is ${verb}` });
      await queries.invalidateQueries({ queryKey: ["launch plan versions", scope, name] });
      await queries.invalidateQueries({ queryKey: ["active launch plans", scope] });
    },
    onError: (error) => toasts.show({ kind: "bad", text: `Version ${version} of ${name} cannot be ${verb}: ${error.message}` }),
  });
  return (
    <Button refused={refusal("contributor")} disabled={change.isPending} onClick={() => change.mutate()}>
      {active ? "Deactivate" : "Activate"}
    </Button>
  );
}
