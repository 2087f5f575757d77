import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { TriggerJson } from "@flyte-ts/idl/flytets/admin/v1/trigger_pb";
import type { Scope } from "../../api/scope.js";
import { useApp } from "../../app/app.js";

/** Acts on triggers; a failed one shows its reason. */
export interface TriggerActs {
  create(trigger: TriggerJson): void;
  setActive(trigger: TriggerJson, isActive: boolean): void;
  rotate(trigger: TriggerJson): void;
  remove(trigger: TriggerJson): void;
}

/** A secret of a webhook, which admin tells once. */
export interface ToldSecret {
  readonly name: string;
  readonly path: string;
  readonly secret: string;
}

/** @param onSecret called with the secret of a new webhook */
export function useTriggerActs(scope: Scope, onSecret: (told: ToldSecret) => void): TriggerActs {
  const { api, toasts } = useApp();
  const queries = useQueryClient();
  interface Act {
    readonly trigger: TriggerJson;
    /** Participle: `created`. */
    readonly done: string;
    readonly call: (name: string) => Promise<unknown>;
  }
  const { mutate } = useMutation({
    mutationFn: ({ trigger, call }: Act) => call(trigger.id?.name ?? ""),
    onSuccess: async (_, { trigger, done }) => {
      toasts.show({ kind: "ok", text: `The trigger ${trigger.id?.name ?? ""} is ${done}` });
      await queries.invalidateQueries({ queryKey: ["automation", scope] });
    },
    onError: (error, { trigger, done }) =>
      toasts.show({ kind: "bad", text: `The trigger ${trigger.id?.name ?? ""} cannot be ${done}: ${error.message}` }),
  });
  const tell = (trigger: TriggerJson | undefined, secret = ""): void => {
    if (secret !== "") onSecret({ name: trigger?.id?.name ?? "", path: trigger?.webhookPath ?? "", secret });
  };
  return {
    create: (trigger) =>
      mutate({
        trigger,
        done: "created",
        call: async () => {
          const created = await api.automation.createTrigger(trigger);
          tell(created.trigger, created.webhookSecret);
        },
      }),
    setActive: (trigger, isActive) =>
      mutate({
        trigger,
        done: isActive ? "resumed" : "paused",
        call: (name) => api.automation.setTriggerState(scope, name, isActive),
      }),
    rotate: (trigger) =>
      mutate({
        trigger,
        done: "given a new secret",
        call: async (name) => tell(trigger, (await api.automation.rotateSecret(scope, name)).webhookSecret),
      }),
    remove: (trigger) => mutate({ trigger, done: "deleted", call: (name) => api.automation.deleteTrigger(scope, name) }),
  };
}
